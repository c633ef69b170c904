/**
 * Streams of responses as servers number and name them, each its own way: whatever of the events a server sends, and however
 * it counts items and contents, the stream reads to the whole that it tells. No text twice, none lost.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { placeIn, StreamItems } from "../../../src/wire/responses/stream-items.ts";
import { rounds } from "../../support/effort.ts";
import { processorMs } from "../../support/processor-time.fixtures.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { assembled, eventsOf } from "./assembled.ts";
import { reader } from "./responses.fixtures.ts";

type Item =
  | {
      readonly type: "message";
      readonly contents: readonly { readonly kind: "text" | "refusal"; readonly text: string }[];
    }
  | { readonly type: "reasoning"; readonly summaries: readonly string[]; readonly texts: readonly string[] }
  | { readonly type: "call"; readonly arguments: string };

/** How a server numbers: rightly, from 1 in deltas, from 1 in all but finished items, always 0, not at all. */
const NUMBERS = ["right", "deltas from 1", "events from 1", "always 0", "none"] as const;
const IDS = ["stable", "changing", "none", "one for all"] as const;
/** What a server may leave out, all through a stream. */
const KINDS = ["item.added", "part.added", "delta", "text.done", "part.done", "item.done", "output"] as const;
type Kind = (typeof KINDS)[number];

interface Server {
  readonly contentIndex: (typeof NUMBERS)[number];
  readonly outputIndex: (typeof NUMBERS)[number];
  readonly ids: (typeof IDS)[number];
  readonly sends: readonly Kind[];
}

function numbered(how: (typeof NUMBERS)[number], index: number, isDelta: boolean): number | undefined {
  if (how === "none") return undefined;
  if (how === "always 0") return 0;
  return how === "events from 1" || (how === "deltas from 1" && isDelta) ? index + 1 : index;
}

/** The events of a stream, as one server sends them. */
function streamOf(items: readonly Item[], server: Server): string {
  const events: Json[] = [];
  let names = 0;
  const idOf = (index: number): string | undefined => {
    if (server.ids === "none") return undefined;
    if (server.ids === "changing") return `item_${names++}`;
    return server.ids === "one for all" ? "item" : `item_${index}`;
  };
  const say = (kind: Kind, event: Json) => {
    if (server.sends.includes(kind)) events.push(event);
  };
  for (const [index, item] of items.entries()) {
    const at = (isDelta: boolean) => ({
      item_id: idOf(index),
      output_index: numbered(server.outputIndex, index, isDelta),
    });
    const { output_index } = at(false);
    say("item.added", {
      type: "response.output_item.added",
      output_index,
      item: { ...empty(item, index), id: idOf(index) },
    });
    for (const part of partsOf(item)) {
      const place = (isDelta: boolean) => ({
        ...at(isDelta),
        [part.key]: numbered(server.contentIndex, part.index, isDelta),
      });
      const { prefix, name, text } = part;
      if (part.added !== undefined)
        say("part.added", { type: `${part.added}.added`, ...place(false), part: part.of("") });
      for (const delta of text.match(/.{1,3}/gsu) ?? [])
        say("delta", { type: `${prefix}.delta`, ...place(true), delta });
      say("text.done", { type: `${prefix}.done`, ...place(false), [name]: text });
      if (part.added !== undefined)
        say("part.done", { type: `${part.added}.done`, ...place(false), part: part.of(text) });
    }
    say("item.done", {
      type: "response.output_item.done",
      output_index,
      item: { ...whole(item, index), id: idOf(index) },
    });
  }
  const output = server.sends.includes("output")
    ? items.map((item, index) => ({ ...whole(item, index), id: idOf(index) }))
    : [];
  events.push({ type: "response.completed", response: { status: "completed", output } });
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")).toString("latin1");
}

interface SentPart {
  readonly key: "content_index" | "summary_index";
  readonly index: number;
  /** What the types of the events that tell its text begin with. */
  readonly prefix: string;
  /** What the types of the events that frame it begin with. */
  readonly added: string | undefined;
  /** The member that holds the text. */
  readonly name: string;
  readonly text: string;
  of(text: string): Json;
}

function partsOf(item: Item): SentPart[] {
  if (item.type === "call") {
    const prefix = "response.function_call_arguments";
    const of = () => ({});
    return [
      {
        key: "content_index",
        index: 0,
        prefix,
        added: undefined,
        name: "arguments",
        text: item.arguments,
        of,
      },
    ];
  }
  const added = "response.content_part";
  if (item.type === "message") {
    return item.contents.map(({ kind, text }, index) => {
      const [type, name] = kind === "text" ? ["output_text", "text"] : ["refusal", "refusal"];
      const of = (value: string) => ({ type, [name]: value });
      return { key: "content_index", index, prefix: `response.${type}`, added, name, text, of };
    });
  }
  const summaries = item.summaries.map((text, index): SentPart => {
    const of = (value: string) => ({ type: "summary_text", text: value });
    const prefix = "response.reasoning_summary";
    return {
      key: "summary_index",
      index,
      prefix: `${prefix}_text`,
      added: `${prefix}_part`,
      name: "text",
      text,
      of,
    };
  });
  const texts = item.texts.map((text, index): SentPart => {
    const of = (value: string) => ({ type: "reasoning_text", text: value });
    return { key: "content_index", index, prefix: "response.reasoning_text", added, name: "text", text, of };
  });
  return [...summaries, ...texts];
}

