/** A line of what a call cost, as answers, records and receipts have it. */
export interface CostLine {
  readonly kind: string;
  readonly units: number;
  /** Nano-USD a unit. */
  readonly unit_price_nano: number;
  readonly micro_usd: number;
  readonly tool?: string | undefined;
  readonly tier?: string | undefined;
}
