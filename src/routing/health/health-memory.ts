/**
 * Saves health so that it survives a restart: changes are saved every few seconds and at the stop, and read before the
 * first call. Time spent stopped counts: observations decay and cool-downs run out. Kill -9 loses the last interval.
 */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Health, HealthSnapshot } from "./health.ts";

/** As saved: durations as of `atMs`, wall time in milliseconds since 1970. */
export interface SavedHealth extends HealthSnapshot {
  readonly atMs: number;
}

/** Endpoint id → its row; undefined: the row is obsolete and is removed. */
export type HealthRow = readonly [endpointId: string, saved: SavedHealth | undefined];

export interface HealthRows {
  /** Every row; any earlier version of the gateway may have written it. */
  load(): Iterable<readonly [endpointId: string, saved: unknown]>;
  /** Resolves once all are durable; of a row saved twice the later one counts. */
  save(rows: readonly HealthRow[]): Promise<void>;
}

export interface HealthMemoryOptions {
  readonly health: Health;
  readonly rows: HealthRows;
  readonly clock: Clock;
  /** Called for every failed save; its rows are saved with the next. */
  readonly onFailure: (error: unknown) => void;
  readonly everyMs?: number;
}

const SAVE_EVERY_MS = 5_000;
/** Puts block the event loop until the commit; this many take about a millisecond. */
const BATCH = 500;
/** Older rows are dropped: every half-life and every cool-down is far shorter. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000;

const durationMs = z.number().min(0);
/** A lane of a snapshot, as another process wrote it. */
export const writtenLane = z.object({
  keyId: z.string(),
  hint: z.string(),
  streak: z.int().min(0),
  outForMs: durationMs,
  askedForMs: durationMs.optional(),
  refusedForMs: durationMs.optional(),
});
const faded = z.tuple([z.number().min(0), z.number(), durationMs]);
const savedHealth = z.object({
  atMs: z.number(),
  errors: faded,
  ttft: faded,
  whole: faded,
  speed: faded,
  troubles: z.int().min(0),
  troubleForMs: durationMs,
  lanes: z.array(writtenLane),
});

export class HealthMemory {
  readonly #options: HealthMemoryOptions;
  /** Ids of rows to remove with the next save. */
  #stale = new Set<string>();
  #saves: Promise<void> = Promise.resolve();
  #saving = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HealthMemoryOptions) {
    this.#options = options;
  }

  /** Once, before the first call: restores what was saved, then saves at intervals. */
  start(): void {
    this.#restore();
    const { everyMs = SAVE_EVERY_MS } = this.#options;
    this.#timer = setInterval(() => {
      // No further save starts while one hangs, for instance on a full disk.
      if (!this.#saving) void this.flush();
    }, everyMs).unref();
  }

  /** Resolves once everything observed before the call is saved, or could not be. Never rejects. */
  flush(): Promise<void> {
    this.#saves = this.#saves.then(() => this.#save());
    return this.#saves;
  }

  /** Call before the store closes. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  #restore(): void {
    const { health, rows, clock } = this.#options;
    for (const [endpointId, value] of rows.load()) {
      const read = savedHealth.safeParse(value);
      // The wall clock may have been set back meanwhile.
      const elapsedMs = read.success ? Math.max(clock.now() - read.data.atMs, 0) : Number.POSITIVE_INFINITY;
      if (read.success && elapsedMs <= FORGOTTEN_AFTER_MS) {
        health.restore(endpointId, later(read.data, elapsedMs));
      } else {
        this.#stale.add(endpointId);
      }
    }
  }

  async #save(): Promise<void> {
    const { health, rows, clock, onFailure } = this.#options;
    const changed = health.takeChanged();
    const stale = this.#stale;
    if (changed.size === 0 && stale.size === 0) return;
    this.#stale = new Set();
    this.#saving = true;
    // An endpoint whose stale row was dropped and that is observed again has a snapshot: its row is put, not removed.
    const ids = [...new Set([...stale, ...changed])];
    try {
      for (let from = 0; from < ids.length; from += BATCH) {
        const batch = ids.slice(from, from + BATCH).map((id): HealthRow => {
          const snapshot = health.snapshot(id);
          return [id, snapshot && { ...snapshot, atMs: clock.now() }];
        });
        await rows.save(batch);
      }
    } catch (error) {
      health.markChanged(changed);
      for (const id of stale) this.#stale.add(id);
      onFailure(error);
    } finally {
      this.#saving = false;
    }
  }
}

/** Ages the saved health by the elapsed time. */
function later(
  { errors, ttft, whole, speed, troubles, troubleForMs, lanes }: z.output<typeof savedHealth>,
  elapsedMs: number,
): HealthSnapshot {
  const aged = ([weight, sum, ageMs]: z.output<typeof faded>) => [weight, sum, ageMs + elapsedMs] as const;
  return {
    errors: aged(errors),
    ttft: aged(ttft),
    whole: aged(whole),
    speed: aged(speed),
    troubles,
    troubleForMs: Math.max(troubleForMs - elapsedMs, 0),
    lanes: lanes.map(({ outForMs, askedForMs, refusedForMs, ...lane }) => ({
      ...lane,
      outForMs: Math.max(outForMs - elapsedMs, 0),
      ...(askedForMs !== undefined && { askedForMs: Math.max(askedForMs - elapsedMs, 0) }),
      ...(refusedForMs !== undefined && { refusedForMs: Math.max(refusedForMs - elapsedMs, 0) }),
    })),
  };
}
