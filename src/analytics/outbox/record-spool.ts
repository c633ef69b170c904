/** Inserts records from the outbox into ClickHouse. A batch is separated by table once and is tried until it is inserted. */
import type { ClickHouse } from "../clickhouse/client.ts";
import { dropped, type LaidOut, layOut } from "./batch.ts";
import type { BatchBounds, BatchRows } from "./batch-queue.ts";
import { deliver } from "./delivery.ts";
import { recordDestinations } from "./destinations.ts";
import type { Finisher } from "./finisher.ts";
import type { Outbox } from "./outbox.ts";
import { Spool, type SpoolOptions } from "./spool.ts";

export interface RecordSpoolDeps extends Pick<SpoolOptions, "clock" | "log" | "ageMs" | "fewAgeMs"> {
  readonly outbox: Outbox;
  readonly clickhouse: ClickHouse;
  readonly finisher: Finisher;
}

export interface RecordSpoolMetrics {
  /** Pending rows of the outbox. */
  readonly outboxRows: number;
  readonly insertedRows: number;
  readonly insertFailures: number;
  /** Rows inserted without their payload because it could not be redacted. */
  readonly payloadsLost: number;
  /** Rows that could not be decoded and were moved to a table of their own. */
  readonly rowsSetApart: number;
}

export interface RecordSpool extends Pick<Spool, "flush" | "stop" | "hold"> {
  metrics(): RecordSpoolMetrics;
}

/**
 * A batch is inserted at once when half of these rows wait: an insertion costs the engine 60 ms, and each row 6 µs more. Rows wait in the journal
 * until as many wait as `LOGS_KEPT` of the store says; then the oldest are moved to LMDB, which costs more. With batches of twice the size, a
 * batch under way and the rows that come meanwhile would exceed that amount.
 */
const BOUNDS: BatchBounds = { rows: 20_000, bytes: 36 * 1024 * 1024 };

/** Runs until it is stopped. */
export function startRecordSpool(deps: RecordSpoolDeps): RecordSpool {
  const { outbox, clickhouse, finisher, clock, log } = deps;
  let payloadsLost = 0;
  let rowsSetApart = 0;
  /** The batch that was tried last and is not inserted yet: another try looks up its rows, and lays out those alone that are missing. */
  let pending: { readonly token: string; readonly laidOut: LaidOut } | undefined;

  async function laidOutOf({ batch, passing }: BatchRows): Promise<LaidOut> {
    const mark = { run: batch.run, number: batch.number, isRepaired: false };
    const laidOut = await layOut(passing(), { stage: clickhouse.stage, finisher, mark });
    const { damaged } = laidOut;
    if (damaged.length > 0) {
      await outbox.setApart(batch, damaged).catch(async (error: unknown) => {
        await dropped(laidOut);
        throw error;
      });
      rowsSetApart += damaged.length;
      log.warn({ rows: damaged.length }, "outbox rows cannot be decoded; set apart");
    }
    payloadsLost += laidOut.payloadsLost;
    return laidOut;
  }

  async function insertBatch(batch: BatchRows): Promise<number> {
    const { token } = batch.batch;
    const laidOut = pending?.token === token ? pending.laidOut : await laidOutOf(batch);
    pending = { token, laidOut };
    const destinations = recordDestinations({ clickhouse, finisher, clock, batch, laidOut });
    try {
      await deliver(clickhouse, { token, isDoubtful: !batch.isNew, destinations });
    } finally {
      // Also after a failure: it holds payloads, and nothing reads it again.
      await dropped(laidOut);
    }
    pending = undefined;
    return laidOut.requests.rows;
  }

  const of = { queue: outbox, bounds: BOUNDS, tokenPrefix: "weir", what: "records" };
  const spool = new Spool({ ...deps, ...of, insertBatch });
  spool.start();
  return {
    flush: (withinMs, options) => spool.flush(withinMs, options),
    stop: (withinMs) => spool.stop(withinMs),
    hold: (withinMs) => spool.hold(withinMs),
    metrics() {
      const { rows, failures } = spool.counts();
      const outboxRows = outbox.pending();
      return { outboxRows, insertedRows: rows, insertFailures: failures, payloadsLost, rowsSetApart };
    },
  };
}
