/**
 * Random schedules: calls at eight cells that die, stop, lose the network and replies and have their clocks set, at one real Redis in
 * virtual time. A call counts at some instant between its question and its answer, so no minute holds more calls that were asked and
 * answered in it than the limit. A run is repeated with WEIR_SEED.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Random, seededRandom } from "../../../../../src/base/clock.ts";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";
import type { Admission, Refusal } from "../../../../../src/credits/limits/limits.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { type LimitsCell, type LimitsRig, openLimitsRig } from "./limits-rig.ts";

const missing = missingRedis();
const ROUNDS = process.env.WEIR_THOROUGH === undefined ? 2 : Number(process.env.WEIR_ROUNDS ?? 200);
const FIRST_SEED = Number(process.env.WEIR_SEED ?? 104);
const STEPS = 300;
/** Cells lease parts of large ones ahead (C3). */
const LIMITS = {
  small: { rpm: [0, 3, 40, 400], tpm: [0, 500, 20_000], concurrency: [0, 4, 30, 200], bursts: [1, 1, 3, 20] },
  large: { rpm: [0, 1000, 1500], tpm: [30_000, 60_000], concurrency: [0, 1000], bursts: [1, 3, 30, 120] },
};

interface Made {
  readonly askedMs: number;
  answeredMs: number;
  readonly tokens: number;
  /** Undefined while the call lasts. */
  endedMs: number | undefined;
  readonly cell: LimitsCell;
  readonly admission: Admission;
}

describe.skipIf(missing !== undefined)("random schedules", () => {
  let rig: LimitsRig;
  beforeAll(async () => {
    rig = await openLimitsRig();
  });
  afterAll(async () => await rig.close());

  const seeds = Array.from({ length: ROUNDS }, (_, i) => FIRST_SEED + i);
  test.each([
    ...seeds.map((seed) => ["small", seed] as const),
    ...seeds.map((seed) => ["large", seed] as const),
  ])("never exceed a limit that is %s: seed %i", async (size, seed) => {
    const run = new Run(rig, seed, LIMITS[size]);
    await run.begin();
    for (let step = 0; step < STEPS; step++) await run.step();
    run.check();
    await run.end();
  });
});

class Run {
  readonly #rig: LimitsRig;
  readonly #random: Random;
  readonly #seed: number;
  readonly #key: { keyId: string; limits: { rpm: number; tpm: number; concurrency: number } };
  readonly #bursts: readonly number[];
  #cells: LimitsCell[] = [];
  readonly #made: Made[] = [];

  constructor(rig: LimitsRig, seed: number, of: (typeof LIMITS)["small"]) {
    this.#rig = rig;
    this.#seed = seed;
    this.#random = seededRandom(seed);
    const limits = {
      rpm: this.#one(of.rpm),
      tpm: this.#one(of.tpm),
      concurrency: this.#one(of.concurrency),
    };
    this.#key = { keyId: `random-${seed}-${limits.tpm}`, limits };
    this.#bursts = of.bursts;
  }

  async begin(): Promise<void> {
    for (let i = 0; i < 8; i++) this.#cells.push(await this.#rig.cell(`${this.#key.keyId}-${i}`));
  }

