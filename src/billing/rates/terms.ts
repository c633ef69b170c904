/** On which terms credit is sold: minimums, fees of the payment gateways, spread. From `config/supplier.yaml`. */
import type { Currency } from "../../base/currency.ts";

export interface FeeItem {
  readonly method: string;
  /** Basis points of the total. */
  readonly bps: number;
  readonly fixed_minor?: number | undefined;
  readonly note?: string | undefined;
}

/** Fees of one payment gateway. They are for information: no total contains them. */
export interface Rail {
  readonly rail: string;
  readonly items: readonly FeeItem[];
}

export interface BillingTerms {
  readonly minimumsMinor: Readonly<Record<Currency, number>>;
  readonly rails: readonly Rail[];
  /** On top of the day's rate. */
  readonly spreadBps: number;
}

/** More is a mistake: a hundred million USD, and its credit is still an exact integer. */
export const MOST_MINOR = 10_000_000_000;
