/** What becomes of an org's credit when the org is closed: as the event and the mail of it tell. */
import { z } from "zod";
import { CURRENCIES, type Currency } from "../base/currency.ts";

/** An org's credit at a moment. */
export interface CreditLeft {
  /** Paid, and neither spent nor held for calls that run; micro-USD. */
  readonly paidMicroUsd: number;
  /** Left of grants; micro-USD. */
  readonly grantedMicroUsd: number;
  /** Refunds that their payment gateways have not settled yet, the newest first; a hundred are looked at. */
  readonly refunds: readonly PendingRefund[];
}

export interface PendingRefund {
  readonly id: string;
  readonly currency: Currency;
  /** With its tax. */
  readonly totalMinor: number;
}

/** Who closed it, and what they asked for. */
export interface Closing {
  readonly by: "owner" | "erasure";
  /** Id of the ticket that asks the operator for the refund; empty where the closing opened none. */
  readonly ticketId: string;
  readonly refundRequested: boolean;
}

export const closingShape = z.object({
  by: z.enum(["owner", "erasure"]).describe("An owner closed it, or an erasure that was due"),
  refund_requested: z.boolean().describe("A refund of paid credit was asked for"),
  ticket_id: z.string().optional().describe("The request to the operator"),
  paid_micro: z.int().describe("Paid credit that was neither spent nor held, micro-USD: it can be refunded"),
  granted_micro: z.int().describe("What was left of granted credit, micro-USD: it cannot be refunded"),
  refunds: z
    .array(
      z.object({
        id: z.string().describe("The refund, `rfd_…`"),
        currency: z.enum(CURRENCIES).describe("Of the payment that it goes back to"),
        total_minor: z.int().describe("What goes back: amount and tax, in paise or cents"),
      }),
    )
    .describe("Refunds under way, asked for before"),
});

export const closingWire = (
  { by, ticketId, refundRequested }: Closing,
  { paidMicroUsd, grantedMicroUsd, refunds }: CreditLeft,
): z.input<typeof closingShape> => ({
  by,
  refund_requested: refundRequested,
  ...(ticketId !== "" && { ticket_id: ticketId }),
  paid_micro: paidMicroUsd,
  granted_micro: grantedMicroUsd,
  refunds: refunds.map(({ id, currency, totalMinor }) => ({ id, currency, total_minor: totalMinor })),
});
