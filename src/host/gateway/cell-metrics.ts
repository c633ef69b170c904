/** What `/metrics` says of a cell among others: how it stands to Redis, and what it asks of it. A gateway alone has none of it. */

import { BUCKETS_S } from "../../base/histogram.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import type { MetricSources } from "../../edge/metrics.ts";
import type { Rooms } from "./rooms.ts";

const read = (help: string, value: () => number) => ({ help, read: value });
/** Gauges of which, over several cells, the one that stands worst counts. */
const most = (help: string, value: () => number) => ({ help, over: "max" as const, read: value });
const least = (help: string, value: () => number) => ({ help, over: "min" as const, read: value });

export const cellGauges = (cell: Cell | undefined): MetricSources["gauges"] =>
  cell === undefined
    ? {}
    : {
        weir_cell_version: least("Version of the shared rows here.", () => cell.version()),
        weir_cell_lag_versions: most(
          "Versions of the shared rows that were committed and are not here yet.",
          () => cell.standing().lag,
        ),
        weir_cell_in_touch: least("1 while the cell hears of what other cells change.", () =>
          cell.standing().isInTouch ? 1 : 0,
        ),
        weir_cell_redis_connected: least("1 while the connections to Redis are up.", () =>
          cell.standing().isConnected ? 1 : 0,
        ),
        weir_cell_beat_age_seconds: most(
          "Since the latest sign of life that Redis answered.",
          () => cell.standing().beatAgeMs / 1000,
        ),
        weir_cell_acts_pending: read(
          "Acts on shared rows that are not committed everywhere.",
          () => cell.counts().actsPending,
        ),
      };

export const cellCounters = (cell: Cell | undefined): MetricSources["counters"] =>
  cell === undefined
    ? {}
    : {
        weir_cell_exchange_failures_total: read(
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
      };

export const cellHistograms = (cell: Cell | undefined): MetricSources["histograms"] =>
  cell === undefined
    ? {}
    : {
        weir_cell_exchange_seconds: {
          help: "Exchanges with Redis, from the first sending to the reply.",
          bounds: BUCKETS_S,
          *read() {
            const { counts, sumS } = cell.counts().exchanges;
            yield { labels: {}, counts, sum: sumS };
          },
        },
      };

/** What the cell has set aside in Redis for calls to come and under way. */
export const leaseGauges = ({
  cell,
  leased,
  leasedSlots,
}: Pick<Rooms, "cell" | "leased" | "leasedSlots">): MetricSources["gauges"] =>
  cell === undefined
    ? {}
    : {
        weir_cell_leased_micro_usd: read("Credit that the cell has leased.", () => leased().microUsd),
        weir_cell_leased_orgs: read("Organisations of whose credit it has a lease.", () => leased().orgs),
        weir_cell_leased_slots: read("Slots of keys' concurrency that it has, used or free.", leasedSlots),
      };
