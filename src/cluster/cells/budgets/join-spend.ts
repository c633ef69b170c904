/** Adds the spend that a release before this one counted for each key of a lineage to the lineage's: see `60-budgets.lua`, "spend_join". */
import { sliced } from "../../../base/lists.ts";
import { openPeriods } from "../../../credits/budgets/periods.ts";
import type { Lane } from "../exchange/exchange.ts";
import { keyScope } from "../leases/scopes.ts";

/** A key that replaced another, and the first key of its lineage. */
export interface LaterKey {
  readonly keyId: string;
  readonly lineageId: string;
  /** Its org's. */
  readonly timeZone: string;
}

/** Keys of one exchange: a few milliseconds of Redis. */
const KEYS_A_STEP = 500;

/**
 * May run again at any time, also beside cells of that release, whose later charges it then adds.
 * @param redisMs Redis's time
 */
export async function joinSpend(
  lane: Pick<Lane, "send">,
  keys: Iterable<LaterKey>,
  redisMs: number,
): Promise<void> {
  const periodOf = openPeriods();
  for (const some of sliced(keys, KEYS_A_STEP)) {
    const joins = some.flatMap(({ keyId, lineageId, timeZone }) => {
      const { day, dayStartsMs, monthStartsMs } = periodOf(timeZone, redisMs);
      return [keyScope(keyId), keyScope(lineageId), day, dayStartsMs, monthStartsMs];
    });
    await lane.send([["spend_join", joins]]);
  }
}
