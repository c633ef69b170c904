/** What an answer reports beside tokens: the tier that served it, and uses of tools that the provider ran. */

import type { Aspect, Report, TierNames } from "../neutral/asked-extras.ts";
import { countOf, isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { SERVICE_TIER } from "./openai-rows.ts";

/** More kinds of tools than any provider has. */
const MOST_TOOLS = 32;
const MOST_NAME = 40;
/** No call has more uses of a tool: a larger count is a fault of the provider's, and none. */
const MOST_COUNT = 10_000;

const NO_RECORD: Readonly<Record<string, number>> = Object.freeze({});

/**
 * Uses of tools in one answer: those that its items show, and those that the provider's own count tells. The larger number
 * counts. Nearly all answers have no uses, so the maps are made with the first one.
 */
export class Uses {
  #seen: Map<string, number> | undefined;
  #told: Map<string, number> | undefined;

  see(name: string): void {
    if (name === "") return;
    this.#seen ??= new Map();
    if (this.#seen.has(name) || this.#seen.size < MOST_TOOLS)
      this.#seen.set(name, (this.#seen.get(name) ?? 0) + 1);
  }

  tell(name: string, count: number): void {
    if (name === "") return;
    this.#told ??= new Map();
    if (this.#told.has(name) || this.#told.size < MOST_TOOLS) this.#told.set(name, count);
  }

  /** Asked for before each piece of a stream is passed on. */
  get total(): number {
    if (this.isEmpty) return 0;
    let sum = 0;
    for (const [, count] of this.#all()) sum += count;
    return sum;
  }

  get isEmpty(): boolean {
    return this.#seen === undefined && this.#told === undefined;
  }

  record(): Readonly<Record<string, number>> {
    if (this.isEmpty) return NO_RECORD;
    return Object.fromEntries([...this.#all()].filter(([, count]) => count > 0));
  }

  /** The larger of both: a stream may end before the provider tells its count. */
  #all(): Map<string, number> {
    const all = new Map(this.#seen);
    for (const [name, count] of this.#told ?? []) all.set(name, Math.max(count, all.get(name) ?? 0));
    return all;
  }
}

export const reportOf = (tiers: TierNames, uses: Uses): Report | undefined =>
  uses.isEmpty && isEmpty(tiers) ? undefined : { tiers, uses: uses.record() };

/** Asked for each answer: makes no list of the names. */
function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

/** Whether nothing but the standard price is reported, as by nearly all answers. */
export function isStandard({ tiers, uses }: Report): boolean {
  for (const aspect in tiers) if (tiers[aspect as Aspect] !== "") return false;
  return isEmpty(uses);
}

const { words: TIER_WORDS } = SERVICE_TIER as { readonly words: Readonly<Record<string, string>> };

/** Words of other dialects for the standard price. */
const STANDARD: readonly string[] = [
  "standard",
  "default",
  "batch",
  "global",
  "not_available",
  "reserved",
  "",
];

/** The name of a reported tier; undefined if nothing is reported. @param words of the dialect that are no names */
function nameOf(word: unknown, words: Readonly<Record<string, string>>): string | undefined {
  if (typeof word !== "string" || word === "auto") return undefined;
  const known = Object.hasOwn(words, word) ? words[word] : undefined;
  if (known !== undefined) return known;
  return STANDARD.includes(word) ? "" : word.slice(0, MOST_NAME).replace(/[^\x21-\x7e]/g, "?");
}

function tierNames(
  reported: readonly (readonly [Aspect, unknown])[],
  words: Readonly<Record<string, string>> = {},
): TierNames {
  const names: Record<string, string> = {};
  for (const [aspect, word] of reported) {
    const name = nameOf(word, words);
    if (name !== undefined) names[aspect] = name;
  }
  return names;
}

export const NO_TIERS: TierNames = Object.freeze({});
const STANDARD_TIER: TierNames = Object.freeze({ tier: "" });

/**
 * The tier that a chat completion or a response reports in its member `service_tier`.
 * @returns `NO_TIERS` without the member; for the standard tier always the same object, since nearly all answers report it
 */
export function openAiTiers({ service_tier: word }: JsonObject): TierNames {
  if (word === undefined) return NO_TIERS;
  if (word === "default") return STANDARD_TIER;
  const name = nameOf(word, TIER_WORDS);
  if (name === undefined) return NO_TIERS;
  return name === "" ? STANDARD_TIER : { tier: name };
}

/** Later words count. */
export const laterOpenAiTiers = (before: TierNames, event: JsonObject): TierNames => {
  const tiers = openAiTiers(event);
  return tiers === NO_TIERS ? before : tiers;
};

/**
 * Counts in the usage of OpenAI's dialects: OpenRouter's and Anthropic's `server_tool_use`, xAI's counts by tool and of sources,
 * Perplexity's of queries.
 */
export function tellOpenAiUses(value: unknown, uses: Uses): void {
  if (!isObject(value)) return;
  tellRequests(value.server_tool_use, uses);
  const {
    server_side_tool_usage_details: byTool,
    num_sources_used: sources,
    num_search_queries: queries,
  } = value;
  if (isObject(byTool))
    for (const [key, count] of Object.entries(byTool)) tellCount(key.replace(/_calls$/, ""), count, uses);
  tellCount("live_search", sources, uses);
  tellCount("web_search_options", queries, uses);
}

/** `{"web_search_requests": 3}` */
export function tellRequests(value: unknown, uses: Uses): void {
  if (!isObject(value)) return;
  for (const [key, count] of Object.entries(value)) {
    if (key.endsWith("_requests")) tellCount(key.slice(0, -"_requests".length), count, uses);
  }
}

function tellCount(name: string, value: unknown, uses: Uses): void {
  const count = countOf(value);
  if (count > 0 && count <= MOST_COUNT) uses.tell(name.slice(0, MOST_NAME), count);
}

/** Tells the uses of the messages dialect: counts, and turns that another model took. */
export function tellMessagesUses(usage: JsonObject, uses: Uses): void {
  tellRequests(usage.server_tool_use, uses);
  const turns = listOf(usage.iterations).map((turn) => objectOf(turn).type);
  for (const [type, name] of [
    ["advisor_message", "advisor"],
    ["fallback_message", "fallbacks"],
  ] as const) {
    tellCount(name, turns.filter((turn) => turn === type).length, uses);
  }
}

/** The tiers of the messages dialect: members of its usage. */
export const messagesTiers = (usage: JsonObject): TierNames =>
  tierNames([
    ["tier", usage.service_tier],
    ["speed", usage.speed],
    ["geo", usage.inference_geo],
  ]);

/** The tool of a block that shows a use of the provider's tool; empty for other blocks, and for tools without a charge. */
export function messagesTool({ type, name }: JsonObject): string {
  if (type === "mcp_tool_use") return "mcp";
  if (type !== "server_tool_use" || typeof name !== "string") return "";
  if (name.startsWith("tool_search")) return "";
  return /^(?:bash|text_editor)_code_execution$/.test(name) ? "code_execution" : name.slice(0, MOST_NAME);
}

/** Items that are calls of the client's own tools, or no use of a tool that is charged. */
const CLIENT_CALLS: ReadonlySet<unknown> = new Set([
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "apply_patch_call",
  "computer_call",
  "tool_search_call",
  "shell_call",
]);

/** Looking at a page that a search found costs nothing: https://developers.openai.com/api/docs/guides/tools-web-search */
const FREE_ACTIONS: readonly unknown[] = ["open_page", "find_in_page", "find"];

/** The tool of an item that shows a use of the provider's tool; empty for other items. */
export function responsesTool({ type, action }: JsonObject): string {
  // A shell of the client's shows its calls as well, but only the provider's shows what it put out.
  if (type === "shell_call_output") return "shell";
  if (typeof type !== "string" || !type.endsWith("_call") || CLIENT_CALLS.has(type)) return "";
  if (type === "web_search_call" && FREE_ACTIONS.includes(objectOf(action).type)) return "";
  return type.slice(0, -"_call".length).slice(0, MOST_NAME);
}

/** The report of a whole generateContent answer, or one event: the traffic that served it, and its grounding. */
export function geminiReport(answer: JsonObject): Report | undefined {
  const usage = objectOf(answer.usageMetadata);
  const traffic = /_(PRIORITY|FLEX)$/.exec(stringOf(usage.trafficType))?.[1];
  const word = traffic ?? usage.serviceTier;
  const tiers = typeof word === "string" ? tierNames([["tier", word.toLowerCase()]]) : NO_TIERS;
  const uses = new Uses();
  let queries = 0;
  for (const candidate of listOf(answer.candidates)) {
    queries += listOf(objectOf(objectOf(candidate).groundingMetadata).webSearchQueries).length;
  }
  if (queries > 0) uses.tell("google_search", queries);
  return reportOf(tiers, uses);
}

/** The report of a whole Converse answer, or its last event. */
export function converseReport({ serviceTier, performanceConfig }: JsonObject): Report | undefined {
  const tiers = tierNames([
    ["tier", objectOf(serviceTier).type],
    ["latency", objectOf(performanceConfig).latency],
  ]);
  return reportOf(tiers, NO_USES);
}

const NO_USES = new Uses();

/** Later reports count; uses are cumulative. */
export function joinedReport(before: Report | undefined, report: Report | undefined): Report | undefined {
  if (before === undefined || report === undefined) return report ?? before;
  return { tiers: { ...before.tiers, ...report.tiers }, uses: { ...before.uses, ...report.uses } };
}
