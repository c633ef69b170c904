/** A mandate was paused by something that the org has no other mail of: failed debits have their own. */
import { z } from "zod";
import { link, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

const BECAUSE: Readonly<Record<string, string>> = {
  dispute: "a payment of the organisation is disputed at the payer's bank",
  bank: "the permission to debit was paused at your bank",
  mismatch: "a debit was of another amount than was asked for",
};

export const mandatePaused = mailTemplate({
  name: "mandate_paused",
  isEssential: true,
  event: "mandate.paused",
  data: z.object({ reason: z.string() }),
  compose({ reason }, { orgName, consolePage }) {
    const because = BECAUSE[reason];
    if (because === undefined) return undefined;
    return {
      subject: `Automatic top-ups of ${orgName} have stopped`,
      parts: [
        text(`Automatic top-ups of “${orgName}” have stopped, because ${because}.`),
        text(
          "Nothing is debited now. Switch automatic top-ups on again when this is settled; until then, buy credit by hand, for calls are refused when the credit is used up.",
        ),
        link("Look at automatic top-ups", consolePage("billing", "auto")),
      ],
    };
  },
});
