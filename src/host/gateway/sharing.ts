/** What cells tell each other beside acts: counts, refused keys, what is on its way to lists. Begun once all rooms are open. */
import type { LastUsed } from "../../account/keys/last-used.ts";
import type { Analytics } from "../../analytics/analytics.ts";
import { byTwo, InsertedUntil } from "../../analytics/clickhouse/inserted-until.ts";
import { systemTimers } from "../../base/clock.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import type { Flushed } from "../../cluster/cells/messages/flush.ts";
import type { MoneyOfCell } from "../../cluster/cells/money/open.ts";
import type { Health } from "../../routing/health/health.ts";
import { shareCoolDowns } from "../../routing/health/shared-cool-downs.ts";
import { shareErrors } from "../../routing/health/shared-errors.ts";
import type { CanarySharing } from "../../routing/policies/open.ts";

/** Time to tell the other cells what this one counted last. */
const TELL_MS = 1000;

export interface Sharing {
  /** Brings out what the other cells and this one have not listed yet. */
  bringOut(): Promise<void>;
  close(): void;
}

/** What no act changes, and all cells need to know. Once all that restates is open. */
export async function shareWith(
  cell: Cell | undefined,
  { lastUsed, health, analytics, money }: WhatIsShared,
): Promise<Sharing> {
  if (cell === undefined || money === undefined) return { close() {}, bringOut: () => Promise.resolve() };
  const { signals, merged } = cell;
  const flush = async (withinMs: number) =>
    (await money.flushCharges(withinMs)) && (await analytics.flushOwn(withinMs));
  cell.onFlush(flush);
  const listed = new InsertedUntil(byTwo(money.charges, analytics.ledger), cell.clock);
  const inserting = [analytics.inserted, listed];
  const untilMs = () => Math.min(...inserting.map((rows) => rows.untilMs()));
  cell.inserts({ untilMs, isDone: () => inserting.every((rows) => rows.isDone()) });
  const allListed = async (): Promise<Flushed> => {
    const [isDone, others] = await Promise.all([flush(LISTED_MS), cell.flushOthers(LISTED_MS)]);
    if (isDone) return others;
    const missingSinceMs = Math.min(untilMs(), others.missingSinceMs ?? Number.POSITIVE_INFINITY);
    return { isDone: false, missingSinceMs };
  };
  const bringOut = async () => void (await allListed());
  money.connect({ ...analytics.ledger, allListed });
  shareCoolDowns({ signals, health, timers: systemTimers });
  lastUsed.share();
  merged.add({
    table: "account.key_last_used",
    kind: "max",
    take: (most) => lastUsed.takeUntold(most),
    heard: (rows) => {
      for (const [keyId, atMs = 0] of rows) lastUsed.heardOf(keyId, atMs);
    },
  });
  const close = shareErrors(signals, health);
  await cell.opened();
  return { close, bringOut };
}

interface WhatIsShared {
  readonly lastUsed: LastUsed;
  readonly health: Health;
  readonly analytics: Analytics;
  /** Undefined in a gateway alone. */
  readonly money: MoneyOfCell | undefined;
}

/** A list of the ledger waits so long for the newest entries of all cells. */
const LISTED_MS = 1000;

export const tellLast = async (cell: Cell | undefined): Promise<void> => await cell?.merged.stop(TELL_MS);

export const othersOf = (cell: Cell | undefined) =>
  cell && { signals: cell.signals, flush: (withinMs: number) => cell.flushOthers(withinMs) };

export const canariesOf = (cell: Cell | undefined): CanarySharing | undefined =>
  cell && {
    add: (part) =>
      cell.merged.add({
        table: "policies.canaries",
        kind: "sum",
        take: (most) => part.take(most),
        heard: (rows) => part.heard(rows),
      }),
    flush: () => cell.merged.flush(),
  };
