/** An automatic top-up failed: why, and whether it is tried again. */
import { z } from "zod";
import { CURRENCIES, moneyText } from "../../../base/currency.ts";
import { facts, link, text } from "../letter.ts";
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
  compose: ({ mandate_id, currency, total_minor, failure, retry_at }, { orgName, time, consolePage }) => ({
    subject: `Automatic top-up of ${moneyText(total_minor, currency)} failed for ${orgName}`,
    parts: [
      text(
        `Credit for “${orgName}” could not be bought by itself: the debit from your bank or card did not go through, and nothing was charged.`,
      ),
      facts(
        ["Debit", moneyText(total_minor, currency)],
        ["Reason", failure === "" ? "none was given" : failure],
        ["Reference", mandate_id],
      ),
      text(
        retry_at === ""
          ? "It is not tried again. Mend what the bank or card says, then switch automatic top-ups on again; until then, buy credit by hand."
          : `It is tried again, not before ${time(retry_at)}.`,
      ),
      text("When the credit is used up, calls are refused until credit is added."),
      link("Look at automatic top-ups", consolePage("billing", "auto")),
    ],
  }),
});
