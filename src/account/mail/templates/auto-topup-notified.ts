/** An automatic top-up is announced before the debit: what, how much, and how to stop it. */
import { z } from "zod";
import { CURRENCIES, moneyText } from "../../../base/currency.ts";
import { facts, link, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const autoTopupNotified = mailTemplate({
  name: "auto_topup_notified",
  isEssential: true,
  event: "auto_topup.notified",
  data: z.object({
    mandate_id: z.string(),
    currency: z.enum(CURRENCIES),
    amount_minor: z.int(),
    total_minor: z.int(),
    due_at: z.string(),
  }),
  compose({ mandate_id, currency, amount_minor, total_minor, due_at }, { orgName, time, consolePage }) {
    const total = moneyText(total_minor, currency);
    return {
      subject: `${total} will be debited for credit of ${orgName}`,
      parts: [
        text(
          `The credit of “${orgName}” fell below the amount at which you want it bought by itself. It will be debited from the bank or card that you allowed.`,
        ),
        facts(
          ["Amount", moneyText(amount_minor, currency)],
          ["Tax", moneyText(total_minor - amount_minor, currency)],
          ["Debited", total],
          ["Not before", time(due_at)],
          ["Reference", mandate_id],
        ),
        text(
          "There is nothing to do if that is right. To stop this debit, buy credit by hand or switch automatic top-ups off before that time; or refuse it at your bank.",
        ),
        link("Look at automatic top-ups", consolePage("billing", "auto")),
      ],
    };
  },
});
