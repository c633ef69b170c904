/**
 * `GET /v1/limits`: the plan, the org's budget and spend, and a page of the keys that work with their configured limits, current usage and
 * spend. Shape: specification, "Key limits overview"; `org`, `kept` and pages are beyond it. The org's spend is told here and not in its settings, because whoever
 * changes settings may send them back as they were read. Keys, plan and the last day's refusals come through ports.
 */
import { z } from "zod";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type KeyFilter, keyFilterFields } from "../../base/operation/key-filter.ts";
import { operation } from "../../base/operation/operation.ts";
import { pageQuery, walkedPage } from "../../base/operation/page.ts";
import { SharedTurns } from "../../base/turns/shared-turns.ts";
import type { Budget, BudgetScope } from "../budgets/budget.ts";
import type { Budgets } from "../budgets/budgets.ts";
import type { KeptBytes } from "../kept/kept-bytes.ts";
import { type ExportBytesPort, keptSchema, keptWire } from "../kept/kept-wire.ts";
import type { LimitedKey, LimitState, Limits } from "./limits.ts";

/** A key in the overview: its limits (own, else the plan's) and the budgets it counts against. */
export interface KeyInForce extends LimitedKey, BudgetScope {
  readonly name: string;
  readonly hint: string;
  readonly isOfPlayground: boolean;
  readonly status: string;
}

/** A key that a page looks at. */
interface LookedAt {
  readonly id: string;
  /** Whether it works, and is among those that the page is asked for. */
  readonly isWanted: () => boolean;
  readonly inForce: () => KeyInForce;
}

/** Which keys a page is asked for. */
export interface LimitsFilter extends KeyFilter {
  readonly status?: "active" | "rotating" | undefined;
}

/** 0: unlimited. */
interface PlanLimits {
  readonly rpm: number;
  readonly tpm: number;
  readonly concurrency: number;
  readonly keys: number;
  readonly projects: number;
}

/** Refused calls of the last 24 hours. */
export interface Refusals24h {
  readonly rpm: number;
  readonly concurrency: number;
  readonly upstreamCapacity: number;
}

export interface LimitsOperationDeps {
  readonly limits: Limits;
  readonly budgets: Budgets;
  readonly kept: Pick<KeptBytes, "pool">;
  readonly exportBytesOf: ExportBytesPort;
  readonly cursors: Cursors;
  /** Port: keys of an org that may work, newest first, strictly after the one with this id. Read lazily. */
  readonly keysOf: (orgId: string, filter: LimitsFilter, afterId: string | undefined) => Iterable<LookedAt>;
  /** Port: budget and time zone of an org. */
  readonly orgOf: (orgId: string) => { readonly monthly: Budget | undefined; readonly timeZone: string };
  /** Port: the limits of an org's plan. */
  readonly planOf: (orgId: string) => PlanLimits;
  /** Port: analytics; may fail or be unreachable. */
  readonly counts24h: (orgId: string) => Promise<Refusals24h>;
}

const count = z.int().min(0);
const threeLimits = field.limits(count);

const keySchema = z.object({
  key_id: field.keyId,
  name: z.string().describe("Your name for the key."),
  hint: z.string().describe("The end of the secret, to tell keys apart."),
  kind: z
    .literal("playground")
    .optional()
    .describe("A person's key of the playground; absent for a key that somebody made."),
  project_id: field.projectId,
  lineage_id: z
    .string()
    .optional()
    .describe(
      "The first of the keys that it replaced; absent where it replaced none. Limits, budget, `live` and spend are those of all of them together.",
    ),
  status: z.string().describe("`active`, `rotating` (works in its grace), `revoked` or `expired`."),
  configured: z.object(threeLimits).describe("In force for the key; 0 is unlimited."),
  budget: z
    .object({
      daily_micro: count.describe("Micro-USD a day, by the org's time zone."),
      hard: field.hard,
    })
    .describe("As the key itself shows it; daily_micro 0 is no budget."),
  live: z
    .object({
      rpm_remaining: count.nullable().describe("null where the key is unlimited"),
      tpm_remaining: count.nullable().describe("null where the key is unlimited"),
      rpm_used: count
        .nullable()
        .describe(
          "Requests of the last minute that count, the limit at most; null where the key is unlimited",
        ),
      tpm_used: count
        .nullable()
        .describe("Tokens of the last minute that count, the limit at most; null where the key is unlimited"),
      concurrency_in_use: count.describe("Calls under way."),
    })
    .describe(
      "What is left and used now, at all gateways of the installation. What one of them has set aside for its next calls counts as used; without a limit of concurrency only calls of the gateway that answers are counted.",
    ),
  held_micro: count
    .nullable()
    .describe(
      "Held for calls under way, beside what is charged, micro-USD; null where that is not known: of a key without a hard budget, with several gateways.",
    ),
  spend_today_micro: count.describe("Charged today, micro-USD."),
  spend_month_micro: count.describe("Charged this month, micro-USD."),
});

