/** An upstream's responses, whole and streamed, in neutral terms. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import type { NeutralChoice, NeutralReply } from "../../../src/wire/neutral/neutral.ts";
import { readResponsesReply } from "../../../src/wire/responses/read-reply.ts";
import { rounds } from "../../support/effort.ts";
import { usage } from "../../support/wire/fixtures.ts";
import { assembled, eventsOf, splitsThatMatter } from "./assembled.ts";
import { finalOf, RECORDED, reader, recorded, recordedBytes } from "./responses.fixtures.ts";

const ANSWERS: Readonly<Record<(typeof RECORDED)[number], NeutralReply>> = {
  openai: {
    choices: [
      {
        parts: [
          { type: "reasoning", text: "**Weighing größe**", isSummary: true },
          {
            type: "reasoning",
            text: "Then 世界.",
            isSummary: true,
            seal: { by: "openai", data: "rs_up01:gAAAAABo+Zz9c2VhbGVkLXJlYXNvbmluZw==" },
          },
          { type: "text", text: 'Héllo 世界 🎉\n"ok" \\ end' },
        ],
        stop: { reason: "stop" },
      },
    ],
    usage: usage(36, 87, { cacheReadTokens: 12, reasoningTokens: 64 }),
  },
  "openai-tools": {
    choices: [
      {
        parts: [
          {
            type: "reasoning",
            text: "",
            isRedacted: true,
            seal: { by: "openai", data: "rs_up02:gAAAAABo+only+sealed==" },
          },
          { type: "text", text: "Let me look." },
          { type: "tool_call", id: "call_a1", name: "get_weather", arguments: '{"city":"Zürich\\n"}' },
          { type: "tool_call", id: "call_b2", name: "get_time", arguments: "{}" },
        ],
        stop: { reason: "tool_calls" },
      },
    ],
    usage: usage(80, 33),
  },
  "openai-cited": {
    choices: [
      {
        parts: [
          {
            type: "text",
            text: "Größe zählt",
            citations: [
              { type: "url", url: "https://example.org/größe", title: "Größe – Wiki", start: 0, end: 5 },
            ],
          },
        ],
        stop: { reason: "length" },
        logprobs: [logprob("Größe", -0.25), logprob(" zählt", -1.5)],
      },
    ],
    usage: usage(20, 16),
  },
  "openai-refusal": {
    choices: [{ parts: [{ type: "refusal", text: "I'm sorry, but no. 🙅" }], stop: { reason: "refusal" } }],
    usage: usage(9, 8),
  },
  vllm: {
    choices: [
      {
        parts: [
          { type: "reasoning", text: "嗯，好" },
          { type: "text", text: "9.11 < 9.8!" },
        ],
        stop: { reason: "stop" },
      },
    ],
    usage: usage(17, 9, { reasoningTokens: 4 }),
  },
};

function logprob(token: string, value: number) {
  const own = { token, logprob: value, bytes: [...Buffer.from(token)] };
  return { ...own, top_logprobs: [own, { token: "x", logprob: -4.5, bytes: [120] }] };
}

/** What the assembled stream does not say. */
const withoutSummaries = ({ choices, usage: used }: NeutralReply): unknown => ({
  usage: used,
  choices: choices.map(({ parts, ...choice }) => ({
    ...choice,
    parts: parts.map((part) => {
      if (part.type !== "reasoning") return part;
      const { isSummary: _, ...rest } = part;
      return rest;
    }),
  })),
});

describe("recorded answers", () => {
  test.each(RECORDED)("%s: the whole answer", (name) => {
    const { report: _, ...reply } = readResponsesReply(finalOf(recorded(name)));
    expect(reply).toEqual(ANSWERS[name]);
  });

  test.each(RECORDED)("%s: T3, T45: the stream amounts to the whole answer", (name) => {
    const read = reader();
    const events = eventsOf(read, [recorded(name)]);
    expect(assembled(events)).toEqual(withoutSummaries(ANSWERS[name]));
    expect([read.done, read.complete, read.error, read.malformed]).toEqual([true, true, undefined, 0]);
    const summaries = events.filter((event) => event.type === "begin" && "isSummary" in event);
    expect(summaries).toHaveLength(name === "openai" ? 2 : 0);
  });

  test.each(RECORDED)("%s: T4, T5: no cut of the stream changes an event", (name) => {
    expect(splitsThatMatter(recorded(name), reader)).toEqual([]);
  });

  test.each(RECORDED)("%s: T5, T6: CRLF, CR, comments and unknown events change nothing", (name) => {
    const plain = recordedBytes(name).toString("latin1").replaceAll("\r\n", "\n");
    const whole = eventsOf(reader(), [plain]);
    const noisy = plain.replaceAll(
      "\n\n",
      '\n\n: a comment\n\nevent: x\ndata: {"type":"x.y","delta":"no"}\n\n',
    );
    for (const text of [plain.replaceAll("\n", "\r\n"), plain.replaceAll("\n", "\r"), noisy]) {
      expect(eventsOf(reader(), [text])).toEqual(whole);
    }
    expect(JSON.stringify(whole)).not.toContain("\ufffd");
  });

  test("an end without its blank line is an end", () => {
    const read = reader();
    eventsOf(read, [recorded("openai").trimEnd()]);
    expect(read.complete).toBe(true);
  });

  test("what has no end is not complete", () => {
    const text = recorded("openai");
    const read = reader();
    eventsOf(read, [text.slice(0, text.indexOf("event: response.completed"))]);
    expect([read.done, read.complete]).toEqual([false, false]);
  });
});

