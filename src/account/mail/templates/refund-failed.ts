/** A refund failed: no money has moved, and its credit is there again. */
import { z } from "zod";
import { CURRENCIES, moneyText } from "../../../base/currency.ts";
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const refundFailed = mailTemplate({
  name: "refund_failed",
  event: "refund.failed",
  data: z.object({
    id: z.string(),
    topup_id: z.string(),
    currency: z.enum(CURRENCIES),
    total_minor: z.int(),
    credits_micro: z.int(),
    failure: z.string().default(""),
  }),
  compose: (
    { id, topup_id: topupId, currency, total_minor: minor, credits_micro: credits, failure },
    { orgName, usd },
  ) => ({
    subject: `A refund to ${orgName} failed`,
    parts: [
      text(`A refund of “${orgName}” could not be paid out. No money has moved.`),
      facts(
        ["Refund", id],
        ["Top-up", topupId],
        ["Amount", moneyText(minor, currency)],
        ["Reason", failure === "" ? "none was given" : failure],
      ),
      text(`Its credit of ${usd(credits)} is there again, and the refund can be asked for once more.`),
    ],
  }),
});
