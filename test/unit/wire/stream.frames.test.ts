/**
 * Events that share an envelope or a frame with one before them are not read in full. What the client gets must be what
 * a full reading gives: here each event is also sent through a stream of its own, which knows nothing of the others.
 */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { rounds } from "../../support/effort.ts";
import {
  answerOf,
  chatStream,
  type Json,
  plainChunks,
  relay,
  SVC,
  usage,
} from "../../support/wire/fixtures.ts";

const BASE = { id: "up", object: "chat.completion.chunk", created: 5, model: "m" };
/** As providers lay out the members around the choices; the last is given padding, which differs each time. */
const LAYOUTS: readonly ((choices: unknown, padding: string) => Json)[] = [
  (choices) => ({ ...BASE, choices, usage: null }),
  (choices) => ({ ...BASE, system_fingerprint: "fp", choices }),
  (choices) => ({ choices, ...BASE, usage: null }),
  (choices, obfuscation) => ({ ...BASE, choices, usage: null, obfuscation }),
  (choices, obfuscation) => ({ ...BASE, choices, obfuscation }),
];

const choice = (delta: Json, more: Json = {}): Json => ({ index: 0, delta, finish_reason: null, ...more });
const TEXTS = [
  "a",
  "",
  " word",
  "é世🎉",
  'q"',
  "\\",
  '\\"',
  "\n",
  '"},"finish_reason":"stop"}]}',
  "long ".repeat(120),
];
const DELTAS: readonly ((text: string) => Json)[] = [
  (content) => ({ content }),
  (content) => ({ role: "assistant", content }),
  (reasoning_content) => ({ reasoning_content }),
  () => ({}),
  (text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
  () => ({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } }] }),
  (content) => ({ content, refusal: "no" }),
];
const REPORT = { prompt_tokens: 3, completion_tokens: 4 };
/** As Python's `json` writes it unless it is told otherwise. */
function ascii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What servers, and damage, make of an event. */
const BREAKS: readonly ((json: string) => string)[] = [
  ascii,
  (json) => json.replace("]", ""),
  (json) => json.slice(0, -1),
  (json) => json.replace('"finish_reason"', '"finish\\q"'),
  (json) => json.replace("[{", "[ {").replace("}]", "} ]"),
  (json) => json.replace('"choices":[', `"choices":[${"[".repeat(300)}${"]".repeat(300)},`),
  (json) => json.replace("[{", '[{"x":[]}],"id":"again","y":[{'),
  (json) => json.replaceAll(",", ",\ndata: "),
  (json) => json.replace("[{", "[\ndata: {"),
  (json) => json.replace(/"}$/, '\\x"}'),
  (json) => json.replace("[{", '[{"usage":{"prompt_tokens":1,"completion_tokens":1},'),
];

const latin1 = (json: string): string => `data: ${Buffer.from(json).toString("latin1")}\n\n`;

/** Events of one layout, most of one kind, some broken. */
const streams = fc
  .record({
    layout: fc.constantFrom(...LAYOUTS),
    kind: fc.constantFrom(...DELTAS),
    events: fc.array(
      fc.record({
        text: fc.constantFrom(...TEXTS),
        padding: fc.constantFrom("", "abc", "abcdef", 'x"y', "\\"),
        other: fc.option(fc.constantFrom(...DELTAS), { nil: undefined, freq: 3 }),
        broken: fc.option(fc.constantFrom(...BREAKS), { nil: undefined, freq: 6 }),
        more: fc.constantFrom<Json>(
          {},
          {},
          {},
          {},
          { index: 1 },
          { finish_reason: "stop" },
          { usage: REPORT },
        ),
      }),
      { minLength: 2, maxLength: 12 },
    ),
  })
  .map(({ layout, kind, events }) =>
    events.map(({ text, padding, other, broken = (json) => json, more }) =>
      latin1(broken(JSON.stringify(layout([choice((other ?? kind)(text), more)], padding)))),
    ),
  );

/** Content of another choice, in a layout of its own: events before all content would wait. */
const BEGUN = latin1(
  JSON.stringify({ choices: [choice({ content: "begun" }, { index: 1 })], ...BASE, begun: 1 }),
);

