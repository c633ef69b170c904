/**
 * What tells a restored data folder from the one that was copied: a row for each restore, with an id of its own. Two gateways that
 * were made from one backup hold different ids, whatever else they have in common.
 */
import { markCopied } from "../../analytics/outbox/batch-queue.ts";
import type { Store } from "../../store/store.ts";

export interface RestoreRow {
  /** Id of this copy: random, never in a backup before. */
  readonly copyId: string;
  readonly backupId: string;
  readonly madeAt: string;
  /** Release of the gateway that was copied. */
  readonly release: string;
}

/** Queues of rows for ClickHouse. */
const QUEUES = ["outbox", "shadow_runs", "ledger_rows"];

/** By time of the restore, milliseconds since 1970. */
const restoresOf = (store: Store) => store.table<RestoreRow>("restores");

/** The newest; undefined for a folder that was never restored. */
export function lastRestore(store: Store): (RestoreRow & { readonly restoredAtMs: number }) | undefined {
  for (const { key, value } of restoresOf(store).range({
    start: Number.MAX_SAFE_INTEGER,
    reverse: true,
    limit: 1,
  }))
    return { ...value, restoredAtMs: Number(key) };
  return undefined;
}

/**
 * Marks a store as a copy. Records that waited may be in ClickHouse already where it is a server that both gateways use: they are
 * looked up before they are inserted.
 */
export async function markRestored(store: Store, restoredAtMs: number, row: RestoreRow): Promise<void> {
  await store.act(() => {
    restoresOf(store).put(restoredAtMs, row);
    for (const name of QUEUES) markCopied(store, name);
  });
}
