/**
 * The plans in force: how many orgs are on each, and which keys have more than their plan gives. An org whose plan was removed from
 * the settings counts for the default plan, which applies to it. No answer holds the event loop, however many orgs there are.
 */
import { z } from "zod";
import { type Clock, nextTurn } from "../../base/clock.ts";
import { mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import { listed, listOf, pageOf, pageQuery, readPage } from "../../base/operation/page.ts";
import { ORG_MEANINGS } from "../fields/org-meanings.ts";
import type { OrgRow } from "../org.ts";
import { type AccountPlan, type AccountPlans, mostOf } from "../plan-limits.ts";
import type { AccountTables } from "../tables.ts";

export interface OperatorPlanDeps {
  readonly accounts: Pick<AccountTables, "orgsNewestFirst" | "workingKeys">;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly plans: AccountPlans;
}

/** Orgs counted in one turn of the event loop. */
const SLICE = 500;

const ofEachKey = "of each key; 0: unlimited";
const planShape = z.object({
  id: z.string().describe("The plan's id in `weir.yaml`"),
  default: z.boolean().describe("The plan of new orgs, and of orgs whose plan was removed from the settings"),
  rpm: z.int().describe(`Requests a minute ${ofEachKey}`),
  tpm: z.int().describe(`Tokens a minute ${ofEachKey}`),
  concurrency: z.int().describe(`Calls at a time ${ofEachKey}`),
  keys: z.int().describe("Working keys of an org"),
  projects: z.int().describe("Projects of an org"),
  auto_approve: z.number().describe("Limit requests up to this multiple of `rpm` are approved at once"),
  features: z
    .object({
      sso: z.boolean().describe("Provisioning by a directory"),
      priority_support: z.boolean().describe("Tickets of the org come first"),
    })
    .describe("What the plan has beside its limits"),
  orgs: z.int().describe("Orgs that it applies to and that are not closed"),
});

const planOrgShape = z.object({
  id: z.string().describe("The org's id, `org_…`"),
  slug: z.string().describe(ORG_MEANINGS.slug),
  name: z.string().describe(ORG_MEANINGS.name),
  status: z.enum(["active", "suspended", "closed"]).describe("Whether its keys work"),
  raised: z
    .array(
      z.object({
        key_id: field.keyId,
        name: z.string().describe("The key's name"),
        rpm: z.int().describe("Requests a minute of this key"),
      }),
    )
    .describe("Working keys with more requests a minute than the plan gives, by limit requests mostly"),
});

export function operatorPlanOperations(deps: OperatorPlanDeps) {
  const { cursors, accounts, plans } = deps;
  const counts = oneAtATime(() => countOrgs(deps));
  return {
    operatorListPlans: operation({
      summary: "The plans in force, with the number of orgs on each; not paged",
      method: "GET",
      path: "/v1/operator/plans",
      access: "operator",
      group: "Operator",
      output: listOf(planShape),
      async run() {
        const orgs = await counts();
        return listed(plans.all.map((plan) => planWire(plan, orgs.get(plan.id) ?? 0)));
      },
    }),
    operatorListPlanOrgs: operation({
      summary: "Orgs that a plan applies to, newest first, and their keys with more than it gives",
      method: "GET",
      path: "/v1/operator/plans/{id}/orgs",
      access: "operator",
      group: "Operator",
      params: z.object({ id: field.pathId.describe("The plan's id.") }),
      query: z.object({
        raised: z
          .stringbool()
          .default(false)
          .describe("`true`: only orgs with such a key; pages may be short"),
        ...pageQuery(50, 200),
      }),
      output: pageOf(planOrgShape),
      errors: ["not_found"],
      async run({ params, query: { raised, limit, cursor } }) {
        const plan = mustExist(
          plans.all.find(({ id }) => id === params.id),
          "plan",
        );
        const { data, next_cursor } = readPage({
          cursors,
          limit,
          cursor,
          list: `operator:plan-orgs:${plan.id}`,
          rows: (after) => accounts.orgsNewestFirst(after?.[0] as string | undefined),
          positionOf: ({ id }) => [id],
          matches: (row) => plans.inForce(row.planId).id === plan.id,
        });
        const orgs: z.input<typeof planOrgShape>[] = [];
        for (const row of data) {
          const wire = planOrgWire(deps, row, plan);
          if (!raised || wire.raised.length > 0) orgs.push(wire);
          await nextTurn();
        }
        return { object: "list" as const, data: orgs, next_cursor };
      },
    }),
  };
}

const planWire = ({ features, isDefault, autoApprove, ...limits }: AccountPlan, orgs: number) => ({
  id: limits.id,
  default: isDefault,
  rpm: limits.rpm,
  tpm: limits.tpm,
  concurrency: limits.concurrency,
  keys: limits.keys,
  projects: limits.projects,
  auto_approve: autoApprove,
  features: { sso: features.sso, priority_support: features.prioritySupport },
  orgs,
});

function planOrgWire({ accounts, clock }: OperatorPlanDeps, org: OrgRow, plan: AccountPlan) {
  const { id, slug, name, status } = org;
  const raised = accounts
    .workingKeys(id, clock.now())
    .map(({ limits: { rpm = 0 }, ...key }) => ({ key_id: key.id, name: key.name, rpm }))
    .filter(({ rpm }) => rpm > mostOf(plan.rpm));
  return { id, slug, name, status, raised };
}

/** By plan id. Orgs that come or go meanwhile may be missed. */
async function countOrgs({ accounts, plans }: OperatorPlanDeps): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let last: string | undefined, read = SLICE; read === SLICE; await nextTurn()) {
    read = 0;
    for (const { id, planId, status } of accounts.orgsNewestFirst(last)) {
      const plan = plans.inForce(planId).id;
      if (status !== "closed") counts.set(plan, (counts.get(plan) ?? 0) + 1);
      last = id;
      if (++read === SLICE) break;
    }
  }
  return counts;
}

/** Whoever asks while an answer is being made gets that one. */
function oneAtATime<T>(make: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= make().finally(() => {
      running = undefined;
    });
    return running;
  };
}
