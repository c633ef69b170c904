/** Streamed calls under one index, or none: kept apart by the reader, and given indexes of their own in a splice. */
import { describe, expect, test } from "vitest";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { ChatSpliceStream } from "../../../src/wire/chat/splice-stream.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { usage } from "../../support/wire/fixtures.ts";
import { folded, IDENTITY, readPieces, streamOf } from "./chat.fixtures.ts";
import { SVC } from "./messages.fixtures.ts";

const call = (index: unknown, id: string | undefined, name: string | undefined, args: string): Json => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: "function" }),
  function: { ...(name !== undefined && { name }), arguments: args },
});

/** The events, each a list of calls, and the arguments of each call that they mean. */
const STREAMS: Readonly<Record<string, readonly [Json[][], [name: string, args: string][]]>> = {
  "two with one index, each whole": [
    [[call(0, "a", "f", '{"a":1}')], [call(0, "b", "g", '{"b":1}')]],
    [
      ["f", '{"a":1}'],
      ["g", '{"b":1}'],
    ],
  ],
  "two with one index in one event": [
    [[call(0, "a", "f", '{"a":1}'), call(0, "b", "f", '{"b":1}')]],
    [
      ["f", '{"a":1}'],
      ["f", '{"b":1}'],
    ],
  ],
  "two with one index, in pieces": [
    [
      [call(0, "a", "f", "")],
      [call(0, undefined, undefined, '{"a":')],
      [call(0, undefined, undefined, "1}")],
      [call(0, "b", "g", "")],
      [call(0, undefined, undefined, '{"b":')],
      [call(0, undefined, undefined, '"b')],
      [call(0, undefined, undefined, 'b"}')],
    ],
    [
      ["f", '{"a":1}'],
      ["g", '{"b":"bb"}'],
    ],
  ],
  "two with one index, interleaved by their ids": [
    [
      [call(0, "a", "f", ""), call(0, "b", "g", "")],
      [call(0, "a", undefined, '{"a":')],
      [call(0, "b", undefined, '{"b":')],
      [call(0, "a", undefined, "1}")],
      [call(0, "b", undefined, "2}")],
    ],
    [
      ["f", '{"a":1}'],
      ["g", '{"b":2}'],
    ],
  ],
  "none has an index": [
    [
      [call(undefined, "a", "f", '{"a":1}'), call(undefined, "b", "f", "{}")],
      [call(undefined, "c", "g", "{}")],
    ],
    [
      ["f", '{"a":1}'],
      ["f", "{}"],
      ["g", "{}"],
    ],
  ],
  "none has an index, in pieces": [
    [
      [call(undefined, "a", "f", "")],
      [call(undefined, undefined, undefined, '{"a":')],
      [call(undefined, "", undefined, "1}")],
      [call(undefined, "b", "g", '{"b"')],
      [call(undefined, "b", undefined, ":2}")],
    ],
    [
      ["f", '{"a":1}'],
      ["g", '{"b":2}'],
    ],
  ],
  "neither indexes nor ids, each whole": [
    [[call(undefined, undefined, "f", '{"a":1}'), call(undefined, undefined, "f", '{"a":2}')]],
    [
      ["f", '{"a":1}'],
      ["f", '{"a":2}'],
    ],
  ],
  "one index and no ids, each whole": [
    [[call(0, undefined, "f", '{"a":1}')], [call(0, undefined, "f", '{"a":2}')], [call(0, "", "g", "{}")]],
    [
      ["f", '{"a":1}'],
      ["f", '{"a":2}'],
      ["g", "{}"],
    ],
  ],
  "null for an index": [
    [[call(null, "a", "f", "{}")], [call(null, "b", "f", "{}")]],
    [
      ["f", "{}"],
      ["f", "{}"],
    ],
  ],
  "indexes of blocks": [
    [[call(1, "a", "f", "{}")], [call(3, "b", "g", "{}")]],
    [
      ["f", "{}"],
      ["g", "{}"],
    ],
  ],
  "the name in each piece": [
    [
      [call(0, "a", "f", "")],
      [call(0, undefined, "f", '{"a":')],
      [call(0, undefined, "f", '{"b":1}')],
      [call(0, undefined, "f", "}")],
    ],
    [["f", '{"a":{"b":1}}']],
  ],
  "another id in each piece": [
    [[call(0, "a", "f", "")], [call(0, "b", undefined, '{"a":')], [call(0, "c", undefined, "1}")]],
    [["f", '{"a":1}']],
  ],
  "another id in each piece, and no index": [
    [[call(undefined, "a", "f", "")], [call(undefined, "b", undefined, '{"a":1}')]],
    [["f", '{"a":1}']],
  ],
};

const streamed = (events: readonly Json[][]): string =>
  streamOf(
    events.map((calls) => ({ tool_calls: calls })),
    "tool_calls",
  );

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly function: { readonly name?: string; readonly arguments: string };
      }[];
    };
  }[];
}

/** Calls as the official SDKs join them: by their index. */
function joined(sent: string): [string, string][] {
  const calls = new Map<number, [string, string]>();
  for (const line of sent.split("\n\n")) {
    if (!line.startsWith("data: {")) continue;
    for (const { delta } of (JSON.parse(line.slice(6)) as Chunk).choices) {
      for (const { index, function: fn } of delta.tool_calls ?? []) {
        expect(index).toBeTypeOf("number");
        const known = calls.get(index) ?? ["", ""];
        calls.set(index, [fn.name ?? known[0], known[1] + fn.arguments]);
      }
    }
  }
  return [...calls.values()];
}

function spliced(pieces: readonly string[]): string {
  const body = { model: "m", stream: true, messages: [{ role: "user", content: "x" }] };
  const stream = new ChatSpliceStream(readChatRequest(Buffer.from(JSON.stringify(body))), IDENTITY);
  let out = "";
  for (const piece of pieces) out += stream.push(piece);
  return out + stream.end() + stream.close(usage(1, 1), SVC);
}

describe.each(Object.entries(STREAMS))("%s", (_, [events, calls]) => {
  const text = streamed(events);

  test("read", () => {
    const [choice] = folded(readPieces([text]).events);
    const read = choice?.parts.map((part) =>
      part.type === "tool_call" ? [part.name, part.arguments] : part,
    );
    expect(read).toEqual(calls);
  });

  test("spliced, at every cut", () => {
    const whole = spliced([text]);
    expect(joined(whole)).toEqual(calls);
    for (let at = 1; at < text.length; at++) {
      expect(spliced([text.slice(0, at), text.slice(at)])).toBe(whole);
    }
  });
});

test("what is right is passed as it came", () => {
  const text = streamed([
    [call(0, "a", "f", "")],
    [call(0, undefined, undefined, "{}")],
    [call(1, "b", "g", "{}")],
  ]);
  const sent = spliced([text]);
  expect(sent).toContain(
    '"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]',
  );
  expect(joined(sent)).toEqual([
    ["f", "{}"],
    ["g", "{}"],
  ]);
});
