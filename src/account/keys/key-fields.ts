/**
 * Fields of a key that requests set separately: limits, budget, lifetime. An absent field stays as it is; null clears
 * it.
 */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { budgetAfter, type keyBudgetField } from "../fields/budget-fields.ts";
import type { KeyLimits, KeyRow } from "../key.ts";
import { mostOf, type PlanLimits } from "../plan-limits.ts";

const count = z.int().min(1).nullable().optional();
export const limitsField = z
  .strictObject({
    rpm: count.describe("Requests a minute; null: as the plan allows"),
    tpm: count.describe("Tokens a minute, prompt and `max_tokens` together; null: as the plan allows"),
    concurrency: count.describe("Calls at once; null: as the plan allows"),
  })
  .meta({ examples: [{ rpm: 60, tpm: 200_000, concurrency: 4 }] })
  .describe("Limits of the key; what is absent is the plan's, or stays as it is");

/** `<n>h`, up to some eleven years. */
export const lifetimeField = z.string().regex(/^[1-9]\d{0,4}h$/, "hours, such as 720h");

export const lifetimeMs = (expiresIn: string): number => Number.parseInt(expiresIn, 10) * 3_600_000;

/**
 * Limits after a change. None may be set above the plan's, where that has one (limit requests exist for that); one that was granted
 * above the plan, or set under a plan without it, may be set again up to its current value.
 */
export function limitsOf(
  old: Partial<KeyLimits>,
  change: z.output<typeof limitsField> | undefined,
  plan: PlanLimits,
): Partial<KeyLimits> {
  const limits: { -readonly [L in keyof KeyLimits]?: number } = { ...old };
  for (const limit of ["rpm", "tpm", "concurrency"] as const) {
    const wanted = change?.[limit];
    if (wanted === null) delete limits[limit];
    if (typeof wanted !== "number") continue;
    const most = Math.max(mostOf(plan[limit]), old[limit] ?? 0);
    if (wanted > most) {
      throw fail("invalid_value", `The plan allows ${most}. Ask for more with POST /v1/limits/requests.`, {
        param: `/limits/${limit}`,
      });
    }
    limits[limit] = wanted;
  }
  return limits;
}

/** @throws WeirError 400 */
export function mergeBudget(
  old: KeyRow["budget"],
  change: z.output<typeof keyBudgetField> | undefined,
): KeyRow["budget"] {
  const before = { microUsd: old.dailyMicroUsd, hard: old.hard };
  const after = budgetAfter(
    before,
    { amount: change?.daily_micro, hard: change?.hard },
    "/budget/daily_micro",
  );
  return { dailyMicroUsd: after.microUsd, hard: after.hard };
}

interface NamedFields {
  readonly limits?: z.output<typeof limitsField> | undefined;
  readonly budget?: z.output<typeof keyBudgetField> | undefined;
}

/** A key with those members of another's limits and budget that a request named, whatever it set them to. */
export function withNamed(key: KeyRow, other: KeyRow, { limits: named, budget }: NamedFields): KeyRow {
  const limits: { -readonly [L in keyof KeyLimits]?: number } = { ...key.limits };
  for (const limit of ["rpm", "tpm", "concurrency"] as const) {
    if (named?.[limit] === undefined) continue;
    const value = other.limits[limit];
    if (value === undefined) delete limits[limit];
    else limits[limit] = value;
  }
  const { dailyMicroUsd, hard } = other.budget;
  const taken = {
    ...(budget?.daily_micro !== undefined && { dailyMicroUsd }),
    ...(budget?.hard !== undefined && { hard }),
  };
  return { ...key, limits, budget: { ...key.budget, ...taken } };
}
