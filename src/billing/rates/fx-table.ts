/**
 * The dated table of rates: what 1 USD costs in INR, one rate a day. Filled from `FX_URL` once a day where it is set, else from
 * `config/fx.yaml`. A quote in INR needs a rate of at most four days; older ones stop quotes instead of selling at a wrong price.
 */

import { type Clock, isoTime } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Store, Table } from "../../store/store.ts";
import { SUPPLIERS_RATE } from "../invoices/amount.ts";
import type { InvoiceRate } from "../invoices/invoice.ts";
import { rateOf, rateText } from "./rate.ts";

/** A rate of a day in UTC. */
export type DayRate = Pick<InvoiceRate, "usdInr" | "day" | "source">;

export interface FxOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Rates of `config/fx.yaml`. */
  readonly listed: readonly DayRate[];
  /** A rate that is right on any day: for trying out. Empty where there is none. */
  readonly always: string;
}

const MOST_AGE_DAYS = 4;

export const dayOf = (ms: number): string => isoTime(ms).slice(0, 10);

export class FxTable {
  readonly #options: FxOptions;
  /** [day] → rate that was read for it. */
  readonly #rows: Table<DayRate>;

  constructor(options: FxOptions) {
    this.#options = options;
    this.#rows = options.store.table("billing.fx_rates");
  }

  /** The newest rate that is not of the future. @throws WeirError 503 `fx_stale` */
  today(): DayRate {
    const current = this.#current();
    if (current !== undefined) return current;
    const newest = this.lastDated();
    const found =
      newest === undefined ? "There is no exchange rate." : `The exchange rate is of ${newest.day}.`;
    throw fail("fx_stale", `${found} Amounts in INR are quoted again when there is one of the last days.`);
  }

  /** The rate at which a balance is displayed: the one that a quote has now, or the newest rate where all are too old for quotes. */
  shown(): DayRate | undefined {
    return this.#current() ?? this.lastDated();
  }

  #current(): DayRate | undefined {
    const nowMs = this.#options.clock.now();
    const newest = this.#dated(dayOf(nowMs));
    const isOfLastDays =
      newest !== undefined && nowMs - Date.parse(newest.day) < (MOST_AGE_DAYS + 1) * DAY_MS;
    return isOfLastDays ? newest : this.#always(nowMs);
  }

  /** The newest of all, however old: by which exports are valued. */
  newest(): DayRate | undefined {
    return this.lastDated() ?? this.#always(this.#options.clock.now());
  }

  /** The newest that was read or listed for a day. */
  lastDated(): DayRate | undefined {
    return this.#dated(dayOf(this.#options.clock.now()));
  }

  /** Only in an act. @throws Error where it is no rate */
  put({ usdInr, day, source }: DayRate): void {
    const rate = rateOf(usdInr);
    if (rate === undefined) throw new Error(`${usdInr} is no rate`);
    this.#rows.put([day], { usdInr: rateText(rate), day, source });
  }

  #always(nowMs: number): DayRate | undefined {
    const { always } = this.#options;
    return always === "" ? undefined : { usdInr: always, day: dayOf(nowMs), source: SUPPLIERS_RATE };
  }

  /** The rate of the newer day from the two sources; where both have that day, the one that was read. */
  #dated(today: string): DayRate | undefined {
    let found: DayRate | undefined;
    for (const { value } of this.#rows.range({ start: [today, ""], reverse: true, limit: 1 })) found = value;
    for (const rate of this.#options.listed) {
      if (rate.day <= today && (found === undefined || rate.day > found.day)) found = rate;
    }
    return found;
  }
}
