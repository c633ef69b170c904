/** Currencies in which orgs pay. Amounts of them are integers in minor units: paise and cents. Credit itself is micro-USD. */
export const CURRENCIES = ["INR", "USD"] as const;
export type Currency = (typeof CURRENCIES)[number];

/** An amount with its currency, in minor units. */
export interface Amount {
  readonly currency: Currency;
  readonly minor: number;
}
