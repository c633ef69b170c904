/** Inserts records from the outbox into ClickHouse. A batch is separated by table once and is tried until it is inserted. */
import type { ClickHouse } from "../clickhouse/client.ts";
import { BatchWriters, type LaidOut, layOut } from "./batch.ts";
import type { BatchBounds, BatchRows } from "./batch-queue.ts";
import { deliver } from "./delivery.ts";
import { recordDestinations } from "./destinations.ts";
import type { Finisher } from "./finisher.ts";
import type { Outbox } from "./outbox.ts";
import { Spool, type SpoolOptions } from "./spool.ts";

export interface RecordSpoolDeps extends Pick<SpoolOptions, "clock" | "log" | "ageMs"> {
  readonly outbox: Outbox;
  readonly clickhouse: ClickHouse;
  readonly finisher: Finisher;
}

export interface RecordSpoolMetrics {
  /** Pending rows of the outbox. */
  readonly outboxRows: number;
  readonly insertedRows: number;
  readonly insertedBatches: number;
  readonly insertFailures: number;
  /** Rows inserted without their payload because it could not be redacted. */
  readonly payloadsLost: number;
  /** Rows that could not be decoded and were moved to a table of their own. */
  readonly rowsSetApart: number;
}

export interface RecordSpool extends Pick<Spool, "flush" | "stop" | "hold"> {
  metrics(): RecordSpoolMetrics;
}

const BOUNDS: BatchBounds = { rows: 10_000, bytes: 16 * 1024 * 1024 };

/** Runs until it is stopped. */
export function startRecordSpool(deps: RecordSpoolDeps): RecordSpool {
  const { outbox } = deps;
  const inserter = new RecordInserter(deps);
  const spool = new Spool({
    ...deps,
    queue: outbox,
    bounds: BOUNDS,
    tokenPrefix: "weir",
    what: "records",
    insertBatch: (batch) => inserter.insertBatch(batch),
  });
  spool.start();
  return {
    flush: (withinMs, options) => spool.flush(withinMs, options),
    stop: (withinMs) => spool.stop(withinMs),
    hold: (withinMs) => spool.hold(withinMs),
    metrics() {
      const { rows, batches, failures } = spool.counts();
      return {
        outboxRows: outbox.pending(),
        insertedRows: rows,
        insertedBatches: batches,
        insertFailures: failures,
        payloadsLost: inserter.payloadsLost,
        rowsSetApart: inserter.rowsSetApart,
      };
    },
  };
}

class RecordInserter {
  payloadsLost = 0;
  rowsSetApart = 0;
  readonly #deps: RecordSpoolDeps;
  readonly #writers = new BatchWriters();
  /** Rows of the batch that was tried last and is not inserted yet, kept because redaction takes long. */
  #pendingLayout: { readonly token: string; readonly laidOut: LaidOut } | undefined;

  constructor(deps: RecordSpoolDeps) {
    this.#deps = deps;
  }

  async insertBatch(batch: BatchRows): Promise<number> {
    const { clickhouse, finisher, clock } = this.#deps;
    const { token } = batch.batch;
    const laidOut =
      this.#pendingLayout?.token === token ? this.#pendingLayout.laidOut : await this.#layOut(batch);
    this.#pendingLayout = { token, laidOut };
    const destinations = recordDestinations({ clickhouse, finisher, clock, batch, laidOut });
    await deliver(clickhouse, { token, isDoubtful: !batch.isNew, destinations });
    this.#pendingLayout = undefined;
    return laidOut.requests.rows;
  }

  async #layOut({ batch, rows }: BatchRows): Promise<LaidOut> {
    const { outbox, finisher, log } = this.#deps;
    const mark = { run: batch.run, number: batch.number, isRepaired: false };
    const laidOut = await layOut(rows, this.#writers, finisher, mark);
    const { damaged, payloadsLost } = laidOut;
    if (damaged.length > 0) {
      await outbox.setApart(batch, damaged);
      this.rowsSetApart += damaged.length;
      log.warn({ rows: damaged.length }, "outbox rows cannot be decoded; set apart");
    }
    this.payloadsLost += payloadsLost;
    return laidOut;
  }
}
