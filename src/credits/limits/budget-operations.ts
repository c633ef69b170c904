/** `GET /v1/usage/budgets`: budgets in force with what they will have cost at their end, and how long the credit lasts. */
import { z } from "zod";
import { type Clock, inTime, isoTime, type Timers } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Budgets } from "../budgets/budgets.ts";
import { openPeriods } from "../budgets/periods.ts";
import { type BudgetOwners, type BudgetState, budgetStates } from "./budget-list.ts";
import { emptyAt, forecast, LOOK_BACK_MS, rateOf } from "./forecast.ts";

/** Micro-USD that were charged lately: of the org and of projects within seven days, of keys within 24 hours. */
export interface RecentSpend {
  readonly orgMicroUsd: number;
  readonly projects: ReadonlyMap<string, number>;
  readonly keys: ReadonlyMap<string, number>;
}

export interface BudgetOperationDeps {
  readonly budgets: Pick<Budgets, "spendOfKey" | "spendOfProject" | "spendOfOrg" | "heldOf">;
  readonly clock: Clock;
  readonly timers?: Timers;
  /** Port: time zone and age of an org. */
  readonly orgOf: (orgId: string) => { readonly timeZone: string; readonly createdAtMs: number };
  /** Port: who has a budget. @param day of the org: `YYYY-MM-DD` */
  readonly budgetOwners: (orgId: string, day: string) => BudgetOwners;
  /** Port: analytics; may fail or be unreachable. */
  readonly recentSpend: (
    orgId: string,
    ids: { readonly projects: readonly string[]; readonly keys: readonly string[] },
  ) => Promise<RecentSpend>;
  /** Port: the org's credit. */
  readonly creditOf: (
    orgId: string,
  ) => Promise<{ readonly availableMicroUsd: number; readonly heldMicroUsd: number }>;
  /** Port: whether the thing of a test key's caller may be shown. */
  readonly isOfTests: (of: "project" | "key", id: string) => boolean;
}

/** An answer waits no longer for the analytics: the rate then goes by the window. */
const WAIT_MS = 800;

const budgetSchema = z.object({
  scope: z
    .enum(["org", "project", "key"])
    .describe("Whose budget it is: by the month, and of a key by the day."),
  id: z.string().describe("Which one."),
  name: z.string().describe("What it is called; empty where you may not list such things."),
  hard: field.hard,
  window: z.object(field.period).describe("The day or month, by the org's time zone."),
  limit_micro: z.int().describe("The budget, micro-USD."),
  spent_micro: z
    .int()
    .describe("Charged in the window, micro-USD; a key counts with the keys that it replaced."),
  held_micro: z
    .int()
    .optional()
    .describe("Held by calls under way, micro-USD; absent where this gateway does not know it."),
  forecast_micro: z
    .int()
    .describe(
      "What the window will have cost at its end: `spent_micro`, and the rate for the time that is left.",
    ),
  reached_at: z
    .string()
    .nullable()
    .describe("When the budget is used up at that rate; ISO 8601, UTC. null: not within the window."),
});

const creditSchema = z.object({
  balance_micro: z.int().describe("The balance, with what is held of it, micro-USD."),
  held_micro: z.int().describe("Held by calls under way, micro-USD."),
  available_micro: z.int().describe("What can be spent now, micro-USD."),
  forecast_days_left: z
    .number()
    .nullable()
    .describe(
      "Days until nothing is available at the rate of the last seven days; null: not within ten years.",
    ),
  empty_at: z.string().nullable().describe("The moment of that; ISO 8601, UTC."),
});

const output = z.object({
  object: field.objectOf("list"),
  data: z.array(budgetSchema).describe("Budgets in force, the one nearest to its end first."),
  more: z.boolean().describe("Whether budgets are left out."),
  less_used_left_out: z
    .boolean()
    .describe(
      "True: the org has more than 200 keys, or projects. The ones are listed of which half of the budget is used, or more.",
    ),
  rate: z
    .enum(["recent", "window"])
    .describe(
      "What forecasts go by. `recent`: what was charged in the last seven days, of a key in the last 24 hours. `window`: what was charged in the window so far, while analytics is unreachable.",
    ),
  credit: creditSchema.optional().describe("The org's credit; absent without `read:billing`."),
});

type Wire = z.input<typeof budgetSchema>;

