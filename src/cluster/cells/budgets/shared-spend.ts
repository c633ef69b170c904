/** Spend of all cells, asked from the dataset for those who look at it: what is asked within some milliseconds goes together. */
import { fail } from "../../../base/errors.ts";
import { sliced } from "../../../base/lists.ts";
import type { PeriodSpend } from "../../../credits/budgets/budgets.ts";
import type { Lane } from "../exchange/exchange.ts";
import type { ScopeLeases } from "../leases/scope-leases.ts";

export interface SharedSpendOptions {
  /** A lane that only this part uses. */
  readonly lane: Pick<Lane, "send">;
  readonly scopes: Pick<ScopeLeases, "heard" | "monotonic" | "periodOf">;
}

interface HeldSpend extends PeriodSpend {
  /** What cells hold of a hard budget, as they said last; 0 of another one. */
  readonly heldMicroUsd: number;
}

interface Question {
  readonly scope: string;
  readonly timeZone: string;
  readonly resolve: (spend: HeldSpend) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_SCOPES = 1000;
/** Cells gather charges for some milliseconds: what was charged before somebody asked is in by then, where no cell is slow. */
const SETTLING_MS = 30;
/** Nobody waits longer for a Redis that does not answer. */
const WAIT_MS = 1000;
const VALUES = 3;
const READING_VALUES = 3;

export class SharedSpend {
  readonly #options: SharedSpendOptions;
  #asked: Question[] = [];

  constructor(options: SharedSpendOptions) {
    this.#options = options;
  }

  /** What was spent in the current day and month of the zone. @throws WeirError 503 where Redis does not answer in time */
  async of(scope: string, timeZone: string): Promise<PeriodSpend> {
    const { todayMicroUsd, monthMicroUsd } = await this.withHolds(scope, timeZone);
    return { todayMicroUsd, monthMicroUsd };
  }

  /** The same with what is held. */
  withHolds(scope: string, timeZone: string): Promise<HeldSpend> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setTimeout(() => this.#askAll(), SETTLING_MS);
      this.#asked.push({ scope, timeZone, resolve, reject });
    });
  }

  #askAll(): void {
    const asked = this.#asked;
    this.#asked = [];
    for (const questions of sliced(asked, MOST_SCOPES)) {
      const rejectAll = (error: unknown) => {
        for (const { reject } of questions) reject(error);
      };
      const timer = setTimeout(() => rejectAll(unavailable()), WAIT_MS);
      this.#ask(questions)
        .catch(rejectAll)
        .finally(() => clearTimeout(timer));
    }
  }

  async #ask(questions: readonly Question[]): Promise<void> {
    const { lane, scopes } = this.#options;
    const asked = questions.flatMap(({ scope, timeZone }) => {
      const { day, dayStartsMs, monthStartsMs } = scopes.periodOf(timeZone);
      return [scope, day, dayStartsMs, monthStartsMs];
    });
    const sentMs = scopes.monotonic();
    const [answer = []] = await lane.send([["spend", asked]]);
    const [redisMs = 0, shiftMs = 0, changes = 0] = answer.slice(-READING_VALUES).map(Number);
    scopes.heard({ redisMs, shiftMs, changes }, sentMs);
    for (const [index, { resolve }] of questions.entries()) {
      const [today, month, held] = answer.slice(index * VALUES, (index + 1) * VALUES).map(Number);
      resolve({ todayMicroUsd: today ?? 0, monthMicroUsd: month ?? 0, heldMicroUsd: held ?? 0 });
    }
  }
}

const unavailable = () =>
  fail("storage_unavailable", "The spend could not be looked up in time.", { retryAfterMs: 1000 });
