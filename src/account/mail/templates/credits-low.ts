/** The org's credit fell below its threshold. The event comes once until the credit has risen again, and so does the mail. */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const creditsLow = mailTemplate({
  name: "credits_low",
  event: "credits.low",
  data: z.object({ balance_micro_usd: z.int(), credits_low_micro: z.int() }),
  compose: ({ balance_micro_usd, credits_low_micro }, { orgName, usd, consolePage }) => ({
    subject: `Credit of ${orgName} is low: ${usd(balance_micro_usd)} is left`,
    parts: [
      text(`The credit of “${orgName}” fell below the amount at which you want to be told.`),
      facts(["Credit then", usd(balance_micro_usd)], ["Told below", usd(credits_low_micro)]),
      text("When it is used up, calls are refused until credit is added."),
      link("Buy credit", consolePage("credits", "topups", "new")),
    ],
  }),
});