export function budgetOperations(deps: BudgetOperationDeps) {
  const { budgets, clock, timers, orgOf, budgetOwners, creditOf, isOfTests } = deps;
  const periodOf = openPeriods();

  /** Undefined where the analytics does not answer in time. */
  function recentOf(orgId: string, shown: readonly BudgetState[]): Promise<RecentSpend | undefined> {
    const projects = shown.filter(({ of }) => of === "project").map(({ id }) => id);
    const keys = shown.flatMap(({ of, keyIds }) => (of === "key" ? keyIds : []));
    const none = () => undefined;
    return inTime(deps.recentSpend(orgId, { projects, keys }).catch(none), WAIT_MS, none, timers);
  }

  function creditWire(
    { availableMicroUsd, heldMicroUsd }: Awaited<ReturnType<BudgetOperationDeps["creditOf"]>>,
    rate: number,
    nowMs: number,
  ): z.input<typeof creditSchema> {
    const emptyMs = emptyAt(availableMicroUsd, rate, nowMs);
    return {
      balance_micro: availableMicroUsd + heldMicroUsd,
      held_micro: heldMicroUsd,
      available_micro: availableMicroUsd,
      forecast_days_left: emptyMs === undefined ? null : Math.round(((emptyMs - nowMs) / DAY_MS) * 10) / 10,
      empty_at: emptyMs === undefined ? null : isoTime(emptyMs),
    };
  }

  return {
    getBudgets: operation({
      summary: "Budgets and credit, with what they will be at this rate",
      method: "GET",
      path: "/v1/usage/budgets",
      access: "read:usage / viewer",
      group: "Usage",
      query: z.object({
        limit: z.coerce.number().int().min(1).max(200).default(50).describe("So many budgets at most."),
      }),
      output,
      errors: ["storage_unavailable"],
      async run({ query: { limit } }, caller) {
        const { orgId } = caller;
        const nowMs = clock.now();
        const { timeZone, createdAtMs } = orgOf(orgId);
        const period = periodOf(timeZone, nowMs);
        const { owners, isWhole } = budgetOwners(orgId, period.day);
        const isTest = caller.environment === "test";
        const seen = isTest ? owners.filter(({ of, id }) => of !== "org" && isOfTests(of, id)) : owners;
        const states = await budgetStates(budgets, seen, period);
        const shown = states.slice(0, limit);
        const mayBill = caller.scopes.has("read:billing");
        const [recent, credit, ofOrg] = await Promise.all([
          recentOf(orgId, shown),
          mayBill ? creditOf(orgId) : undefined,
          budgets.spendOfOrg({ orgId, timeZone }),
        ]);
        const orgRate = rateOf(
          { recentMicroUsd: recent?.orgMicroUsd, lookBackMs: LOOK_BACK_MS.month, sinceMs: createdAtMs },
          { fromMs: period.monthStartsMs, spentMicroUsd: ofOrg.monthMicroUsd },
          nowMs,
        );
        return {
          object: "list" as const,
          data: shown.map((state) => budgetWire(state, recentFor(state, recent), caller, nowMs)),
          more: states.length > shown.length || !isWhole,
          less_used_left_out: !isWhole,
          rate: recent === undefined ? ("window" as const) : ("recent" as const),
          ...(credit !== undefined && { credit: creditWire(credit, orgRate, nowMs) }),
        };
      },
    }),
  };
}

/** What was charged lately of a budget's owner; undefined where nothing is known. */
function recentFor({ of, id, keyIds }: BudgetState, recent: RecentSpend | undefined): number | undefined {
  if (recent === undefined || of === "org") return recent?.orgMicroUsd;
  if (of === "project") return recent.projects.get(id) ?? 0;
  return keyIds.reduce((sum, keyId) => sum + (recent.keys.get(keyId) ?? 0), 0);
}

const NAMED_BY = { org: "read:org", project: "read:org", key: "read:keys" } as const;

function budgetWire(
  state: BudgetState,
  recentMicroUsd: number | undefined,
  { scopes }: Pick<Caller, "scopes">,
  nowMs: number,
): Wire {
  const { of, id, name, budget, window, spentMicroUsd, heldMicroUsd, createdAtMs } = state;
  const lookBackMs = LOOK_BACK_MS[of === "key" ? "day" : "month"];
  const rate = rateOf(
    { recentMicroUsd, lookBackMs, sinceMs: createdAtMs },
    { fromMs: window.fromMs, spentMicroUsd },
    nowMs,
  );
  const { limitMicroUsd } = budget;
  const { microUsd, reachedAtMs } = forecast({ spentMicroUsd, limitMicroUsd }, rate, window, nowMs);
  return {
    scope: of,
    id,
    name: scopes.has(NAMED_BY[of]) ? name : "",
    hard: budget.hard,
    window: { from: isoTime(window.fromMs), to: isoTime(window.toMs) },
    limit_micro: limitMicroUsd,
    spent_micro: spentMicroUsd,
    ...(heldMicroUsd !== undefined && { held_micro: heldMicroUsd }),
    forecast_micro: microUsd,
    reached_at: reachedAtMs === undefined ? null : isoTime(reachedAtMs),
  };
}