const call = (index: number) => ({ type: "function_call", call_id: `call_${index}`, name: `f${index}` });

const empty = (item: Item, index: number): Json =>
  item.type === "call" ? { ...call(index), arguments: "" } : { type: item.type, summary: [], content: [] };

function whole(item: Item, index: number): Json {
  if (item.type === "call") return { ...call(index), arguments: item.arguments };
  const parts = partsOf(item);
  const said = (key: string) => parts.filter((part) => part.key === key).map((part) => part.of(part.text));
  return { type: item.type, summary: said("summary_index"), content: said("content_index") };
}

/** What a client makes of it, however the stream was cut into parts. */
function gistOf(events: readonly StreamEvent[]): unknown {
  const [choice] = assembled(events).choices;
  const said = (type: string) =>
    (choice?.parts ?? []).map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
  const calls = (choice?.parts ?? []).flatMap((part) =>
    part.type === "tool_call" ? [[part.id, part.name, part.arguments]] : [],
  );
  return [said("text"), said("refusal"), said("reasoning"), calls, choice?.stop.reason];
}

function expectedOf(items: readonly Item[]): unknown {
  const [text, refusal, reasoning] = ["response.output_text", "response.refusal", "response.reasoning"].map(
    (prefix) =>
      items
        .flatMap(partsOf)
        .flatMap((part) => (part.prefix.startsWith(prefix) ? [part.text] : []))
        .join(""),
  );
  const calls = items.flatMap((item, index) =>
    item.type === "call" ? [[`call_${index}`, `f${index}`, item.arguments]] : [],
  );
  const hasRefusal = items.some(
    (item) => item.type === "message" && item.contents.some(({ kind }) => kind === "refusal"),
  );
  return [text, refusal, reasoning, calls, calls.length > 0 ? "tool_calls" : hasRefusal ? "refusal" : "stop"];
}

const text = fc.string({
  unit: fc.constantFrom("a", "b", "é", "🎉", '"', "\\", "\n"),
  minLength: 1,
  maxLength: 7,
});
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({
    type: fc.constant("message" as const),
    contents: fc.array(fc.record({ kind: fc.constantFrom("text", "text", "refusal"), text }), {
      minLength: 1,
      maxLength: 3,
    }),
  }),
  fc.record({
    type: fc.constant("reasoning" as const),
    summaries: fc.array(text, { maxLength: 2 }),
    texts: fc.array(text, { maxLength: 2 }),
  }),
  fc.record({
    type: fc.constant("call" as const),
    arguments: text.map((value) => JSON.stringify({ value })),
  }),
);
const server: fc.Arbitrary<Server> = fc.record({
  contentIndex: fc.constantFrom(...NUMBERS),
  outputIndex: fc.constantFrom(...NUMBERS),
  ids: fc.constantFrom(...IDS),
  sends: fc.subarray([...KINDS], { minLength: 1 }),
});

/** Whether a stream tells its whole at all, and tells one item and one content from the next. */
function isTold(items: readonly Item[], { sends, ids, outputIndex, contentIndex }: Server): boolean {
  const has = (...kinds: Kind[]) => kinds.some((kind) => sends.includes(kind));
  if (!has("delta", "text.done", "item.done", "output")) return false;
  // No server announces a content and then says nothing of it.
  if (has("part.added") && !has("delta", "text.done", "part.done")) return false;
  if (items.some(({ type }) => type === "call") && !has("item.added", "item.done", "output")) return false;
  // Nothing tells which item such an event is of, but that one was announced and has not ended.
  const isNameless = ids === "changing" && outputIndex === "none";
  if (isNameless && !(has("item.added") && has("item.done"))) return false;
  const isOne = items.length === 1;
  const isShifted = outputIndex === "events from 1" && has("item.added", "item.done");
  const isNamed = ids === "stable" || outputIndex === "right" || isShifted;
  if (!isOne && !isNamed && !(has("item.added") && has("item.done"))) return false;
  if (!isOne && ids === "one for all" && !(has("item.added") && has("item.done"))) return false;
  // Another id at the same place is another item, or the same under another id: only an announcement tells.
  if (!isOne && outputIndex === "always 0" && !has("item.added")) return false;
  const isNumbered = contentIndex !== "always 0" && contentIndex !== "none";
  return isNumbered || has("part.added") || has("text.done") || has("part.done");
}

