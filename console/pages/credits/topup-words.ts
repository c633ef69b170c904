/** Words for top-ups, refunds and quotes. Pure. */
import type { Operations } from "../../api/operations.ts";

export type Topup = Operations["getTopup"]["answer"];
export type Refund = Operations["listRefunds"]["answer"]["data"][number];
export type Quote = Operations["quoteTopup"]["answer"];

/** As `Tone` of the parts. */
export const TOPUP_TONES = {
  pending: "warn",
  paid: "good",
  failed: "bad",
  expired: "plain",
  partially_refunded: "plain",
  refunded: "plain",
  disputed: "bad",
} as const satisfies Record<Topup["status"], string>;

export const REFUND_TONES = {
  pending: "warn",
  refunded: "good",
  failed: "bad",
} as const satisfies Record<Refund["status"], string>;

export const REFUND_STATES: Readonly<Record<Refund["status"], string>> = {
  pending: "on its way back",
  refunded: "refunded",
  failed: "failed: the credit is there again",
};

export const SOURCES: Readonly<Record<Topup["source"], string>> = {
  checkout: "Checkout",
  auto_topup: "Automatic",
  offline: "Wire or cheque",
};

export const statusWord = (status: string): string => status.replaceAll("_", " ");

const PARTS: Readonly<Record<Quote["parts"][number]["kind"], string>> = {
  credit: "Credit",
  spread: "Spread on the rate",
  fees: "Fees of the payment",
  cgst: "CGST",
  sgst: "SGST",
  igst: "IGST",
};

/** `IGST, 18 %`. */
export const partWord = ({ kind, bps }: Quote["parts"][number]): string =>
  bps === undefined ? PARTS[kind] : `${PARTS[kind]}, ${bps / 100} %`;

/** Parts of a quote that are worth a line: nothing that is nothing, but the credit. */
export const shownParts = ({ parts }: Quote): Quote["parts"] =>
  parts.filter(({ kind, minor }) => kind === "credit" || minor !== 0);

/** What of a top-up can still be refunded, before tax and in minor units; 0 where nothing can. */
export const refundableOf = ({ status, amount_minor, refunded_minor }: Topup): number =>
  status === "paid" || status === "partially_refunded" ? Math.max(0, amount_minor - refunded_minor) : 0;

/** Amounts that a form proposes, in minor units, from the least one on. */
export const proposals = (currency: string): readonly number[] =>
  currency === "INR" ? [100_000, 500_000, 2_500_000] : [1_000, 5_000, 25_000];

/** Addresses that a checkout may be at: what a gateway answers is followed only where it is a page. */
export const isPage = (url: string): boolean => /^https?:\/\//.test(url);
