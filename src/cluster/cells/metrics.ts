/** What `/metrics` says of a cell among others: how it stands to Redis, and what it asks of it. A gateway alone has none of it. */
import { BUCKETS_S } from "../../base/metrics/histogram.ts";
import { greatest, least, measured, type RoomMetrics } from "../../base/metrics/sources.ts";
import type { Cell } from "./cell.ts";

/** What the cell has set aside in Redis for calls to come and under way. */
interface Leased {
  readonly leased: () => { readonly orgs: number; readonly microUsd: number };
  readonly leasedSlots: () => number;
}

export const cellMetrics = (cell: Cell, { leased, leasedSlots }: Leased): RoomMetrics => ({
  gauges: {
    weir_cell_version: least("Version of the shared rows here.", () => cell.version()),
    weir_cell_lag_versions: greatest(
      "Versions of the shared rows that were committed and are not here yet.",
      () => cell.standing().lag,
    ),
    weir_cell_in_touch: least("1 while the cell hears of what other cells change.", () =>
      cell.standing().isInTouch ? 1 : 0,
    ),
    weir_cell_redis_connected: least("1 while the connections to Redis are up.", () =>
      cell.standing().isConnected ? 1 : 0,
    ),
    weir_cell_beat_age_seconds: greatest(
      "Since the latest sign of life that Redis answered.",
      () => cell.standing().beatAgeMs / 1000,
    ),
    weir_cell_acts_pending: measured(
      "Acts on shared rows that are not committed everywhere.",
      () => cell.counts().actsPending,
    ),
    weir_cell_leased_micro_usd: measured("Credit that the cell has leased.", () => leased().microUsd),
    weir_cell_leased_orgs: measured("Organisations of whose credit it has a lease.", () => leased().orgs),
    weir_cell_leased_slots: measured("Slots of keys' concurrency that it has, used or free.", leasedSlots),
  },
  counters: {
    weir_cell_exchange_failures_total: measured(
      "Tries of exchanges that had no good reply.",
      () => cell.counts().exchangeFailures,
    ),
    weir_cell_acts_total: {
      help: "Runs of acts on shared rows; a refused one runs again.",
      label: "outcome",
      read: () => {
        const { actsCommitted: committed, actsRefused: refused } = cell.counts();
        return { committed, refused };
      },
    },
  },
  histograms: {
    weir_cell_exchange_seconds: {
      help: "Exchanges with Redis, from the first sending to the reply.",
      bounds: BUCKETS_S,
      *read() {
        const { counts, sumS } = cell.counts().exchanges;
        yield { labels: {}, counts, sum: sumS };
      },
    },
  },
});
