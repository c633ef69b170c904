/** A plan's fee could not be taken from the org's credit. The event comes once for each month that is missed. */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const subscriptionPastDue = mailTemplate({
  name: "subscription_past_due",
  event: "subscription.past_due",
  data: z.object({ plan_id: z.string(), period_end: z.string() }),
  compose: ({ plan_id: planId, period_end: periodEnd }, { orgName, time, consolePage }) => ({
    subject: `The plan of ${orgName} could not be renewed`,
    parts: [
      text(`The credit of “${orgName}” does not suffice for the next month of its plan.`),
      facts(["Plan", planId], ["Paid until", time(periodEnd)]),
      text(
        "Add credit, and the plan is renewed: it is tried again after one, three and seven days. After that the organisation has the plan that new ones have.",
      ),
      link("Buy credit", consolePage("credits", "topups", "new")),
    ],
  }),
});
