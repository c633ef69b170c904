/** A refund failed: no money has moved, and its credit is there again. */
import { z } from "zod";
import { CURRENCIES, moneyText } from "../../../base/currency.ts";
import { facts, link, text } from "../letter.ts";
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
    { orgName, usd, consolePage },
  ) => ({
    subject: `Refund of ${moneyText(minor, currency)} to ${orgName} failed`,
    parts: [
      text(`A refund of “${orgName}” could not be paid out. No money has moved.`),
      facts(
        ["Amount", moneyText(minor, currency)],
        ["Reason", failure === "" ? "none was given" : failure],
        ["Reference", id],
      ),
      text(`Its credit of ${usd(credits)} is there again, and the refund can be asked for once more.`),
      link("Look at the payment", consolePage("credits", "topups", topupId)),
    ],
  }),
});
