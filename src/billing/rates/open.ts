/** Opens rates of exchange and the terms of sale: rates of a file, or read once a day by a job. */
import type { Clock } from "../../base/clock.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { SupplierFile } from "../invoices/supplier.ts";
import type { ListedRates } from "./fx-config.ts";
import { beginToReadFx, fxReader, readFx } from "./fx-source.ts";
import { FxTable } from "./fx-table.ts";
import type { BillingTerms } from "./terms.ts";

export interface RateSettings {
  /** Rates of `fx.yaml`. */
  readonly rates: ListedRates;
  /** Where the day's rate is read. Undefined: nowhere. */
  readonly fxUrl: string | undefined;
  /** Undefined: nothing is sold. */
  readonly supplier: SupplierFile | undefined;
}

export interface RatePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
}

export interface OpenRates {
  readonly fx: FxTable;
  readonly terms: BillingTerms;
  /** Once sales are open, and before jobs start: puts the job that reads rates, where `FX_URL` says from where. */
  begin(): Promise<void>;
}

/** Call before jobs start. */
export function openRates(
  { rates, fxUrl: url, supplier }: RateSettings,
  { store, clock, jobs }: RatePorts,
): OpenRates {
  const fx = new FxTable({ store, clock, ...rates });
  if (url !== undefined) jobs.handle(readFx, fxReader({ fx, clock, jobs, url }));
  return {
    fx,
    terms: termsOf(supplier),
    async begin() {
      if (url !== undefined) await store.act(() => beginToReadFx(jobs));
    },
  };
}

/** Without a supplier nothing is sold; these are only shown. */
const termsOf = (supplier: SupplierFile | undefined): BillingTerms => ({
  minimumsMinor: supplier?.minimums_minor ?? { INR: 10_000, USD: 500 },
  rails: supplier?.rails ?? [],
  spreadBps: supplier?.fx.spread_bps ?? 0,
});