const ALL = KINDS.filter((kind) => kind !== "output");
const usual: Server = { contentIndex: "right", outputIndex: "right", ids: "stable", sends: KINDS };
const TOLD: readonly Item[] = [
  { type: "reasoning", summaries: ["One.", "Two."], texts: [] },
  {
    type: "message",
    contents: [
      { kind: "text", text: "Hello world" },
      { kind: "text", text: ", again" },
    ],
  },
  { type: "call", arguments: '{"a":1}' },
  { type: "call", arguments: '{"b":2}' },
];

test.each<[string, Partial<Server>]>([
  ["number contents from 1 in deltas and from 0 in finished items", { contentIndex: "deltas from 1" }],
  ["number contents from 1 in all but finished items", { contentIndex: "events from 1" }],
  ["number items from 1 in deltas", { outputIndex: "deltas from 1" }],
  ["give an item another id in each event", { ids: "changing" }],
  ["give one number to items of every kind", { outputIndex: "always 0", ids: "changing" }],
  ["number and name nothing", { contentIndex: "none", outputIndex: "none", ids: "none" }],
  ["send deltas and the last event only", { sends: ["delta", "output"], contentIndex: "deltas from 1" }],
  ["send no deltas", { sends: ["item.added", "text.done", "item.done"] }],
  ["send whole arguments in an event of their own only", { sends: ["item.added", "text.done"] }],
  ["leave the last event empty", { sends: ALL, contentIndex: "deltas from 1" }],
])("O24: servers that %s", (_, how) => {
  expect(gistOf(eventsOf(reader(), [streamOf(TOLD, { ...usual, ...how })]))).toEqual(expectedOf(TOLD));
});

test("O24: sources that only a finished text names are told, and once", () => {
  const citation = {
    type: "url_citation",
    url: "https://a.example",
    title: "A",
    start_index: 0,
    end_index: 1,
  };
  const content = { type: "output_text", text: "Hi", annotations: [citation] };
  const place = { item_id: "m", output_index: 0 };
  const text = [
    { type: "response.output_text.delta", ...place, content_index: 1, delta: "Hi" },
    { type: "response.content_part.done", ...place, content_index: 0, part: content },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { type: "message", id: "m", content: [content] },
    },
    { type: "response.completed", response: { output: [{ type: "message", id: "m", content: [content] }] } },
  ];
  const events = eventsOf(reader(), [text.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")]);
  expect(events.filter(({ type }) => type === "citation")).toHaveLength(1);
  expect(gistOf(events)).toEqual(["Hi", "", "", [], "stop"]);
});

describe("O24: a responses stream reads to the whole that it tells", () => {
  test("whichever events a server sends, and however it numbers and names", () => {
    const runs = Number(process.env.WEIR_ODD_STREAMS ?? rounds(4000));
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), server, (items, how) => {
        fc.pre(isTold(items, how));
        expect(gistOf(eventsOf(reader(), [streamOf(items, how)]))).toEqual(expectedOf(items));
      }),
      { numRuns: runs, seed: 24 },
    );
  });
});

describe("O24: what is remembered of a stream is bounded", () => {
  const sse = (events: readonly Json[]) =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

  test("a last event of very many items takes no longer than reading it", () => {
    const items = Array.from({ length: 4096 }, (_, index) => ({
      type: "response.output_item.added",
      output_index: index,
      item: { type: "message", id: `m${index}` },
    }));
    const output = Array.from({ length: 40_000 }, () => ({ type: "message" }));
    const text = sse([...items, { type: "response.completed", response: { output } }]);
    const stream = reader();
    let events: readonly StreamEvent[] = [];
    const cpuMs = processorMs(() => {
      events = eventsOf(stream, [text]);
    });
    expect(stream.complete).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "stop" });
    expect(cpuMs).toBeLessThan(2000);
  });

  test("ids that change from event to event are not all kept", () => {
    const items = new StreamItems(1000);
    const message = items.begun({ id: "first", index: undefined }, "message");
    for (let i = 0; i < 20_000; i++) {
      const found = items.of({ id: `changing${i}`, index: undefined }, "message");
      if (found !== message) expect.fail(`changing${i} is another item`);
    }
    expect(items.named("first")).toBe(message);
    expect(items.named("changing1")).toBe(message);
    expect(items.named("changing19999")).toBeUndefined();
  });

  test("an id longer than any provider's names nothing", () => {
    const long = "m".repeat(100_000);
    expect(placeIn({ item_id: long, output_index: 3 })).toEqual({ id: "", index: 3 });
    expect(placeIn({ output_index: 3 }, { id: long })).toEqual({ id: "", index: 3 });
  });

  test("arguments of a call that is never announced end the stream as too large an event does", () => {
    const delta = { type: "response.function_call_arguments.delta", delta: "x".repeat(1000) };
    const text = sse(Array.from({ length: 2000 }, (_, i) => ({ ...delta, item_id: `c${i % 7}` })));
    expect(() => eventsOf(reader(), [text])).toThrow(/larger than the gateway takes/);
  });
});
