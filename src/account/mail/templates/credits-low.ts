/** The org's credit fell below its threshold. The event comes once until the credit has risen again, and so does the mail. */
import { z } from "zod";
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const creditsLow = mailTemplate({
  name: "credits_low",
  event: "credits.low",
  data: z.object({ balance_micro_usd: z.int(), credits_low_micro: z.int() }),
  compose: ({ balance_micro_usd, credits_low_micro }, { orgName, usd }) => ({
    subject: `Credit of ${orgName} is low`,
    parts: [
      text(`The credit of “${orgName}” fell below the amount at which you want to be told.`),
      facts(["Credit then", usd(balance_micro_usd)], ["Told below", usd(credits_low_micro)]),
      text("When it is used up, calls are refused until credit is added."),
    ],
  }),
});