const NONE: NeutralChoice = { parts: [], stop: { reason: "other" } };
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

describe("servers that leave events out", () => {
  test("the last event alone gives the whole answer", () => {
    for (const name of RECORDED) {
      const last = event({ type: "response.completed", response: finalOf(recorded(name)) });
      const events = eventsOf(reader(), [Buffer.from(last).toString("latin1")]);
      const { logprobs: _, ...choice } = ANSWERS[name].choices[0] ?? NONE;
      const expected = { ...ANSWERS[name], choices: [choice] };
      expect(assembled(events)).toEqual(withoutSummaries(expected));
    }
  });

  test("deltas that nothing announced, and arguments that came whole", () => {
    const text = [
      event({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hi" }),
      event({
        type: "response.output_item.done",
        output_index: 1,
        item: { type: "function_call", call_id: "c", name: "f", arguments: '{"a":1}' },
      }),
      event({ type: "response.completed", response: { status: "completed", output: [] } }),
    ].join("");
    expect(assembled(eventsOf(reader(), [text])).choices[0]).toEqual({
      parts: [
        { type: "text", text: "Hi" },
        { type: "tool_call", id: "c", name: "f", arguments: '{"a":1}' },
      ],
      stop: { reason: "tool_calls" },
    });
  });
});

describe("errors", () => {
  test("T14: a failed response and an error event are errors of the stream", () => {
    const failed = reader();
    expect(eventsOf(failed, [recorded("openai-failed")])).toEqual([]);
    expect(failed.error).toEqual({ code: "server_error", type: "", message: "The model failed." });
    for (const error of [
      { type: "error", code: "rate_limit_exceeded", message: "Slow", param: null, sequence_number: 0 },
      { type: "error", error: { type: "x", code: "rate_limit_exceeded", message: "Slow" } },
      { error: { code: "rate_limit_exceeded", message: "Slow" } },
    ]) {
      const read = reader();
      eventsOf(read, [event(error)]);
      expect(read.error).toMatchObject({ code: "rate_limit_exceeded", message: "Slow" });
      expect(read.complete).toBe(false);
    }
  });

  test("a whole answer that failed is an error, and what is no response is refused", () => {
    const error = { code: "server_error", message: "No." };
    expect(readResponsesReply({ status: "failed", error, output: [] }).error).toMatchObject(error);
    for (const body of [null, 1, [], {}, { output: {} }]) {
      expect(() => readResponsesReply(body)).toThrow(WeirError);
    }
  });

  test("a report that cannot be true is no report", () => {
    const body = { output: [], usage: { input_tokens: 2_000_000_000, output_tokens: 1 } };
    expect(readResponsesReply(body).usage).toBeUndefined();
  });
});

describe("T12: damaged streams", () => {
  test("end in an error of the stream or go on; events keep their order", () => {
    const random = seededRandom(7);
    const pieces = [
      '"',
      "{",
      "}",
      "[",
      "]",
      "null",
      "-1",
      "1e9",
      "\n\n",
      '"output_index":',
      "\\u12",
      "\u00ff",
    ];
    for (let round = 0; round < rounds(2000); round++) {
      let text = recorded(RECORDED[round % RECORDED.length] as string);
      for (let i = 1 + Math.floor(random() * 4); i > 0; i--) {
        const at = Math.floor(random() * text.length);
        const piece = pieces[Math.floor(random() * pieces.length)] as string;
        text = text.slice(0, at) + piece + text.slice(at + Math.floor(random() ** 3 * 60));
      }
      const read = reader();
      assembled(eventsOf(read, [text]));
      if (read.complete && read.error !== undefined) expect.fail(`complete, and an error: ${text}`);
    }
  });

  test("bodies of any shape are read or refused with a WeirError", () => {
    const random = seededRandom(8);
    const values = [null, 1, "x", [], {}, [{}], [null], { type: "message" }, true];
    const all = rounds(3000);
    let read = 0;
    for (let round = 0; round < all; round++) {
      const body = structuredClone(finalOf(recorded(RECORDED[round % RECORDED.length] as string)));
      let at: Record<string, unknown> = body;
      for (let depth = Math.floor(random() * 6); depth >= 0; depth--) {
        const keys = Object.keys(at);
        const key = keys[Math.floor(random() * keys.length)];
        if (key === undefined) break;
        const next = at[key];
        if (depth > 0 && typeof next === "object" && next !== null) at = next as Record<string, unknown>;
        else at[key] = values[Math.floor(random() * values.length)];
      }
      try {
        readResponsesReply(body);
        read++;
      } catch (error) {
        expect(error).toBeInstanceOf(WeirError);
      }
    }
    expect(read).toBeGreaterThan(all / 3);
  });
});
