/** An upstream's chat completions, whole and streamed, in neutral terms: every server's way of saying the same. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import { readChatReply } from "../../../src/wire/chat/read-reply.ts";
import { ChatStreamReader } from "../../../src/wire/chat/reader.ts";
import type { StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { rounds } from "../../support/effort.ts";
import { type Json, latin1Of, RECORDED, usage } from "../../support/wire/fixtures.ts";
import { folded, mutated, readPieces, streamOf } from "./chat.fixtures.ts";

const SIGNED = ["openrouter-claude", "gemini-signed", "parallel-oddities"];
const FIXTURES = [...RECORDED.map(({ name }) => name), ...SIGNED];

describe("recorded streams", () => {
  test.each(RECORDED)("$name: T3: the answer and its usage", ({ name, usage: used, answer }) => {
    const { events, reader } = readPieces([latin1Of(name)]);
    expect(events.findLast((event) => event.type === "usage")).toEqual({ type: "usage", usage: used });
    expect(reader).toMatchObject({ complete: true, error: undefined, malformed: 0 });
    const choices = folded(events).map(({ parts, stop }, index) => ({ index, content: parts, stop }));
    expect(choices).toEqual(answer);
  });

  test("logprobs stand beside the text they are of", () => {
    const deltas = readPieces([latin1Of("openai-logprobs")]).events.filter(({ type }) => type === "delta");
    const logprobs = deltas.map((event) => (event.type === "delta" ? event.logprobs : undefined));
    expect(logprobs).toEqual([
      [{ token: "Ja", logprob: -0.31, bytes: [74, 97], top_logprobs: [] }],
      [{ token: "!", logprob: -1e-7, bytes: [33], top_logprobs: [] }],
    ]);
  });

  test("T47: signed and redacted reasoning keep their seals and their order", () => {
    const { events } = readPieces([latin1Of("openrouter-claude")]);
    expect(folded(events)).toEqual([
      {
        parts: [
          {
            type: "reasoning",
            text: "Größe zählt. 🎉",
            seal: { by: "anthropic", data: "EqQBCkYIBRgCKkA+/w==" },
          },
          {
            type: "reasoning",
            text: "",
            isRedacted: true,
            seal: { by: "anthropic", data: "EmwKAhgBEgy3va3pzix/LafPsn4a" },
          },
          { type: "text", text: "Ich sehe nach." },
          { type: "tool_call", id: "toolu_01A", name: "get_weather", arguments: '{"city": "Zürich"}' },
        ],
        stop: { reason: "tool_calls" },
      },
    ]);
    expect(events.findLast((event) => event.type === "usage")).toEqual({
      type: "usage",
      usage: usage(40, 30, { cacheReadTokens: 10, cacheWriteTokens: 20, reasoningTokens: 9 }),
    });
  });

  test("T48, T46: Google's signature belongs to its call; calls end a choice, whatever the server says", () => {
    const [choice] = folded(readPieces([latin1Of("gemini-signed")]).events);
    const seal = { by: "google", data: "CiQB4/H+xkA=" };
    expect(choice).toEqual({
      parts: [
        {
          type: "tool_call",
          id: "function-call-11",
          name: "check_flight",
          arguments: '{"flight":"AA100"}',
          seal,
        },
        { type: "tool_call", id: "function-call-12", name: "now", arguments: "{}" },
      ],
      stop: { reason: "tool_calls" },
    });
  });

  test("T45: interleaved calls, repeated ids and names, arguments as object, no id at all", () => {
    const { events, reader } = readPieces([latin1Of("parallel-oddities")]);
    expect(reader).toMatchObject({ done: false, complete: true });
    expect(folded(events)[0]?.parts).toEqual([
      { type: "tool_call", id: "a", name: "first", arguments: '{"x":"日本"}' },
      { type: "tool_call", id: "b", name: "second", arguments: '{"y":2}' },
      { type: "tool_call", id: "", name: "third", arguments: "{}" },
    ]);
  });
});

/** The text in pieces of one size, the first one shorter: over all of these every place is a cut. */
function* cuts(text: string): Generator<string[]> {
  for (const size of [1, 2, 3, 7, 31]) {
    for (let first = 0; first < size; first++) {
      const pieces = first === 0 ? [] : [text.slice(0, first)];
      for (let at = first; at < text.length; at += size) pieces.push(text.slice(at, at + size));
      yield pieces;
    }
  }
}

