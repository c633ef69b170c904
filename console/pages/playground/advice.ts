/** What to do about a call that the gateway refused, where that is not in its own words. Pure. */
import { isFields, textOf } from "./message.ts";

export interface Advice {
  readonly text: string;
  /** A page of the console that helps: its path and what the link says. */
  readonly page?: readonly [path: string, title: string];
}

/** What an error of the API says of itself. */
interface Refusal {
  readonly code: string;
  readonly details: unknown;
}

export function adviceFor({ code, details }: Refusal): Advice | undefined {
  const about = isFields(details) ? details : {};
  switch (code) {
    case "budget_exceeded":
      return ofBudget(textOf(about.budget), textOf(about.resets_at));
    case "insufficient_credits":
      return {
        text: "Lower the longest answer (max tokens), wait until running calls have ended, or add credit.",
        page: ["credits", "Credits"],
      };
    case "rpm":
    case "tpm":
    case "concurrency":
      return { text: "Wait a moment, then send again." };
    case "capability_not_supported":
      return {
        text: "Choose a model that can do this, or take it out of the request.",
        page: ["models", "Models"],
      };
    case "invalid_key":
      return {
        text: "Another browser that you are signed in with asked for a playground key meanwhile. Send again.",
      };
    default:
      return undefined;
  }
}

/** @param budget `key_daily`, `project_monthly`, `org_monthly` */
function ofBudget(budget: string, resetsAt: string): Advice {
  const until =
    resetsAt === "" ? "" : ` It begins anew at ${resetsAt.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")}.`;
  if (budget === "key_daily") {
    return {
      text: `The playground has a small budget of the day for each person.${until} Lower the longest answer (max tokens), or call with a key of your own.`,
      page: ["setup", "Set up a client with a key"],
    };
  }
  return {
    text: `Lower the longest answer (max tokens), or ask an admin to raise the budget.${until}`,
  };
}
