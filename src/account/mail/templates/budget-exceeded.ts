/** A budget of a key, a project or the org is used up. The event comes once in each period of a budget, and so does the mail. */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { type LetterContext, mailTemplate } from "../template.ts";

/** The event's data for any kind of budget, also for one that this release does not know. */
const data = z.object({
  budget: z.string(),
  key_id: z.string().default(""),
  project_id: z.string().default(""),
  limit_micro: z.int(),
  spent_micro: z.int(),
  hard: z.boolean(),
  resets_at: z.string(),
});

export const budgetExceeded = mailTemplate({
  name: "budget_exceeded",
  event: "budget.exceeded",
  data,
  compose(event, context) {
    const { orgName, usd, time, consolePage } = context;
    const whose = ownerOf(event, context);
    return {
      subject: `A budget of ${orgName} is used up: ${whose}`,
      parts: [
        text(
          event.hard
            ? `The budget of ${whose} is used up. Calls that it would pay for are refused until it begins anew, or is raised.`
            : `The budget of ${whose} is used up. Calls go on: this budget only warns.`,
        ),
        facts(
          ["Budget", usd(event.limit_micro)],
          ["Spent", usd(event.spent_micro)],
          ["Begins anew", time(event.resets_at)],
        ),
        link(event.hard ? "Raise the budget" : "Look at the budget", consolePage(...pageOf(event))),
      ],
    };
  },
});

/** Where the budget is shown and changed. */
function pageOf({ budget, key_id, project_id }: z.output<typeof data>): readonly string[] {
  if (budget === "key_daily") return ["keys", key_id];
  return budget === "project_monthly" ? ["projects", project_id] : ["credits"];
}

function ownerOf(event: z.output<typeof data>, { accounts }: LetterContext): string {
  if (event.budget === "key_daily")
    return `the key “${accounts.key(event.key_id)?.name ?? event.key_id}” for the day`;
  if (event.budget === "project_monthly")
    return `the project “${accounts.project(event.project_id)?.name ?? event.project_id}” for the month`;
  if (event.budget === "org_monthly") return "the organisation for the month";
  return "the organisation";
}