const overviewSchema = z.object({
  plan: z
    .object({
      ...threeLimits,
      keys: count.describe("So many keys may work at once; 0: unlimited."),
      projects: count.describe("So many projects may exist; 0: unlimited."),
    })
    .describe("Limits of the org's plan."),
  org: z
    .object({
      budget: z
        .object({
          monthly_micro: count.describe("Micro-USD a month, by the org's time zone."),
          hard: field.hard,
        })
        .describe("As `settings.budget` of the org; monthly_micro 0 is no budget."),
      spend_today_micro: count.describe("Charged today, micro-USD."),
      spend_month_micro: count.describe("Charged this month, micro-USD."),
    })
    .describe("What all projects of the org spend together, deleted ones included."),
  kept: keptSchema,
  keys: z.array(keySchema).describe("A page of the keys that work, newest first."),
  next_cursor: z
    .string()
    .describe(
      "Asks for the next page; empty on the last one. A page of a search may be short and not the last.",
    ),
  rejected_24h: z
    .object({
      rpm: count.describe("Calls refused for `rpm` in the last 24 hours."),
      concurrency: count.describe("Calls refused for `concurrency` in the last 24 hours."),
    })
    .describe("Calls refused by the key's limits in the last 24 hours."),
  upstream_capacity_24h: count.describe("Calls refused in the last 24 hours as providers were saturated."),
  live: z
    .boolean()
    .describe("False: the other gateways could not be asked, and `live` of keys is what this one knows."),
  analytics: z.boolean().describe("False: the counts of the last 24 hours are not known and read 0."),
});

const limitsQuery = z.object({
  ...keyFilterFields,
  status: z.enum(["active", "rotating"]).optional().describe("Only keys of this status."),
  ...pageQuery(100, 500),
});

export function limitsOperations(deps: LimitsOperationDeps) {
  const { limits, budgets } = deps;
  const turns = new SharedTurns();

  async function keyWire(key: KeyInForce, live: LimitState): Promise<z.input<typeof keySchema>> {
    const { rpm = 0, tpm = 0, concurrency = 0 } = key.limits;
    const { requests, tokens } = live;
    const spend = await budgets.standingOfKey(key);
    return {
      key_id: key.keyId,
      name: key.name,
      hint: key.hint,
      ...(key.isOfPlayground && { kind: "playground" as const }),
      project_id: key.projectId,
      ...(key.lineageId !== undefined && key.lineageId !== key.keyId && { lineage_id: key.lineageId }),
      status: key.status,
      configured: { rpm, tpm, concurrency },
      budget: { daily_micro: key.keyDaily?.limitMicroUsd ?? 0, hard: key.keyDaily?.hard ?? false },
      live: {
        rpm_remaining: requests?.remaining ?? null,
        tpm_remaining: tokens?.remaining ?? null,
        rpm_used: requests === undefined ? null : requests.limit - requests.remaining,
        tpm_used: tokens === undefined ? null : tokens.limit - tokens.remaining,
        concurrency_in_use: live.concurrencyInUse,
      },
      held_micro: spend.heldMicroUsd ?? null,
      spend_today_micro: spend.todayMicroUsd,
      spend_month_micro: spend.monthMicroUsd,
    };
  }

  async function keysPage(orgId: string, query: z.output<typeof limitsQuery>) {
    const { data, next_cursor } = await walkedPage({
      cursors: deps.cursors,
      asked: query,
      list: `limits:${orgId}`,
      turns,
      orgId,
      rows: (after) => deps.keysOf(orgId, query, after?.[0] as string | undefined),
      positionOf: ({ id }) => [id],
      matches: (key) => key.isWanted(),
      show: (key) => key.inForce(),
    });
    const { states, isKnown } = await limits.statesOf(data);
    const keys = await Promise.all(data.map((key, i) => keyWire(key, states[i] ?? limits.state(key))));
    return { keys, next_cursor, live: isKnown };
  }

  async function orgWire(orgId: string): Promise<z.input<typeof overviewSchema>["org"]> {
    const { monthly, timeZone } = deps.orgOf(orgId);
    const spend = await budgets.spendOfOrg({ orgId, timeZone });
    return {
      budget: { monthly_micro: monthly?.limitMicroUsd ?? 0, hard: monthly?.hard ?? false },
      spend_today_micro: spend.todayMicroUsd,
      spend_month_micro: spend.monthMicroUsd,
    };
  }

  const getLimits = operation({
    summary: "The plan's limits, what the org spends, and the state of a page of the keys that work",
    method: "GET",
    path: "/v1/limits",
    access: "read:keys / viewer",
    group: "Keys",
    query: limitsQuery,
    output: overviewSchema,
    async run({ query }, { orgId }) {
      // Undefined while analytics is unreachable: the rest of the overview does not need it.
      const refusals = await deps.counts24h(orgId).catch(() => undefined);
      const { rpm, tpm, concurrency, keys, projects } = deps.planOf(orgId);
      return {
        plan: { rpm, tpm, concurrency, keys, projects },
        org: await orgWire(orgId),
        kept: keptWire(deps.kept, deps.exportBytesOf, orgId),
        ...(await keysPage(orgId, query)),
        rejected_24h: { rpm: refusals?.rpm ?? 0, concurrency: refusals?.concurrency ?? 0 },
        upstream_capacity_24h: refusals?.upstreamCapacity ?? 0,
        analytics: refusals !== undefined,
      };
    },
  });

  return { getLimits };
}
