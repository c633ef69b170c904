/** What to do about a call that was refused or failed, where the gateway's words do not say it. Pure. */
import type { Operations } from "../../api/operations.ts";

export type CallError = NonNullable<Operations["getRequest"]["answer"]["error"]>;

export interface Advice {
  readonly text: string;
  /** A page that helps: its path within the org, and what the link says. */
  readonly page?: { readonly to: readonly string[]; readonly title: string };
}

/** @param keyId of the key that called */
export function adviceOn({ code, details = {} }: CallError, keyId: string): Advice | undefined {
  const keyPage = (title: string) => ({ to: ["keys", keyId], title });
  switch (code) {
    case "budget_exceeded":
      return details.budget === "key_daily"
        ? {
            text: "Raise the key's budget, lower the longest answer (max_tokens), or wait until the budget begins anew.",
            page: keyPage("Budget of the key"),
          }
        : {
            text: "Have an owner or an admin raise the budget, lower the longest answer (max_tokens), or wait until the budget begins anew.",
          };
    case "insufficient_credits":
      return {
        text: "Buy credit, wait until running calls have ended, or lower the longest answer (max_tokens).",
        page: { to: ["credits"], title: "Credits" },
      };
    case "rpm":
    case "tpm":
    case "concurrency":
      return {
        text: "Send it again a little later, or raise the limit of the key.",
        page: keyPage("Limits of the key"),
      };
    case "capability_not_supported":
    case "context_length_exceeded":
    case "model_not_found":
      return {
        text: "Choose a model that can take this request.",
        page: { to: ["models"], title: "Models" },
      };
    case "upstream_capacity":
    case "upstream_error":
    case "upstream_timeout":
    case "upstream_invalid_response":
      return {
        text: "The fault is the provider's. Send it again, or allow further endpoints or models to be asked.",
      };
    default:
      return undefined;
  }
}

/** Figures of a budget that refused, in micro-USD; undefined where the error has none. */
export interface BudgetFigures {
  readonly whose: string;
  readonly limit: number;
  readonly spent: number;
  readonly held: number;
  readonly required: number;
  /** ISO 8601, UTC. */
  readonly resetsAt: string;
}

const WHOSE: Readonly<Record<string, string>> = {
  key_daily: "The key's, of the day",
  project_monthly: "The project's, of the month",
  org_monthly: "The organisation's, of the month",
};

export function budgetOf({ details = {} }: CallError): BudgetFigures | undefined {
  const { budget, resets_at: resetsAt, limit_micro: limit, spent_micro: spent } = details;
  const { held_micro: held, required_micro_usd: required } = details;
  if (typeof budget !== "string" || typeof resetsAt !== "string") return undefined;
  if (!isAmount(limit) || !isAmount(spent) || !isAmount(held) || !isAmount(required)) return undefined;
  return { whose: WHOSE[budget] ?? budget, limit, spent, held, required, resetsAt };
}

const isAmount = (value: unknown): value is number => typeof value === "number";
