/** A report of reconciliation in words. Pure. */
import type { Operations } from "../../../api/operations.ts";
import type { Tone } from "../../../parts/tone.ts";

export type Report = Operations["operatorGetReconciliation"]["answer"];
export type Finding = Report["findings"][number];

const TOTALS: Readonly<Record<keyof Report["totals"], string>> = {
  gateway_payments: "Payments, as payment gateways say",
  topups: "Top-ups in the books",
  gateway_refunds: "Refunds, as payment gateways say",
  refunds: "Refunds in the books",
  gateway_disputes: "Disputes, as payment gateways say",
  gateway_settlements: "Paid out by payment gateways, of any day",
  invoices: "Invoices issued",
  credit_notes: "Credit notes issued",
};

export interface TotalRow {
  readonly name: string;
  readonly currency: string;
  readonly count: number;
  readonly amount: number;
  readonly fee: number;
}

/** What the payment gateways say beside what is in the books; what has no entry is left out. */
export const totalRows = ({ totals }: Pick<Report, "totals">): readonly TotalRow[] =>
  (Object.keys(TOTALS) as (keyof Report["totals"])[]).flatMap((name) =>
    totals[name].map(({ currency, count, amount_minor: amount, fee_minor: fee }) => ({
      name: TOTALS[name],
      currency,
      count,
      amount,
      fee,
    })),
  );

export const STATES: Readonly<Record<Finding["state"], readonly [Tone, string]>> = {
  open: ["bad", "open"],
  healed: ["good", "healed"],
  parked: ["warn", "to look at"],
};

/** How a finding is marked: what only informs needs nobody, whatever its state. */
export const markOf = ({ level, state }: Finding): readonly [Tone, string] =>
  level === "info" ? ["plain", "to know"] : STATES[state];

/** The day before, by the calendar of India: the newest that is over. */
export const yesterdayInIndia = (nowMs: number): string => {
  const india = new Date(nowMs + 5.5 * 3_600_000 - 86_400_000);
  return india.toISOString().slice(0, 10);
};
