/**
 * The events of credit that falls: below the org's threshold, and below zero. A fall is an entry of the ledger that takes the balance
 * from one side of a bound to the other; no flag is kept, and the event is put in the act of that entry. So it comes exactly once
 * until the balance has risen again, also over a crash.
 *
 * The balance counts, not what is available: the worst cases held for calls under way mostly come back, so every large call would
 * tell of a shortage that is none. With no call under way both are the same.
 */
import { z } from "zod";
import { attempt } from "../../store/attempt.ts";
import type { Trail } from "../../store/events/trail.ts";
import { eventType } from "../../store/events/types.ts";

const balance = z
  .int()
  .describe("The balance after the entry that made it fall; micro-USD, held credit included");

export const creditsLow = eventType(
  "credits.low",
  z.object({
    balance_micro_usd: balance,
    credits_low_micro: z.int().describe("The org's threshold, micro-USD"),
  }),
);

export const creditsNegative = eventType("credits.negative", z.object({ balance_micro_usd: balance }));

/** An entry took the balance below a bound, or left it below the one that is watched. */
export interface CreditFall {
  readonly orgId: string;
  readonly balanceMicroUsd: number;
  /** Undefined: it was below the threshold before, or is not now. */
  readonly lowMicroUsd: number | undefined;
  readonly isNegative: boolean;
  /** It is below the balance that is watched, and may have been before. */
  readonly isWatched: boolean;
}

/** Balances below which something follows; `-Infinity`: nothing does. */
export interface FallBounds {
  /** The org is told when its balance falls below. */
  readonly lowMicroUsd: number;
  /** Each entry that leaves the balance below is told of. */
  readonly watchedMicroUsd: number;
}

/** @returns the fall that an entry makes; undefined where it makes none */
export function fallOf(
  { orgId, balanceMicroUsd }: Pick<CreditFall, "orgId" | "balanceMicroUsd">,
  beforeMicroUsd: number,
  { lowMicroUsd, watchedMicroUsd }: FallBounds,
): CreditFall | undefined {
  const isLow = balanceMicroUsd < lowMicroUsd && beforeMicroUsd >= lowMicroUsd;
  const isNegative = balanceMicroUsd < 0 && beforeMicroUsd >= 0;
  const isWatched = balanceMicroUsd < watchedMicroUsd;
  if (!isLow && !isNegative && !isWatched) return undefined;
  const crossedMicroUsd = isLow ? lowMicroUsd : undefined;
  return { orgId, balanceMicroUsd, lowMicroUsd: crossedMicroUsd, isNegative, isWatched };
}

export interface CreditEventDeps {
  readonly events: Trail["events"];
  readonly onFailure: (error: unknown) => void;
}

/** @returns what to call in the act of the entry. It never throws, because a charge must not fail because nobody can be told of it. */
export function creditEvents({ events, onFailure }: CreditEventDeps): (fall: CreditFall) => void {
  const guarded = (emit: () => void): void => attempt(onFailure, emit);
  return ({ orgId, balanceMicroUsd, lowMicroUsd, isNegative }) => {
    const balance_micro_usd = balanceMicroUsd;
    if (lowMicroUsd !== undefined) {
      guarded(() => events.emit(creditsLow, orgId, { balance_micro_usd, credits_low_micro: lowMicroUsd }));
    }
    if (isNegative) guarded(() => events.emit(creditsNegative, orgId, { balance_micro_usd }));
  };
}
