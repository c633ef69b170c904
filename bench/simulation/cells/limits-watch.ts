/** What must be true of limits: no key ever has more calls in flight, requests or tokens a minute than it may, over all cells. */
import { must } from "./broken.ts";
import type { Plan } from "./plan.ts";
import type { SimProcess } from "./process.ts";
import type { Server } from "./redis/server.ts";

interface Admitted {
  readonly askedMs: number;
  readonly tokens: number;
}

/** Redis counts whole milliseconds. */
const WINDOW_MS = 59_999;
const PREFIX = "{weir}:";

export class LimitsWatch {
  readonly #plan: Plan;
  readonly #nowMs: () => number;
  readonly #admitted = new Map<string, Admitted[]>();
  readonly #inFlight = new Map<string, SimProcess[]>();
  /** Redis's clock was set: windows are of its time. */
  isClockWrong = false;
  readonly counts = { admitted: 0 };

  constructor(plan: Plan, nowMs: () => number) {
    this.#plan = plan;
    this.#nowMs = nowMs;
  }

  /**
   * A call counts at some instant between its question and its answer, which is now: so no minute holds more calls that were asked and
   * answered in it than the limit, whether cells asked Redis for them or had leased them.
   */
  admitted(process: SimProcess, { keyId, limits }: Plan["crowded"], { askedMs, tokens }: Admitted): void {
    this.counts.admitted++;
    const { rpm, tpm, concurrency } = limits;
    const inFlight = [...(this.#inFlight.get(keyId) ?? []), process].filter(
      (owner) => !owner.isDead && !owner.isFenced,
    );
    this.#inFlight.set(keyId, inFlight);
    must(
      !concurrency || inFlight.length <= concurrency,
      () => `${keyId} has ${inFlight.length} calls of ${concurrency}`,
    );
    if (this.isClockWrong) return;
    const nowMs = this.#nowMs();
    const window = [...(this.#admitted.get(keyId) ?? []), { askedMs, tokens }].filter(
      (call) => call.askedMs > nowMs - WINDOW_MS,
    );
    this.#admitted.set(keyId, window);
    must(!rpm || window.length <= rpm, () => `${keyId} has ${window.length} requests of ${rpm} a minute`);
    const sum = window.reduce((all, one) => all + one.tokens, 0);
    must(!tpm || sum <= tpm, () => `${keyId} has ${sum} tokens of ${tpm} a minute`);
  }

  released(process: SimProcess, { keyId }: Plan["crowded"]): void {
    const inFlight = this.#inFlight.get(keyId) ?? [];
    const at = inFlight.indexOf(process);
    if (at >= 0) inFlight.splice(at, 1);
  }

  /** At idle nothing is set aside for anybody. */
  problemsAtIdle(server: Server): string | undefined {
    for (const { keyId } of [...this.#plan.keys, this.#plan.crowded]) {
      const all = server.database.hash(`${PREFIX}leased:${keyId}`);
      for (const [field, value] of all) {
        const [kind, cell, life] = field.split(":");
        const isLiving = server.database.hash(`${PREFIX}lives`).get(cell ?? "") === life;
        if (kind === "c" && isLiving) return `${keyId}: slots of ${field} are left: ${value}`;
        if (kind === "w" && isLiving) return `${keyId}: batches of ${field} are left: ${value}`;
      }
    }
    return undefined;
  }
}
