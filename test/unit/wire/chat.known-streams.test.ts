/** A stream that begins and ends as earlier ones did is read by what is known of them: what is told and sent is as if it were read in full. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { ChatSpliceStream, type ChunkForm, newChatChunks } from "../../../src/wire/chat/splice-stream.ts";
import { damage, damagedBy } from "../../support/wire/damage.ts";
import { SVC } from "../../support/wire/fixtures.ts";
import { IDENTITY } from "./chat.fixtures.ts";

interface Told {
  /** Providers differ in the order of members and in what stands beside the choices. */
  readonly style:
    | "openai"
    | "usage within"
    | "azure"
    | "padded"
    | "groq"
    | "spaced"
    | "bare"
    | "own time"
    | "no id";
  readonly id: string;
  readonly created: number | string;
  readonly tier: string | null;
  readonly words: readonly string[];
  readonly reason: string;
  readonly tokens: number;
  /** The event with the finish reason has the usage, too. */
  readonly reportsAtEnd: boolean;
  readonly includeUsage: boolean;
}

/** The events of one stream, JSON. */
function eventsOf({ style, id, created, tier, words, reason, tokens, reportsAtEnd }: Told): string[] {
  let time = 0;
  const event = (choices: readonly object[], more: object = {}): string => {
    const at = style === "own time" && typeof created === "number" ? created + time++ : created;
    const usual = { id, object: "chat.completion.chunk", created: at, model: "sim", service_tier: tier };
    if (style === "azure")
      return JSON.stringify({ choices, created: at, id, model: "sim", object: "c", ...more });
    if (style === "padded")
      return JSON.stringify({ ...usual, choices, ...more, obfuscation: "x".repeat(time % 7) });
    if (style === "usage within")
      return JSON.stringify({ ...usual, choices, usage: null, ...more, system_fingerprint: "fp_1" });
    if (style === "groq") return JSON.stringify({ ...usual, choices, ...more, x_groq: { id: `req_${id}` } });
    if (style === "spaced")
      return JSON.stringify({ ...usual, choices, usage: null, ...more }, null, 1).replaceAll("\n", " ");
    if (style === "bare") return JSON.stringify({ choices, ...more });
    if (style === "no id")
      return JSON.stringify({ object: "chat.completion.chunk", created: at, choices, ...more });
    return JSON.stringify({ ...usual, choices, usage: null, ...more });
  };
  const choice = (delta: object, finish_reason: string | null) => [{ index: 0, delta, finish_reason }];
  const usage = {
    prompt_tokens: tokens,
    completion_tokens: words.length,
    total_tokens: tokens + words.length,
  };
  return [
    event(choice({ role: "assistant", content: "" }, null)),
    ...words.map((content) => event(choice({ content }, null))),
    event(choice({}, reason), reportsAtEnd ? { usage } : {}),
    ...(reportsAtEnd ? [] : [event([], { usage })]),
  ];
}

const told: fc.Arbitrary<Told> = fc.record({
  style: fc.constantFrom(
    "openai",
    "openai",
    "usage within",
    "azure",
    "padded",
    "groq",
    "spaced",
    "bare",
    "own time",
    "no id",
  ),
  id: fc.constantFrom("chatcmpl-1", "chatcmpl-2b", "", 'a"b', "größer", "line\nend", "x".repeat(300)),
  created: fc.constantFrom(1_764_000_000, 1_764_000_001, 0, 1.5, -1, "soon", 123_456_789_012_345_680),
  tier: fc.constantFrom(null, "default", "priority", "größer"),
  reportsAtEnd: fc.boolean(),
  words: fc.array(fc.constantFrom("a", "Hello", " ", "größer", 'a "quote"', "two\nlines", "z".repeat(300)), {
    maxLength: 5,
  }),
  reason: fc.constantFrom("stop", "length", "tool_calls", "weird"),
  tokens: fc.constantFrom(0, 7, 123, 1.5),
  includeUsage: fc.boolean(),
});
function relayed(events: readonly string[], includeUsage: boolean, form: ChunkForm) {
  const messages = [{ role: "user", content: "x" }];
  const body = { model: "m", messages, stream: true, stream_options: { include_usage: includeUsage } };
  const stream = new ChatSpliceStream(readChatRequest(Buffer.from(JSON.stringify(body))), IDENTITY, form);
  const sent = [...events, "[DONE]"].map((event) =>
    stream.push(`data: ${Buffer.from(event).toString("latin1")}\n\n`),
  );
  sent.push(stream.end());
  const { facts, error, events: count, malformed, textBytes, complete, toolUses } = stream;
  const usage = facts.usage ?? { ...SOME_USAGE };
  if (error === undefined) sent.push(stream.close(usage, SVC));
  return {
    sent,
    facts,
    error,
    count,
    malformed,
    textBytes,
    complete,
    toolUses,
    kept: stream.kept()?.toString(),
  };
}