describe("T4, T5: every split of every fixture", () => {
  const NOISE = '\n\n: ping\n\nevent: x\ndata: {"y":1}\n\n';

  test.each(FIXTURES)(
    "%s gives the same events, CRLF and LF, with comments and unknown events between",
    (name) => {
      const lf = latin1Of(name).replaceAll("\r\n", "\n");
      const expected = readPieces([lf]).events;
      expect(expected.length).toBeGreaterThan(3);
      expect(JSON.stringify(expected)).not.toContain("\ufffd");
      for (const text of [lf, lf.replaceAll("\n", "\r\n"), lf.replaceAll("\n\n", NOISE)]) {
        for (const pieces of cuts(text)) {
          const { events } = readPieces(pieces);
          if (JSON.stringify(events) !== JSON.stringify(expected)) expect(events).toEqual(expected);
        }
      }
    },
  );

  test("a plain split in two at every byte", () => {
    const text = latin1Of("parallel-oddities");
    const expected = readPieces([text]).events;
    for (let at = 0; at <= text.length; at++) {
      expect(readPieces([text.slice(0, at), text.slice(at)]).events, `at ${at}`).toEqual(expected);
    }
  });
});

describe("streams that are odd", () => {
  const parts = (deltas: readonly Json[], finish?: string) =>
    folded(readPieces([streamOf(deltas, finish)]).events)[0];

  test("all calls with index 0: another id with a name is another call", () => {
    const call = (id: string, name: string) => ({
      tool_calls: [{ index: 0, id, function: { name, arguments: "{}" } }],
    });
    expect(parts([call("a", "f"), call("b", "g")])?.parts).toMatchObject([
      { id: "a" },
      { id: "b", name: "g" },
    ]);
  });

  test("a function_call of the format's first days", () => {
    const deltas = [
      { function_call: { name: "f", arguments: "" } },
      { function_call: { arguments: '{"a"' } },
      { function_call: { arguments: ":1}" } },
    ];
    expect(parts(deltas, "function_call")).toEqual({
      parts: [{ type: "tool_call", id: "", name: "f", arguments: '{"a":1}' }],
      stop: { reason: "tool_calls" },
    });
  });

  test("text after a finish reason is not lost, and the choice stops once", () => {
    const text =
      streamOf([{ content: "a" }]).replace("data: [DONE]\n\n", "") + streamOf([{ content: "b" }], "length");
    expect(folded(readPieces([text]).events)).toEqual([
      { parts: [{ type: "text", text: "ab" }], stop: { reason: "length" } },
    ]);
  });

  test("unknown finish reasons end the choice all the same; one that said tool_calls and called none has stopped", () => {
    expect(parts([{ content: "a" }], "insufficient_system_resource")?.stop).toEqual({ reason: "other" });
    expect(parts([{ content: "a" }], "tool_calls")?.stop).toEqual({ reason: "stop" });
    expect(parts([{ content: "a" }], "constructor")?.stop).toEqual({ reason: "other" });
  });

  test("citations go to the text they follow", () => {
    const annotations = [
      {
        type: "url_citation",
        url_citation: { url: "https://a.example/", title: "A", start_index: 0, end_index: 1 },
      },
      { type: "file_citation" },
      null,
    ];
    expect(parts([{ content: "a" }, { annotations }])?.parts).toEqual([
      {
        type: "text",
        text: "a",
        citations: [{ type: "url", url: "https://a.example/", title: "A", start: 0, end: 1 }],
      },
    ]);
  });

  test("OpenAI's summary and encrypted reasoning are one part; another maker's seal is not kept", () => {
    const detail = (item: Json) => ({
      reasoning_details: [{ index: 0, format: "openai-responses-v1", ...item }],
    });
    const deltas = [
      detail({ type: "reasoning.summary", summary: "Hm" }),
      detail({ type: "reasoning.encrypted", data: "gAAA", id: "rs_1" }),
      { reasoning_details: [{ type: "reasoning.encrypted", data: "q", format: "acme-v1", index: 1 }] },
      { content: "x" },
    ];
    expect(parts(deltas)?.parts).toEqual([
      { type: "reasoning", text: "Hm", isSummary: true, seal: { by: "openai", data: "gAAA" } },
      { type: "text", text: "x" },
    ]);
  });

  test("T48: OpenRouter tells Google's signature of a call in the details, before the call or after", () => {
    const details = {
      type: "reasoning.encrypted",
      data: "G=",
      id: "c1",
      format: "google-gemini-v1",
      index: 0,
    };
    const signed = { reasoning_details: [details] };
    const called = { tool_calls: [{ index: 0, id: "c1", function: { name: "f", arguments: "{}" } }] };
    const call = {
      type: "tool_call",
      id: "c1",
      name: "f",
      arguments: "{}",
      seal: { by: "google", data: "G=" },
    };
    for (const deltas of [
      [signed, called],
      [called, signed],
    ])
      expect(parts(deltas)?.parts).toEqual([call]);
    const [whole] = readChatReply({ choices: [{ message: { ...signed, ...called } }] }).choices;
    expect(whole?.parts).toEqual([call]);
  });

  test("T12: an error event ends the reading; what is no JSON is counted and passed over", () => {
    const error = 'data: {"error":{"code":429,"message":"slow down"}}\n\n';
    const { reader, events } = readPieces([`data: {oops\n\n${error}${streamOf([{ content: "late" }])}`]);
    expect(reader).toMatchObject({
      malformed: 1,
      error: { code: "429", message: "slow down" },
      complete: false,
    });
    expect(events).toEqual([]);
  });

  test("without an index, an id that is repeated is the same call's", () => {
    const delta = (id: string, args: string) => ({
      tool_calls: [{ id, function: { name: "f", arguments: args } }],
    });
    expect(parts([delta("a", '{"x":'), delta("a", "1}"), delta("b", "{}")])?.parts).toMatchObject([
      { id: "a", arguments: '{"x":1}' },
      { id: "b", arguments: "{}" },
    ]);
  });

  test("T47: reasoning behind a signature is another block", () => {
    const signature = { type: "reasoning.text", signature: "S", format: "anthropic-claude-v1" };
    const deltas = [
      { reasoning: "a" },
      { reasoning_details: [signature] },
      { reasoning: "b" },
      { content: "t" },
    ];
    expect(parts(deltas)?.parts).toEqual([
      { type: "reasoning", text: "a", seal: { by: "anthropic", data: "S" } },
      { type: "reasoning", text: "b" },
      { type: "text", text: "t" },
    ]);
  });

  test("the choice stops with [DONE], though the connection stays open; with an error behind it, it does not", () => {
    const types = (text: string) => {
      const reader = new ChatStreamReader(1 << 20);
      const seen: string[] = [];
      const emit = ({ type }: StreamEvent) => void seen.push(type);
      reader.push(text, emit);
      if (reader.error !== undefined) reader.end(emit);
      return seen;
    };
    const text = streamOf([{ content: "a" }]);
    expect(types(text)).toEqual(["begin", "delta", "end", "stop"]);
    expect(types(text.replace("[DONE]", '{"error":{"message":"late"}}'))).toEqual(["begin", "delta"]);
  });

  test("a stream that breaks off is not complete, and its choice has not stopped", () => {
    const { reader, events } = readPieces([
      streamOf([{ content: "a" }], null).replace("data: [DONE]\n\n", ""),
    ]);
    expect(reader.complete).toBe(false);
    expect(events.map(({ type }) => type)).toEqual(["begin", "delta"]);
  });

  test("O24: arguments whose call is never named are refused beyond a bound", () => {
    const piece = { tool_calls: [{ index: 0, id: "c", function: { arguments: "x".repeat(10_000) } }] };
    const named = { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "" } }] };
    expect(() => readPieces([streamOf([named, ...Array.from({ length: 200 }, () => piece)])])).not.toThrow();
    expect(() => readPieces([streamOf(Array.from({ length: 200 }, () => piece))])).toThrow(WeirError);
  });

  test("T9: an event beyond the bound is refused", () => {
    expect(() => readPieces([`data: {"a":"${"x".repeat(3000)}`], 2000)).toThrow(WeirError);
  });
});

describe("damaged streams", () => {
  const bytes = (name: string) =>
    readFileSync(new URL(`../../fixtures/chat/${name}.sse`, import.meta.url), "latin1");
  test("T12: of any shape end in events that keep their order", () => {
    const random = seededRandom(7);
    const all = rounds(3000);
    let kept = 0;
    for (let i = 0; i < all; i++) {
      const lines = bytes(FIXTURES[i % FIXTURES.length] as string).split("\n");
      for (let times = 0; times < 3; times++) {
        const at = Math.floor(random() * lines.length);
        const line = lines[at] as string;
        if (!line.startsWith("data: {") || !line.endsWith("}")) continue;
        lines[at] = `data: ${JSON.stringify(mutated(JSON.parse(line.slice(6)), random))}`;
      }
      const { events } = readPieces([lines.join("\n")]);
      folded(events as StreamEvent[]);
      kept += events.length > 2 ? 1 : 0;
    }
    expect(kept).toBeGreaterThan(all / 2);
  });
});
