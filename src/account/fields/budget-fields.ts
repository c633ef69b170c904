/**
 * Budgets of keys (`daily_micro`), projects and orgs (`monthly_micro`) in requests and answers: one meaning and one shape for
 * every route. No budget is shown as 0 and `hard: false`.
 */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { ORG_MEANINGS } from "./org-meanings.ts";

/** `null`: no budget. `hard` is kept for a later request that sets only an amount. */
export interface BudgetRow {
  readonly microUsd: number | null;
  readonly hard: boolean;
}

const NO_BUDGET: BudgetRow = { microUsd: null, hard: true };

const amountField = z
  .int()
  .min(0)
  .nullable()
  .optional()
  .describe("micro-USD. null: no budget; so is 0 with `hard: false`, as answers show it");

const hardField = z
  .boolean()
  .optional()
  .describe("Whether calls beyond it are refused. Default: true. Only with an amount");

/** A hard budget of 0 is refused: in answers 0 means no budget. */
const NOT_NOTHING = "a budget is at least 1 micro-USD; send null for none";

/** The field `budget` of a key in a request. */
export const keyBudgetField = z
  .strictObject({ daily_micro: amountField, hard: hardField })
  .refine((b) => b.daily_micro !== 0 || b.hard === false, { path: ["daily_micro"], error: NOT_NOTHING })
  .meta({ examples: [{ daily_micro: 5_000_000, hard: true }] })
  .describe("What the key may spend in a day, by the org's time zone");

/** The field `budget` of a project in a request. */
export const projectBudgetField = z
  .strictObject({ monthly_micro: amountField, hard: hardField })
  .refine((b) => b.monthly_micro !== 0 || b.hard === false, { path: ["monthly_micro"], error: NOT_NOTHING })
  .meta({ examples: [{ monthly_micro: 200_000_000, hard: true }] })
  .describe("What the project may spend in a month, by the org's time zone");

/** The field `settings.budget` of an org in a request. */
export const orgBudgetField = z
  .strictObject({
    monthly_micro: amountField,
    hard: hardField,
    spike_alert_pct: z.int().min(1).max(10_000).nullable().optional().describe(ORG_MEANINGS.spikeAlertPct),
  })
  .refine((b) => b.monthly_micro !== 0 || b.hard === false, { path: ["monthly_micro"], error: NOT_NOTHING });

export const amountShape = z.int().describe("micro-USD; 0: no budget");
export const hardShape = z.boolean().describe("Whether calls beyond it are refused; false without a budget");

/**
 * A budget after a change; fields absent from the change stay as they are.
 * @param param JSON pointer of the amount in the request.
 * @throws WeirError 400 where a hard budget would have no amount.
 */
export function budgetAfter(
  old: BudgetRow,
  change: { readonly amount: number | null | undefined; readonly hard: boolean | undefined },
  param: string,
): BudgetRow {
  const amount = change.amount === undefined ? old.microUsd : change.amount;
  if (amount !== null && amount > 0) return { microUsd: amount, hard: change.hard ?? old.hard };
  if (change.hard === true) {
    throw fail("invalid_value", "A hard budget needs an amount.", { param });
  }
  return NO_BUDGET;
}

/** Wire shape of a budget. */
export const budgetWire = ({ microUsd, hard }: BudgetRow) => ({
  microUsd: microUsd ?? 0,
  hard: microUsd !== null && hard,
});