const SOME_USAGE = {
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

it("whatever was known before, a stream is told and sent as one that is the first of all", () => {
  const known = newChatChunks();
  fc.assert(
    fc.property(told, damage, fc.nat(3), (given, harm, which) => {
      const whole = eventsOf(given);
      // The same again, with another id and time, and then one that is damaged in a place.
      const again = eventsOf({ ...given, id: "chatcmpl-3", created: 1_764_000_009 });
      const broken = [...whole];
      const at = which % broken.length;
      broken[at] = damagedBy(broken[at] as string, harm);
      for (const events of [whole, again, broken])
        expect(relayed(events, given.includeUsage, known)).toEqual(
          relayed(events, given.includeUsage, newChatChunks()),
        );
    }),
    { numRuns: 700, seed: 5 },
  );
});

it("a report whose lines are cut within a string is no JSON, also where its shape is known", () => {
  const known = newChatChunks();
  for (const id of ["one", "two", "three"]) relayed(eventsOf(stream(id)), true, known);
  const events = eventsOf(stream("cut"));
  const report = events.pop() as string;
  const told = relayed([...events, report.replace("chunk", "ch\ndata: unk")], true, known);
  expect(told.malformed).toBe(1);
  expect(told.facts.usage).toBeUndefined();
});

it("the last chunk has the report of its provider once, wherever that stands among the members", () => {
  const known = newChatChunks();
  for (const id of ["one", "two", "three", "within"]) {
    const { sent } = relayed(eventsOf({ ...stream(id), style: "usage within" }), true, known);
    expect(sent.join("").match(/"prompt_tokens"/g)).toHaveLength(1);
  }
});

const stream = (id: string): Told => ({
  style: "openai",
  id,
  created: 1_764_000_000,
  tier: "default",
  words: [id, "b", "c"],
  reason: "stop",
  tokens: 7,
  reportsAtEnd: false,
  includeUsage: true,
});

it.each([
  ["a time that is no JSON", '"created":1', '"created":01'],
  ["an id with a control character", '"id":"', '"id":"\u0001'],
  ["an id with an escape that is none", '"id":"', '"id":"\\x'],
  ["a member that comes twice", '"id":"', '"id":"","id":"'],
])("a known stream does not begin with %s", (_, part, other) => {
  const known = newChatChunks();
  for (const id of ["one", "two"]) relayed(eventsOf(stream(id)), true, known);
  const events = eventsOf(stream("three")).map((event) => event.replace(part, other));
  const told = relayed(events, true, known);
  expect(told).toEqual(relayed(events, true, newChatChunks()));
  expect(told.malformed).toBe(events.length);
});

it("the third stream of a provider parses no whole event", () => {
  const known = newChatChunks();
  for (const id of ["one", "two", "three"]) relayed(eventsOf(stream(id)), true, known);
  const { parse } = JSON;
  const parsed: string[] = [];
  JSON.parse = (text: string) => {
    parsed.push(text);
    return parse(text);
  };
  try {
    const events = eventsOf(stream("four"));
    parsed.length = 0;
    relayed(events, true, known);
  } finally {
    JSON.parse = parse;
  }
  // The request's own body is none of an event, and the choices of the first text are parsed alone.
  expect(parsed.filter((text) => text.includes("chat.completion.chunk"))).toEqual([]);
  expect(parsed.filter((text) => text.startsWith("["))).toEqual([
    '[{"index":0,"delta":{"content":"four"},"finish_reason":null}]',
  ]);
});
