/** What a page reads of a running call: the same text, reasoning and calls of tools in each format, wherever the stream is cut, and bounded. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventReader, type SentEvent } from "../../../console/api/event-reader.ts";
import { GrowingCall, MOST_CHARACTERS, MOST_PARTS } from "../../../console/pages/live/growing-call.ts";
import { indented } from "../../../console/text/canonical.ts";
import { fail } from "../../../src/base/errors.ts";
import type { AnswerStream } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { MessagesSpliceStream } from "../../../src/wire/messages/splice-stream.ts";
import { fragmentOf } from "../../../src/wire/neutral/fragment.ts";
import type { ReplyPart, StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { ResponsesSpliceStream } from "../../../src/wire/responses/splice-stream.ts";
import { chatStream, SVC, usage } from "../../support/wire/fixtures.ts";
import { folded, IDENTITY, readPieces } from "../wire/chat.fixtures.ts";
import { RECORDED_MESSAGES, streamText } from "../wire/messages.fixtures.ts";
import { RECORDED, recorded, reader as responsesReader } from "../wire/responses.fixtures.ts";

/** Numbered, as those of a detached call are. */
const numbered = (text: string): string => {
  let next = 0;
  return text.replace(/(?:^|(?<=\n\n))(?=[^\n:])/g, () => `id: ${next++}\n`);
};

function eventsIn(text: string, cuts: readonly number[] = []): SentEvent[] {
  const reader = new EventReader();
  const at = [0, ...cuts.filter((cut) => cut <= text.length).sort((a, b) => a - b), text.length];
  return at.slice(1).flatMap((end, i) => reader.read(text.slice(at[i], end)));
}

function shownOf(text: string, cuts: readonly number[] = []) {
  const growing = new GrowingCall();
  growing.take(eventsIn(text, cuts));
  const { turns, isOver, failure } = growing;
  return { turns, isOver, failure };
}

const utf8 = (latin1: string): string => Buffer.from(latin1, "latin1").toString();

/** Parts of an answer, each in pieces of two characters. */
const streamed = (choice: number, parts: readonly Exclude<ReplyPart, { type: "media" }>[]): StreamEvent[] => [
  ...parts.flatMap((part, index): StreamEvent[] => {
    const place = { choice, part: index };
    const text = part.type === "tool_call" ? part.arguments : part.text;
    const begin: StreamEvent =
      part.type === "tool_call"
        ? { type: "begin", ...place, kind: part.type, id: part.id, name: part.name }
        : { type: "begin", ...place, kind: part.type };
    const deltas = (text.match(/[\s\S]{1,2}/gu) ?? []).map(
      (piece): StreamEvent => ({ type: "delta", ...place, text: fragmentOf(piece) }),
    );
    return [begin, ...deltas, { type: "end", ...place }];
  }),
  { type: "stop", choice, stop: { reason: "stop" } },
];

const TEXT = { type: "text" as const, text: "Grün und 世界.\n\nid: 7\n\n```js\n1\n```" };
const THOUGHT = { type: "reasoning" as const, text: "First, then second: é." };
const CALL = { type: "tool_call" as const, id: "c_1", name: "look", arguments: '{"q":"é"}' };
const OTHER = { type: "tool_call" as const, id: "c_2", name: "add", arguments: '{"a":[1,2]}' };
const REFUSAL = { type: "refusal" as const, text: "I will not." };

type Told = readonly (readonly [kind: string, name: string, text: string])[];
const told = (turn: { parts: readonly { kind: string; name?: string; text: string }[] } | undefined): Told =>
  (turn?.parts ?? []).map(({ kind, name = "", text }) => [kind, name, text]);
const expected = (parts: readonly ReplyPart[]): Told =>
  parts.flatMap((part): Told => {
    if (part.type === "media") return [];
    if (part.type === "tool_call") return [["tool call", part.name, indented(part.arguments)]];
    return part.text === "" ? [] : [[part.type, "", part.text]];
  });

const GENERATIONS = ["chat", "completions", "responses", "messages", "generate"] as const;
type Generation = (typeof GENERATIONS)[number];
const PROMPT = { messages: [{ role: "user", content: "Hi" }] };
const BODIES: Readonly<Record<Generation, object>> = {
  chat: { ...PROMPT, n: 2 },
  completions: { prompt: "Hi", n: 2 },
  responses: { input: "Hi" },
  messages: { ...PROMPT, max_tokens: 9 },
  generate: PROMPT,
};

function requestIn(format: Generation) {
  const body = { model: "v/m", stream: true, ...BODIES[format] };
  return FORMATS[format].read(Buffer.from(JSON.stringify(body)));
}

/** What a client of the format gets. */
function written(format: Generation, events: readonly StreamEvent[]): string {
  const writer = FORMATS[format].generation?.streamWriter(requestIn(format), IDENTITY);
  if (writer === undefined) throw new Error(`${format} is not written`);
  const all = events.map((event) => writer.write(event)).join("") + writer.close(usage(3, 5), SVC);
  return numbered(utf8(all));
}

