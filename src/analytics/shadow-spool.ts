/**
 * Carries shadow runs from their log into ClickHouse, one batch after the other; what fails is tried again until it is
 * acknowledged. A loop of its own: a table that cannot be written must not hold up the records of calls.
 */
import type { Clock } from "../clock.ts";
import { requestId } from "../ids.ts";
import type { ClickHouse, Target } from "./client.ts";
import { type Destination, deliver } from "./delivery.ts";
import { kept, rowsNotIn } from "./row-lookup.ts";
import type { ShadowLog } from "./shadow-log.ts";
import { type IdentifiedRun, identified, insertable, SHADOW_COLUMNS } from "./shadow-rows.ts";
import type { SpoolLog } from "./spool.ts";

/** As much of ClickHouse as a delivery needs. */
type Lookup = Pick<ClickHouse, "insert" | "rows" | "ended" | "synced">;

export interface ShadowSpoolDeps {
  readonly shadows: ShadowLog;
  readonly clickhouse: Lookup;
  readonly clock: Clock;
  readonly log: SpoolLog;
  /** How long a row waits for company. */
  readonly ageMs: number;
}

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 5000;
/** How often a reader looks whether its rows are in. */
const LOOK_MS = 10;

export class ShadowSpool {
  readonly #deps: ShadowSpoolDeps;
  readonly #running: Promise<void>;
  #stopping = false;
  /** Ends the rest under way. */
  #wake: (() => void) | undefined;
  /** The same for readers, who may not cut the wait after a failure short. */
  #hurry: (() => void) | undefined;
  #inserted = 0;
  #failures = 0;

  constructor(deps: ShadowSpoolDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  /** Resolves true once every row put before the call is in ClickHouse, false when that takes longer than `withinMs`. */
  async flush(withinMs: number): Promise<boolean> {
    const { shadows, clock } = this.#deps;
    const number = shadows.newest();
    const endMs = clock.monotonic() + withinMs;
    while (shadows.acknowledged() < number) {
      if (this.#stopping || clock.monotonic() >= endMs) return false;
      this.#hurry?.();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return true;
  }

  /** Ends after the batch under way, or without it when that takes long: it stays in the log for the next start. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    this.#wake?.();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([this.#running, late]);
    clearTimeout(timer);
  }

  counts(): { readonly inserted: number; readonly failures: number } {
    return { inserted: this.#inserted, failures: this.#failures };
  }

  async #run(): Promise<void> {
    const { shadows, log, ageMs } = this.#deps;
    let backoffMs = FIRST_BACKOFF_MS;
    await this.#rest(ageMs);
    while (!this.#stopping) {
      try {
        if (await this.#oneBatch()) continue;
        backoffMs = FIRST_BACKOFF_MS;
        await this.#rest(ageMs);
      } catch (error) {
        this.#failures++;
        const reason = String(error instanceof Error ? (error.cause ?? error) : error);
        const fields = { error: reason, backoffMs, rows: shadows.pending() };
        log.warn(fields, "shadow runs cannot be written to analytics; they wait");
        await this.#rest(backoffMs, false);
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
      }
    }
  }

  /** @returns false when nothing waits. */
  async #oneBatch(): Promise<boolean> {
    const { shadows, clickhouse, clock, log } = this.#deps;
    const next = await shadows.nextBatch(() => `weir-shadows-${requestId(clock.now())}`);
    if (next === undefined) return false;
    const { batch, isNew } = next;
    const runs = identified(shadows.rows(batch));
    const damaged = runs.damaged;
    if (damaged > 0) log.warn({ rows: damaged }, "rows of shadow runs cannot be read; left out");
    const destinations = [shadowRuns(clickhouse, runs.rows, clock)];
    // A batch is new once: one that comes a second time was not acknowledged, so it may be in or not.
    await deliver(clickhouse, { token: batch.token, isDoubtful: !isNew, destinations });
    await shadows.acknowledge(batch);
    this.#inserted += runs.rows.length;
    return true;
  }

  /** Until the time is over or the spool is stopped; where readers may hurry it, also until one asks. */
  async #rest(ms: number, mayHurry = true): Promise<void> {
    if (this.#stopping) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#hurry = mayHurry ? this.#wake : undefined;
    });
    this.#wake = undefined;
    this.#hurry = undefined;
  }
}

function shadowRuns(clickhouse: Lookup, rows: readonly IdentifiedRun[], clock: Clock): Destination {
  const insert = async (these: readonly IdentifiedRun[], target: Target) => {
    // Of a batch that waited for long, all rows may have given way to newer ones.
    if (these.length > 0) {
      await clickhouse.insert("shadow_runs", SHADOW_COLUMNS, [insertable(these)], target);
    }
    return these.length > 0;
  };
  return {
    table: "shadow_runs",
    insert: async (target) => void (await insert(rows, target)),
    async missing() {
      const lost = await rowsNotIn(clickhouse, "shadow_runs", "shadow_request_id", kept(rows, clock.now()));
      return lost.length === 0 ? undefined : (target) => insert(lost, target);
    },
  };
}