test("a stream gives what its events give one by one, wherever it is cut", () => {
  fc.assert(
    fc.property(
      streams,
      fc.boolean(),
      fc.array(fc.nat(4000), { maxLength: 4 }),
      (events, includeUsage, cuts) => {
        // Neither of two choices is the last to end, so nothing is held back.
        const given = { choices: 2, includeUsage };
        const begun = relay([BEGUN], given);
        const alone = events.map((event) => relay([BEGUN, event], given));
        const text = events.join("");
        const at = [0, ...cuts.map((c) => Math.min(c, text.length)).sort((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
        const { early, stream } = relay([BEGUN, ...pieces], given);
        expect(early).toBe(
          [begun.early, ...alone.map((one) => one.early.slice(begun.early.length))].join(""),
        );
        const sum = (of: (one: typeof begun) => number) =>
          alone.reduce((all, one) => all + of(one) - of(begun), of(begun));
        expect(stream.events).toBe(sum((one) => one.stream.events));
        expect(stream.malformed).toBe(sum((one) => one.stream.malformed));
        // A comment before every event: no event stands where a frame is looked for.
        const slow = relay([BEGUN, ...events.map((event) => `: slow\n${event}`)], given);
        expect([slow.early, slow.stream.textBytes, answerOf(slow)]).toEqual([
          early,
          stream.textBytes,
          answerOf({ stream }),
        ]);
      },
    ),
    { seed: 11, numRuns: rounds(1500) },
  );
});

const event = (delta: Json, more: Json = {}): Json => ({
  ...BASE,
  choices: [choice(delta, more)],
  usage: null,
});
const sse = (...events: readonly Json[]): string => events.map((e) => latin1(JSON.stringify(e))).join("");
const ROLE = event({ role: "assistant", content: "" });
const FINISH = event({}, { finish_reason: "stop" });

test("characters written as escapes count as the characters, however many events of a frame one read brings", () => {
  const text = "é世🎉";
  const events = Array.from({ length: 5 }, () => latin1(ascii(JSON.stringify(event({ content: text })))));
  for (const reads of [events, [events.join("")]]) {
    const { stream } = relay(reads, {});
    expect(stream.textBytes).toBe(5 * Buffer.byteLength(text));
    expect(stream.kept()?.toString()).toContain(text.repeat(5));
  }
});

test("halves of a pair in events of their own count the same, however many of them one read brings", () => {
  const halves = ["\\ud83d", "\\ude45"].map((half) =>
    latin1(JSON.stringify(event({ content: "?" })).replace("?", half)),
  );
  const events = Array.from({ length: 6 }, (_, i) => halves[i % 2] ?? "");
  const [alone, joined] = [events, [events.join("")]].map((reads) => relay(reads, {}).stream);
  expect(joined?.textBytes).toBe(alone?.textBytes);
  expect(joined?.kept()?.toString()).toBe(alone?.kept()?.toString());
});

describe("an envelope", () => {
  test("is learned from the first event: of those that share it only the choices are parsed", () => {
    const stream = chatStream();
    stream.push(sse(ROLE));
    const parse = vi.spyOn(JSON, "parse");
    stream.push(sse(event({ content: "a" }), event({ content: "b" }), FINISH));
    const parsed = parse.mock.calls.map(([text]) => text);
    parse.mockRestore();
    expect(parsed.filter((text) => text.includes('"object"'))).toEqual([]);
    expect(plainChunks(stream.close(usage(1, 2), SVC))[0]).toMatchObject({
      choices: FINISH.choices,
      usage: null,
    });
  });

  test.each<[string, Json]>([
    ["choices that report usage (Moonshot)", event({ content: "b" }, { usage: REPORT })],
    ["a usage member", { ...event({ content: "b" }), usage: REPORT }],
    ["Groq's report", { ...event({ content: "b" }), x_groq: { usage: REPORT } }],
  ])("T3: does not hide %s", (_, reporting) => {
    const { stream } = relay([sse(ROLE, event({ content: "a" }), reporting, FINISH)]);
    expect(stream.facts.usage).toEqual(usage(3, 4));
  });

  test("T14: does not hide an error beside the choices", () => {
    const { stream } = relay([sse(ROLE, { ...event({ content: "a" }), error: { message: "busy" } })]);
    expect(stream.error?.message).toBe("busy");
  });

  test("T1: the last chunk tells the time of the last event, whatever was learned before", () => {
    const later = [event({ content: "a" }), event({ content: "b" }), FINISH].map((e) => ({
      ...e,
      created: 6,
    }));
    const { all } = relay([sse(ROLE, event({ content: "x" }), event({ content: "y" }), ...later)]);
    expect(plainChunks(all).at(-1)).toMatchObject({ choices: [], created: 6 });
    const between = { ...event({ content: "x" }), created: 6, usage: REPORT };
    expect(plainChunks(relay([sse(ROLE, between, FINISH)]).all).at(-1)).toMatchObject({ created: 5 });
  });
});

describe("a run of events", () => {
  const words = Array.from({ length: 40 }, (_, i) => ` w${i}`);

  test.each([0, 1, 20, 38, 39])("with another kind of event at place %i keeps all of them in order", (at) => {
    const events = words.map((content) => event({ content }));
    events.splice(at, 0, event({ reasoning_content: "hm" }));
    const { early, stream } = relay([sse(ROLE, ...events)]);
    expect(plainChunks(early).map((c) => c.choices)).toEqual([ROLE, ...events].map((e) => e.choices));
    expect(stream.events).toBe(42);
    const parts = [words.slice(0, at), ["hm"], words.slice(at)].map((said) => said.join(""));
    expect(answerOf({ stream })).toMatchObject([
      {
        content: parts.flatMap((text, part) =>
          text === "" ? [] : [{ type: part === 1 ? "reasoning" : "text", text }],
        ),
      },
    ]);
  });

  test("counts and captures as much when it outgrows the capture's bound", () => {
    const events = sse(...words.map((content) => event({ content })));
    const whole = relay([events], { maxCaptureBytes: 60 }).stream;
    const cut = relay([...events], { maxCaptureBytes: 60 }).stream;
    expect(whole.textBytes).toBe(words.join("").length);
    expect(whole.kept()).toBeUndefined();
    expect([cut.kept(), cut.textBytes]).toEqual([whole.kept(), whole.textBytes]);
  });
});
