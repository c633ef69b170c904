/** An automatic top-up failed: why, and whether it is tried again. */
import { z } from "zod";
import { CURRENCIES, moneyText } from "../../../base/currency.ts";
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const autoTopupFailed = mailTemplate({
  name: "auto_topup_failed",
  isEssential: true,
  event: "auto_topup.failed",
  data: z.object({
    mandate_id: z.string(),
    currency: z.enum(CURRENCIES),
    total_minor: z.int(),
    failure: z.string(),
    retry_at: z.string().default(""),
  }),
  compose: ({ mandate_id, currency, total_minor, failure, retry_at }, { orgName, time }) => ({
    subject: `An automatic top-up of ${orgName} failed`,
    parts: [
      text(`The credit of “${orgName}” could not be topped up from its mandate.`),
      facts(
        ["Debit", moneyText(total_minor, currency)],
        ["Reason", failure === "" ? "none was given" : failure],
        ["Mandate", mandate_id],
      ),
      text(
        retry_at === ""
          ? "It is not tried again. When this is mended, switch automatic top-ups on again; until then, top up by hand."
          : `It is tried again, not before ${time(retry_at)}.`,
      ),
      text("When the credit is used up, calls are refused until credit is added."),
    ],
  }),
});
