/**
 * A table whose rows go once their time is over. A second one, `[period, ...key]`, says which go when, so a sweep reads
 * nothing else. Sweeps come by themselves; while the clock jumps they wait, so that nothing goes before its time.
 */

import { type Clock, jumpWatch } from "../../base/clock.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Store } from "../store.ts";
import { PAST_IDS } from "./key-order.ts";

const SWEEP_MS = 10 * 60_000;
/** Removed at once: one commit stays small. */
const SWEEP_ROWS = 1000;

/** What every opener of such a table gives. */
export interface ExpiryPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** Told of a sweep that failed; the next one tries again. */
  readonly onFailure: (error: unknown) => void;
}

export interface ExpiringTableOptions<V> extends ExpiryPorts {
  /** Names of the two tables. */
  readonly rows: string;
  readonly periods: string;
  /** A row goes when a whole period is over: the longer, the fewer rows a sweep looks at in vain. A day unless given. */
  readonly periodMs?: number;
  /** Periods for which a row stays after the one that it was put for. None unless given. */
  readonly keepPeriods?: number;
  /**
   * Whether a row's time is over. Where rows are put again for a later period: those stay when the time of an earlier one is over.
   * Without it, it is.
   */
  readonly isOver?: (row: V) => boolean;
  /** In the act that removes a row: what goes with it. */
  readonly onRemove?: (key: readonly string[], row: V) => void;
}

export interface ExpiringTable<V> {
  /** Also a row whose time is over and that no sweep has met. */
  get(key: string[]): V | undefined;
  /** Only in an act. @param ms in the period for which it is put; wall clock */
  put(key: string[], row: V, ms: number): void;
  /** Only in an act. */
  remove(key: string[]): void;
  /**
   * Rows whose key is `group` and one more part, that part descending, strictly below `before`. Read lazily. Parts are
   * letters, digits and `_`.
   */
  members(group: readonly string[], before?: string): Iterable<V>;
  /** Only in an act: removes rows of a group, whatever their time. @returns whether more are left */
  removeMembers(group: readonly string[], most: number): boolean;
  /** Tells of each row that was put, once its act is committed; in a cell, of those of other cells too. */
  watch(put: (row: V) => void): void;
  /** Removes all rows whose time is over. */
  sweep(): Promise<void>;
  close(): void;
}

export function openExpiringTable<V>(options: ExpiringTableOptions<V>): ExpiringTable<V> {
  const { store, clock, periodMs = DAY_MS, keepPeriods = 0, onRemove, isOver, onFailure } = options;
  const rows = store.table<V>(options.rows);
  const periods = store.table<true>(options.periods);
  const periodOf = (ms: number): number => Math.floor(ms / periodMs);
  let closed = false;

  function remove(key: string[]): void {
    const row = onRemove === undefined ? undefined : rows.get(key);
    if (row !== undefined) onRemove?.(key, row);
    rows.remove(key);
  }

  async function sweep(): Promise<void> {
    const end = [periodOf(clock.now()) - keepPeriods];
    while (!closed) {
      const old = [...periods.range({ end, limit: SWEEP_ROWS })];
      if (old.length === 0) return;
      const act = () => {
        for (const { key } of old) {
          const [, ...rowKey] = key as [number, ...string[]];
          periods.remove(key);
          const row = isOver === undefined ? undefined : rows.get(rowKey);
          if (row === undefined || isOver?.(row) === true) remove(rowKey);
        }
      };
      await store.act(act, { isOwed: true });
    }
  }

  const isSteady = jumpWatch(clock);
  const timer = setInterval(() => {
    if (isSteady()) void sweep().catch(onFailure);
  }, SWEEP_MS).unref();
  const close = () => {
    closed = true;
    clearInterval(timer);
  };
  store.onClose(close);
  return {
    get: rows.get,
    put(key, row, ms) {
      rows.put(key, row);
      periods.put([periodOf(ms), ...key], true);
    },
    remove,
    *members(group, before = PAST_IDS) {
      for (const { key, value } of rows.range({ start: [...group, before], end: [...group], reverse: true }))
        if ((key as string[]).at(-1) !== before) yield value;
    },
    removeMembers(group, most) {
      const range = { start: [...group], end: [...group, PAST_IDS], limit: most + 1 };
      const keys = Array.from(rows.range(range), ({ key }) => key as string[]);
      for (const key of keys.slice(0, most)) remove(key);
      return keys.length > most;
    },
    watch(put) {
      rows.watch((_key, row) => row !== undefined && put(row));
    },
    sweep,
    close,
  };
}