describe.each(GENERATIONS)("%s", (format) => {
  const parts = format === "completions" ? [TEXT] : [THOUGHT, TEXT, CALL, OTHER];
  const text = written(format, streamed(0, parts));

  test("is read as what was said, wherever it is cut", () => {
    const shown = shownOf(text);
    expect(told(shown.turns[0])).toEqual(expected(parts));
    expect(shown).toMatchObject({ isOver: true, failure: "" });
    expect(shown.turns).toHaveLength(1);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
        expect(shownOf(text, cuts)).toEqual(shown);
      }),
      { numRuns: 50 },
    );
  });

  test("goes on behind any event, without anything twice", () => {
    const events = eventsIn(text);
    for (let cut = 0; cut <= events.length; cut++) {
      const growing = new GrowingCall();
      growing.take(events.slice(0, cut));
      // Some that it has already come again.
      growing.take(events.slice(Math.max(0, cut - 2)));
      expect(told(growing.turns[0])).toEqual(expected(parts));
      expect(growing.position).toBe(events.findLast(({ id }) => id !== "")?.id);
    }
  });

  test("that fails says why, and is over", () => {
    const error = fail("upstream_timeout", "The provider is away.");
    const { name } = FORMATS[format];
    expect(name).toBe(format);
    const begun = text.slice(0, text.indexOf("\n\n", text.length / 3) + 2);
    const failed = shownOf(`${begun}id: 9999\n${FORMATS[format].errorEvent(error, "r", 9)}`);
    expect(failed).toMatchObject({ isOver: true, failure: "The provider is away." });
  });
});

test.each(["chat", "completions", "generate"] as const)("%s: several answers are apart", (format) => {
  const [one, two] = [streamed(0, [TEXT]), streamed(1, [{ type: "text", text: "Another." }])];
  const mixed = one.flatMap((event, at) => [event, ...two.slice(at, at + 1)]);
  const { turns } = shownOf(written(format, mixed));
  expect(turns.map((turn) => told(turn)[0]?.[2])).toEqual([TEXT.text, "Another."]);
  expect(turns.map(({ role }) => role)).toEqual(["assistant · stop", "assistant, answer 2 · stop"]);
});

test.each(["chat", "responses", "generate"] as const)("%s: a refusal is told as one", (format) => {
  expect(told(shownOf(written(format, streamed(0, [REFUSAL]))).turns[0])).toEqual(expected([REFUSAL]));
});

test("a response that fails in itself says why", () => {
  const names = { ...IDENTITY };
  const error = fail("upstream_timeout", "The provider is away.");
  const failed = FORMATS.responses.failedEvents?.(error, requestIn("responses"), names, 0);
  expect(shownOf(failed?.text ?? "")).toMatchObject({ isOver: true, failure: "The provider is away." });
});

/** What clients get of a stream that a provider sent, in the format that it was sent in. */
function passedOn(stream: AnswerStream, sent: string): string {
  const out = stream.push(sent) + stream.end();
  return numbered(utf8(out + stream.close(stream.facts.usage ?? usage(1, 1), SVC)));
}

/** What was said, kind by kind, however the parts are cut. */
const byKind = (shown: Told) =>
  ["text", "reasoning", "refusal", "tool call"].map((kind) =>
    shown
      .filter(([is, name, text]) => is === kind && name + text !== "")
      .map(([, name, text]) => (name === "" ? text : `${name} ${text || "{}"};`))
      .join(""),
  );

describe("recorded streams, which are passed on as they come", () => {
  const files = (format: string) => new URL(`../../fixtures/${format}/`, import.meta.url);
  const CHAT = readdirSync(files("chat")).filter((name) => name.endsWith(".sse"));

  test.each(CHAT)("chat: %s", (name) => {
    const text = readFileSync(new URL(name, files("chat")), "latin1");
    const choices = folded(readPieces([text]).events);
    const { turns } = shownOf(passedOn(chatStream({ choices: choices.length }), text));
    expect(turns.map((turn) => byKind(told(turn)))).toEqual(
      choices.map(({ parts }) => byKind(expected(parts))),
    );
  });

  test.each(RECORDED_MESSAGES)("messages: $name", ({ name, parts }) => {
    const { turns } = shownOf(passedOn(new MessagesSpliceStream(IDENTITY), streamText(name)));
    expect(turns.map((turn) => byKind(told(turn)))).toEqual([byKind(expected(parts))]);
  });

  test.each(RECORDED)("responses: %s", (name) => {
    const text = recorded(name);
    const events: StreamEvent[] = [];
    const reader = responsesReader();
    reader.push(text, (event) => events.push(event));
    reader.end((event) => events.push(event));
    const parts = folded(events).flatMap((choice) => choice.parts);
    const { turns } = shownOf(passedOn(new ResponsesSpliceStream(IDENTITY, undefined), text));
    expect(turns.map((turn) => byKind(told(turn)))).toEqual([byKind(expected(parts))]);
  });
});

describe("what comes from anywhere", () => {
  test("is nothing where it is not known, and never a fault", () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (data, name) => {
        const growing = new GrowingCall();
        growing.take([{ name, id: "", data }]);
        growing.take([{ name, id: "", data: `${data}}` }]);
        expect(growing.turns.length).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("is bounded: characters, parts and answers, and says how much was left out", () => {
    const growing = new GrowingCall();
    const chunk = (index: number, delta: object, id: number): SentEvent => ({
      name: "message",
      id: String(id),
      data: JSON.stringify({ choices: [{ index, delta }] }),
    });
    const piece = "x".repeat(MOST_CHARACTERS / 2);
    growing.take([1, 2, 3].map((id) => chunk(0, { content: piece }, id)));
    expect(growing.turns[0]?.parts[0]?.text).toHaveLength(MOST_CHARACTERS);
    expect(growing.cut).toBe(MOST_CHARACTERS / 2);
    const calls = Array.from({ length: MOST_PARTS + 10 }, (_, index) =>
      chunk(index, { tool_calls: [{ index, function: { name: "f", arguments: "" } }] }, 10 + index),
    );
    growing.take(calls);
    const shown = growing.turns;
    expect(shown.length).toBeLessThanOrEqual(128);
    expect(shown.reduce((sum, { parts }) => sum + parts.length, 0)).toBeLessThanOrEqual(MOST_PARTS);
  });
});
