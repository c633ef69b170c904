/** On which terms credit is sold: minimums, fees of the payment gateways, spread. From `config/supplier.yaml`. */
import type { Currency } from "../../base/currency.ts";
import type { SupplierFile } from "../invoices/supplier.ts";

export interface BillingTerms {
  readonly minimumsMinor: Readonly<Record<Currency, number>>;
  /** Fees of the payment gateways, for information: no total contains them. */
  readonly rails: SupplierFile["rails"];
  /** On top of the day's rate. */
  readonly spreadBps: number;
}

/** More is a mistake: a hundred million USD, and its credit is still an exact integer. */
export const MOST_MINOR = 10_000_000_000;
