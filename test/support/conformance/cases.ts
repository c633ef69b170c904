/**
 * The list of cases that every dialect must pass, as data. A case is run on every pair of a client's format and an
 * upstream's dialect, whole and streamed. What an end has no place for stands in its own `lacks`, with the reason.
 */
import { amount } from "../effort.ts";
import type { Ask, Counts, Heard, Json, Said, Seen, Told } from "./ask.ts";
import type { Feature } from "./ends.ts";
import {
  asks,
  CALL,
  long,
  ODD_TEXT,
  PDF,
  PING,
  png,
  REPORT,
  SECOND,
  TIME,
  TOOLS,
  told,
  user,
  WEATHER,
} from "./prompts.ts";

/** What is known of a case's call when its check runs. */
export interface Checked {
  readonly heard: Heard;
  readonly told: Told;
  readonly seen: Seen;
  /** `usage_source` of the record. */
  readonly source: string;
}

export interface AnswerCase {
  readonly name: string;
  readonly needs: readonly Feature[];
  readonly ask: Ask;
  /** The request after: a case that goes on is checked at its last. */
  readonly next?: (heard: Heard) => Ask;
  /** Beside what holds of every case. */
  readonly check?: (checked: Checked) => void;
  /** Options that some pair tells in part only: warnings are not compared with none. */
  readonly mayWarn?: true;
  /** How the refusal is told differs: see `isRefused`. */
  readonly refusal?: string;
  /** How many calls of tools the answer must make. */
  readonly calls?: number;
  /** The case is about bytes that are gone once the upstream's dialect is read: see `meets` in `pairs.ts`. */
  readonly isOfOneEnd?: true;
}

const REFUSAL = "I cannot help with that.";

const results = (heard: Heard) =>
  (heard.choices[0] as Said).calls.map(({ id, name }) => ({ id, text: `${name} says 21 degrees` }));

/** The calls of an answer are answered, and the user goes on. */
const answered =
  (first: Ask, instruction?: Readonly<Record<string, unknown>>) =>
  (heard: Heard): Ask => ({
    ...first,
    choosing: "auto",
    turns: [
      ...first.turns,
      { echo: heard.echo },
      { results: results(heard), said: told("Go on.", instruction) },
    ],
  });

const forced = asks("Weather and time, please.", { tokens: 3 }, { tools: TOOLS, choosing: "required" });
const thinking = (instruction: Readonly<Record<string, unknown>>): Ask =>
  asks("Think, then look.", { tool_calls: 2, tokens: 2, ...instruction }, { tools: TOOLS, thinks: true });
const signed = thinking({ reasoning: 6 });
const lengthy = thinking({ reasoning: amount(1_200, 700), unicode: true });
const severalThoughts = thinking({ reasoning: 6, thinking_blocks: 3 });
const redacted = thinking({ reasoning: 4, redacted: 2 });

const usageIs =
  (usage: Partial<Counts>) =>
  ({ heard }: Checked) =>
    is(heard.usage, { ...heard.usage, ...usage });

