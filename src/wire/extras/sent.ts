/** What of a request's extras is in the body that is sent, as metering needs it. */
import type { Ask, TierNames } from "../neutral/asked-extras.ts";
import { namesOf } from "./sift.ts";

export interface SentExtras {
  /** Tiers that the body asks for, by aspect. */
  readonly tiers: TierNames;
  /** Uses to charge where the provider reports none, by tool. */
  readonly assumed: Readonly<Record<string, number>>;
  /** Names of the tools that the body asks for. */
  readonly tools: readonly string[];
  /** What was left out for want of a price, in the words of the request. */
  readonly unpriced: readonly string[];
}

/** Compared by identity. */
export const NOTHING_SENT: SentExtras = Object.freeze({ tiers: {}, assumed: {}, tools: [], unpriced: [] });

export function sentOf(kept: readonly Ask[], dropped: readonly Ask[]): SentExtras {
  if (kept.length === 0 && dropped.length === 0) return NOTHING_SENT;
  const assumed: Record<string, number> = {};
  for (const { name, assumed: uses = 0 } of kept) if (uses > 0) assumed[name] = uses;
  const tools = kept.filter(({ kind }) => kind === "tool").map(({ name }) => name);
  return { tiers: namesOf(kept), assumed, tools, unpriced: [...new Set(dropped.map(({ said }) => said))] };
}

/**
 * Tools whose uses a provider may report under one name, whichever of them it was asked for. OpenAI's items, and xAI's counts:
 * https://developers.openai.com/api/docs/guides/tools-web-search, https://docs.x.ai/docs/guides/tools/overview
 */
const REPORTED_ALIKE: readonly (readonly string[])[] = [
  ["web_search", "web_search_preview", "web_search_options"],
  ["code_execution", "code_interpreter"],
  ["file_search", "collections_search"],
];

/** Uses by the tool whose price they have: of those that were asked for and are reported alike the dearest. */
export function usesOf(
  { assumed, tools }: Pick<SentExtras, "assumed" | "tools">,
  reported: Readonly<Record<string, number>>,
  prices: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const uses = new Map(Object.entries(assumed));
  const told = new Map<string, number>();
  for (const [name, count] of Object.entries(reported)) {
    const alike = REPORTED_ALIKE.find((names) => names.includes(name)) ?? [name];
    const asked = alike.filter((other) => tools.includes(other) && Object.hasOwn(prices, other));
    const [dearest = name] = asked.toSorted((a, b) => (prices[b] ?? 0) - (prices[a] ?? 0));
    for (const other of alike) uses.delete(other);
    // Items and counts of one answer may have different names.
    told.set(dearest, Math.max(count, told.get(dearest) ?? 0));
  }
  return Object.fromEntries([...uses, ...told]);
}
