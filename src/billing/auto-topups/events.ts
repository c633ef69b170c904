/** Events of automatic top-ups. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import { eventType } from "../../store/events/types.ts";
import { topupShape } from "../topups/topup.ts";

const debit = z.object({
  mandate_id: z.string().describe("The mandate that is debited."),
  org_id: field.orgId,
  currency: field.currency,
  amount_minor: z.int().describe("Before tax, in paise or cents"),
  total_minor: z.int().describe("What is debited: amount and tax"),
});

export const autoTopupNotified = eventType(
  "auto_topup.notified",
  debit.extend({ due_at: z.string().describe("Not debited before this") }),
);

export const autoTopupCharged = eventType(
  "auto_topup.charged",
  topupShape.extend({ mandate_id: z.string().describe("The mandate that is debited.") }),
);

export const autoTopupFailed = eventType(
  "auto_topup.failed",
  debit.extend({
    topup_id: z.string().optional().describe("Absent where no debit was tried"),
    failure: z.string().describe("Why, as the payment gateway says"),
    consecutive_failures: z.int().describe("Debits that failed since the last one that did not"),
    retry_at: z.string().optional().describe("No other debit before this; absent where none will be tried"),
  }),
);