export const ANSWERS: readonly AnswerCase[] = [
  { name: "a text", needs: [], ask: asks("Hello"), check: usageIs({ output: 16 }) },
  {
    name: "a text of odd characters, there and back",
    needs: [],
    ask: asks(ODD_TEXT, { echo: true }),
    check: ({ heard }) => is(heard.choices[0]?.text, ODD_TEXT),
  },
  {
    name: "T4: characters of up to four bytes, cut at every byte",
    needs: [],
    // A write for each byte of a stream that is mostly frames.
    ask: asks("Sing", { unicode: true, tokens: amount(12, 6), split_every: 1 }),
    check: ({ heard }) => is(heard.choices[0]?.text.includes("\ufffd"), false),
    isOfOneEnd: true,
  },
  {
    name: "T5, T6: CRLF and comments",
    needs: [],
    ask: asks("Hello", { crlf: true, comments: true }),
    isOfOneEnd: true,
  },
  { name: "T3: usage and the end in writes of their own", needs: [], ask: asks("Hello", { usage: "split" }) },
  { name: "T3: usage in every event", needs: [], ask: asks("Hello", { usage: "every" }) },
  { name: "T3: usage with the end", needs: [], ask: asks("Hello", { usage: "with_last" }) },
  {
    name: "T5: no line end at the end",
    needs: [],
    ask: asks("Hello", { fault: "no_final_newline" }),
    isOfOneEnd: true,
  },
  {
    name: "an answer of no text",
    needs: [],
    ask: asks("Say nothing", { tokens: 0 }),
    check: ({ heard }) => is(heard.choices[0]?.text, ""),
  },
  {
    name: "a system prompt",
    needs: ["system"],
    ask: asks("Hello", {}, { system: "You are “brief”.\nVery." }),
  },
  {
    name: "several turns",
    needs: ["turns"],
    ask: {
      turns: [user("One?"), { assistant: "Un." }, user("Two?"), { assistant: "Deux." }, user("Three?")],
    },
  },
  { name: "an image", needs: ["images"], ask: { turns: [user("What?", {}, { image: png(300) })] } },
  {
    name: "images of 20 KB and between texts",
    needs: ["images"],
    ask: {
      turns: [
        user("And this?", {}, { text: "This is one:" }, { image: png(20_000) }, { image: png(20_001) }),
      ],
    },
  },
  {
    name: "T57: an image of 300 KB",
    needs: ["images"],
    ask: { turns: [user("What?", {}, { image: png(300_000) })] },
  },
  {
    name: "an image by its address",
    needs: ["image_urls"],
    ask: { turns: [user("What?", {}, { imageUrl: "https://example.com/a%20b.png?x=1&y=2" })] },
  },
  {
    name: "a document",
    needs: ["documents"],
    ask: { turns: [user("Sum it up.", {}, { document: PDF })] },
    // A dialect without names of documents says so.
    mayWarn: true,
  },
  { name: "tools that are not called", needs: ["tools"], ask: asks("Hello", {}, { tools: TOOLS }), calls: 0 },
  {
    name: "tools that must not be called",
    needs: ["tools"],
    ask: asks("Hello", { tool_calls: 2, tokens: 4 }, { tools: TOOLS, choosing: "none" }),
    calls: 0,
  },
  {
    name: "T45: a tool that must be called",
    needs: ["tools"],
    ask: asks("Time?", {}, { tools: TOOLS, choosing: { name: "get_time" } }),
    calls: 1,
    check: ({ heard }) => is(heard.choices[0]?.calls[0]?.name, "get_time"),
  },
  {
    name: "any tool that must be called",
    needs: ["tools"],
    ask: asks("Weather?", {}, { tools: TOOLS, choosing: "required" }),
    calls: 1,
  },
  {
    name: "T44, T46: several calls behind a text",
    needs: ["tools"],
    ask: asks("Both?", { tokens: 4, tool_calls: 4 }, { tools: TOOLS, parallel: true }),
    calls: 4,
    check: ({ heard }) => is(new Set(heard.choices[0]?.calls.map(({ id }) => id)).size, 4),
  },
  {
    name: "T45: a tool that takes nothing",
    needs: ["tools"],
    ask: asks("Ping!", {}, { tools: [PING], choosing: "required" }),
    calls: 1,
    check: ({ heard }) => is(heard.choices[0]?.calls[0]?.arguments, {}),
  },
  {
    name: "what a tool returned",
    needs: ["tools"],
    ask: {
      tools: TOOLS,
      turns: [
        user("Weather?"),
        { assistant: "I look.", calls: [CALL] },
        { results: [{ id: CALL.id, text: "21 °C" }] },
      ],
    },
  },
  {
    name: "what several tools returned, and a word with it",
    needs: ["tools"],
    ask: {
      tools: TOOLS,
      turns: [
        user("Both?"),
        { assistant: "", calls: [CALL, SECOND] },
        {
          results: [
            { id: CALL.id, text: "21 °C" },
            { id: SECOND.id, text: "noon" },
          ],
          said: "Be brief.",
        },
      ],
    },
  },
  {
    name: "T50: an image that a tool returned",
    needs: ["tools", "images"],
    ask: {
      tools: TOOLS,
      turns: [
        user("Weather?"),
        { assistant: "", calls: [CALL] },
        { results: [{ id: CALL.id, text: "See", image: png(6_000) }] },
      ],
    },
  },
  {
    name: "a tool that failed",
    needs: ["tools", "tool_errors"],
    ask: {
      tools: TOOLS,
      turns: [
        user("Weather?"),
        { assistant: "", calls: [CALL] },
        { results: [{ id: CALL.id, text: "No such city.", isError: true }] },
      ],
    },
  },
  {
    name: "texts of many kilobytes wherever a text may be",
    needs: ["system", "tools", "schema"],
    ask: {
      system: long(7_000),
      tools: [{ ...WEATHER, description: long(5_000) }, TIME],
      schema: { ...REPORT, description: long(6_000) },
      turns: [
        user(long(9_000)),
        { assistant: long(5_500), calls: [{ ...CALL, arguments: { city: long(8_000), days: 3 } }] },
        { results: [{ id: CALL.id, text: long(12_000) }], said: long(4_500) },
      ],
    },
  },
  {
    name: "a tool loop: the answer goes back as it came",
    needs: ["tools"],
    ask: forced,
    next: answered(forced),
  },
  {
    name: "a schema",
    needs: ["schema"],
    ask: asks("Report.", {}, { schema: REPORT }),
    check: ({ heard }) => {
      const report: Json = JSON.parse(heard.choices[0]?.text ?? "");
      is(Object.keys(report), ["title", "score", "tags"]);
    },
  },
  {
    name: "any JSON",
    needs: ["json"],
    ask: asks("Answer in JSON.", {}, { json: true }),
  },
  { name: "a temperature", needs: [], ask: asks("Hello", {}, { temperature: 0.25 }) },
  { name: "a seed", needs: ["seed"], ask: asks("Hello", {}, { seed: 42 }) },
  {
    name: "a stop sequence",
    needs: ["stop"],
    ask: asks("Count.", { stop_sequence: "END" }, { stop: ["END", "\n\nUser:"] }),
  },
  {
    name: "a bound on the answer",
    needs: [],
    ask: asks("Go on and on.", { tokens: 50 }, { maxTokens: 20 }),
    check: usageIs({ output: 20 }),
  },
  {
    name: "several answers",
    needs: ["choices"],
    ask: asks("Hello", { tokens: 5 }, { choices: 3 }),
    check: three,
  },
  { name: "a refusal", needs: ["refusals"], ask: asks("Bomb?", { refuse: REFUSAL }), refusal: REFUSAL },
  {
    name: "reasoning",
    needs: ["thinking"],
    ask: asks("Why?", { reasoning: 8 }, { thinks: true }),
    mayWarn: true,
  },
  {
    name: "reasoning that is counted and not shown",
    needs: [],
    ask: asks("Why?", { reasoning_tokens: 40 }),
    check: usageIs({ output: 56 }),
  },
  {
    name: "T47, T48: reasoning goes back with its signature",
    needs: ["thinking", "tools"],
    ask: signed,
    next: answered(signed, { require_thinking: true }),
    mayWarn: true,
  },
  {
    name: "T47: reasoning of many kilobytes goes back with its signature",
    needs: ["thinking", "tools"],
    ask: lengthy,
    next: answered(lengthy, { require_thinking: true }),
    mayWarn: true,
  },
  {
    name: "T47: reasoning in several blocks goes back in order",
    needs: ["thinking", "tools"],
    ask: severalThoughts,
    next: answered(severalThoughts, { require_thinking: true }),
    mayWarn: true,
  },
  {
    name: "T47: reasoning that nobody can read goes back",
    needs: ["thinking", "tools"],
    ask: redacted,
    next: answered(redacted, { require_thinking: true }),
    mayWarn: true,
  },
  {
    name: "T33: tokens from a cache and to it",
    needs: [],
    ask: asks("Again.", {
      prompt_tokens: 4_000,
      cached_tokens: 2_500,
      cache_write_tokens: 300,
      cache_write_1h_tokens: 200,
    }),
    check: usageIs({ input: 4_000, cacheRead: 2_500 }),
  },
  {
    name: "T50: a cache mark",
    needs: ["cache_marks"],
    ask: { turns: [{ user: [{ text: "A long preface.", isCached: true }, { text: "Hello" }] }] },
  },
  {
    name: "no usage: it is estimated",
    needs: [],
    ask: asks("Hello", { usage: "none", tokens: 40 }),
    check: ({ source, heard }) => {
      is(source, "estimated");
      is(heard.usage.output > 0 && heard.usage.input > 0, true);
    },
  },
];

/** Compared without a name: the case's own says what it is about. */
function is(got: unknown, wanted: unknown): void {
  const [left, right] = [got, wanted].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`got ${left}, wanted ${right}`);
}

function three({ heard }: Checked): void {
  is(heard.choices.length, 3);
  is(new Set(heard.choices.map(({ text }) => text)).size, 3);
}
