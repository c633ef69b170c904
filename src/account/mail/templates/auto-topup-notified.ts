/** An automatic top-up is announced before the debit: what, how much, and how to stop it. */
import { z } from "zod";
import { CURRENCIES, moneyText } from "../../../base/currency.ts";
import { facts, text } from "../letter.ts";
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
  compose({ mandate_id, currency, amount_minor, total_minor, due_at }, { orgName, time }) {
    const total = moneyText(total_minor, currency);
    return {
      subject: `${total} will be debited for ${orgName}`,
      parts: [
        text(`The credit of “${orgName}” fell below its threshold. It will be topped up from its mandate.`),
        facts(
          ["Amount", moneyText(amount_minor, currency)],
          ["Tax", moneyText(total_minor - amount_minor, currency)],
          ["Debited", total],
          ["Not before", time(due_at)],
          ["Mandate", mandate_id],
        ),
        text(
          "To stop this debit, top up by hand, or switch automatic top-ups off, before that time; or refuse it at your bank.",
        ),
      ],
    };
  },
});
