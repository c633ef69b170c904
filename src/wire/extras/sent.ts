/** What of a request's extras is in the body that is sent, as metering needs it. */
import type { Ask, TierNames } from "./ask.ts";
import { namesOf } from "./sift.ts";

export interface SentExtras {
  /** Tiers that the body asks for, by aspect. */
  readonly tiers: TierNames;
  /** Uses to charge where the provider reports none, by tool. */
  readonly assumed: Readonly<Record<string, number>>;
  /** What was left out for want of a price, in the words of the request. */
  readonly unpriced: readonly string[];
}

/** Compared by identity. */
export const NOTHING_SENT: SentExtras = Object.freeze({ tiers: {}, assumed: {}, unpriced: [] });

export function sentOf(kept: readonly Ask[], dropped: readonly Ask[]): SentExtras {
  if (kept.length === 0 && dropped.length === 0) return NOTHING_SENT;
  const assumed: Record<string, number> = {};
  for (const { name, assumed: uses = 0 } of kept) if (uses > 0) assumed[name] = uses;
  return { tiers: namesOf(kept), assumed, unpriced: [...new Set(dropped.map(({ said }) => said))] };
}