  async step(): Promise<void> {
    const cell = this.#one(this.#cells);
    const what = this.#random();
    if (what < 0.5) this.#burst(cell, this.#one(this.#bursts));
    else if (what < 0.6) cell.delayMs = this.#one([0, 0, 5, 100, 300]);
    else if (what < 0.65) cell.isCut = !cell.isCut;
    else if (what < 0.7) cell.isPaused = !cell.isPaused;
    else if (what < 0.73) cell.wallAheadMs += this.#one([-600_000, -300, 300, 600_000]);
    else if (what < 0.76) await this.#restart(cell);
    else if (what < 0.78) cell.link.renew();
    else if (what < 0.8) cell.repliesToLose++;
    else this.#endSome();
    if (this.#random() < 0.2) await this.#rig.rest();
    else await this.#rig.pass(this.#one([1, 10, 50, 300, 300, 2000]), 500);
    this.#checkInFlight();
  }

  async end(): Promise<void> {
    for (const cell of this.#cells) {
      cell.isCut = false;
      cell.isPaused = false;
      cell.delayMs = 0;
    }
    // What still waits is answered first.
    await this.#rig.pass(2000, 500);
    for (const made of this.#made) if (made.endedMs === undefined) made.admission.release();
    await this.#rig.pass(70_000, 1000);
    // Nothing is held at idle, and there is room again at any cell.
    for (const [at, cell] of this.#cells.entries()) {
      expect(cell.limits.inFlight()).toBe(0);
      const answer = await this.#rig.admit(cell, this.#key);
      const isExhausted = at >= this.#key.limits.rpm && this.#key.limits.rpm > 0;
      expect(answer?.admitted ?? false, `seed ${this.#seed}, cell ${at}`).toBe(!isExhausted);
      if (answer?.admitted) answer.release();
      await this.#rig.pass(1000, 1000);
    }
    await this.#rig.pass(STALE_MS + 1000, 1000);
    expect(await this.#rig.link.call("EXISTS", `{weir}:leased:${this.#key.keyId}`)).toBe(0);
    for (const cell of this.#cells) cell.isDead = true;
  }

  check(): void {
    const { rpm, tpm } = this.#key.limits;
    if (process.env.WEIR_THOROUGH !== undefined)
      console.log(JSON.stringify({ seed: this.#seed, ...this.#key.limits, made: this.#made.length }));
    for (const { askedMs } of this.#made) {
      const within = this.#made.filter((m) => m.askedMs >= askedMs && m.answeredMs < askedMs + 60_000);
      const tokens = within.reduce((sum, m) => sum + m.tokens, 0);
      if (rpm !== 0)
        expect(within.length, `seed ${this.#seed}: requests from ${askedMs}`).toBeLessThanOrEqual(rpm);
      if (tpm !== 0) expect(tokens, `seed ${this.#seed}: tokens from ${askedMs}`).toBeLessThanOrEqual(tpm);
    }
  }

  #checkInFlight(): void {
    const { concurrency } = this.#key.limits;
    if (concurrency === 0) return;
    const inFlight = this.#made.filter(({ endedMs }) => endedMs === undefined).length;
    expect(inFlight, `seed ${this.#seed} at ${this.#rig.nowMs()}`).toBeLessThanOrEqual(concurrency);
  }

  #burst(cell: LimitsCell, calls: number): void {
    if (cell.isPaused) return;
    for (let i = 0; i < calls; i++) {
      const tokens = this.#one([0, 1, 10, 200]);
      const askedMs = this.#rig.nowMs();
      const take = (answer: Admission | Refusal) => {
        if (!answer.admitted || cell.isDead) return;
        const answeredMs = this.#rig.nowMs();
        this.#made.push({ askedMs, answeredMs, tokens, endedMs: undefined, cell, admission: answer });
      };
      try {
        const answer = cell.limits.admit(this.#key, tokens);
        if (answer instanceof Promise) answer.then(take, () => {});
        else take(answer);
      } catch {
        // 503: nothing is known of Redis.
      }
    }
  }

  #endSome(): void {
    const running = this.#made.filter((m) => m.endedMs === undefined && !m.cell.isPaused);
    for (const made of running) {
      if (this.#random() < 0.5) continue;
      made.endedMs = this.#rig.nowMs();
      made.admission.release();
    }
  }

  async #restart(cell: LimitsCell): Promise<void> {
    cell.isDead = true;
    for (const made of this.#made)
      if (made.cell === cell && made.endedMs === undefined) made.endedMs = this.#rig.nowMs();
    this.#cells[this.#cells.indexOf(cell)] = await this.#rig.cell(cell.name);
  }

  #one<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }
}
