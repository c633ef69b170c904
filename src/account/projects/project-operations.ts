/**
 * Operations on projects: list, read, create, change, delete. Checks and writes share one transaction.
 */
import { z } from "zod";
import { HOLD_MODES } from "../../base/call/hold-mode.ts";
import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import { budgetAfter, projectBudgetField } from "../fields/budget-fields.ts";
import { changedHoldField, withHold } from "../fields/hold-field.ts";
import { slugField } from "../fields/slug.ts";
import { nameField } from "../fields/text-field.ts";
import { revokedKey } from "../key.ts";
import { assertKeyMakerStays } from "../last-key-maker.ts";
import type { PlanPort } from "../plan-limits.ts";
import { newProject, type ProjectRow, type ProjectSpending, projectShape, projectWire } from "../project.ts";
import { assertMayActOn, assertMayChange } from "../scopes.ts";
import type { AccountTables } from "../tables.ts";

export interface ProjectOperationDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly plan: PlanPort;
  /** Port: by the budgets. */
  readonly spend: (projectId: string) => MaybePromise<ProjectSpending>;
  readonly trail: Trail;
  readonly quotas: Quotas;
}

const byId = z.object({ id: field.projectId });
const name = nameField.meta({ examples: ["Research"] });

const createBody = z.strictObject({
  slug: slugField.meta({ examples: ["research"] }).describe("Short name, unique in the org."),
  name: name.describe("Display name."),
  environment: field.environment.optional().describe("Default: live. A test project holds test keys only"),
  budget: projectBudgetField.optional(),
  hold: z.enum(HOLD_MODES).optional().describe("Default: as the org's"),
});

const patchBody = z.strictObject({
  name: name.optional().describe("Display name."),
  budget: projectBudgetField.optional(),
  hold: changedHoldField.optional(),
});

export function projectOperations(deps: ProjectOperationDeps) {
  return {
    listProjects: operation({
      summary: "List the org's projects, newest first; not paged",
      method: "GET",
      path: "/v1/projects",
      access: "read:org / viewer",
      group: "Projects",
      output: listOf(projectShape),
      run: async (_input, { orgId }) =>
        listed(await Promise.all(deps.accounts.projectsOf(orgId).map((row) => show(deps, row)))),
    }),
    getProject: operation({
      summary: "Read a project",
      method: "GET",
      path: "/v1/projects/{id}",
      access: "read:org / viewer",
      group: "Projects",
      params: byId,
      output: projectShape,
      errors: ["not_found"],
      run: ({ params }, caller) => show(deps, ownProject(deps, caller, params.id)),
    }),
    createProject: operation({
      summary: "Create a project",
      method: "POST",
      path: "/v1/projects",
      access: "write:org / admin",
      group: "Projects",
      body: createBody,
      output: projectShape,
      status: 201,
      errors: ["scope", "slug_taken", "plan_limit", "org_closed"],
      run: ({ body }, caller) => createProject(deps, caller, body),
    }),
    updateProject: operation({
      summary: "Change a project; what is left out stays",
      method: "PATCH",
      path: "/v1/projects/{id}",
      access: "write:org / admin",
      group: "Projects",
      params: byId,
      body: patchBody,
      output: projectShape,
      errors: ["not_found", "scope"],
      run: ({ params, body }, caller) => updateProject(deps, caller, params.id, body),
    }),
    deleteProject: operation({
      summary: "Delete a project and revoke its keys",
      method: "DELETE",
      path: "/v1/projects/{id}",
      access: "write:org / admin",
      group: "Projects",
      params: byId,
      output: z.undefined(),
      status: 204,
      errors: ["not_found", "scope", "state"],
      run: ({ params }, caller) => deleteProject(deps, caller, params.id),
    }),
  };
}

const show = async (deps: ProjectOperationDeps, row: ProjectRow) =>
  projectWire(row, await deps.spend(row.id));

const NOTHING_SPENT = { todayMicroUsd: 0, monthMicroUsd: 0 };

/** Projects of other orgs and deleted ones count as not found. */
function ownProject({ accounts }: ProjectOperationDeps, caller: Caller, id: string): ProjectRow {
  const row = accounts.project(id);
  return mustExist(row?.orgId === caller.orgId && row.status !== "deleted" ? row : undefined, "project");
}

const NO_BUDGET: ProjectRow["budget"] = { monthlyMicroUsd: null, hard: true };

/** A budget after what a request says of it. @throws WeirError 400 for a hard one without an amount */
function budgetOf(
  old: ProjectRow["budget"],
  given: z.output<typeof patchBody>["budget"],
): ProjectRow["budget"] {
  const { microUsd, hard } = budgetAfter(
    { microUsd: old.monthlyMicroUsd, hard: old.hard },
    { amount: given?.monthly_micro, hard: given?.hard },
    "/budget/monthly_micro",
  );
  return { monthlyMicroUsd: microUsd, hard };
}

async function createProject(deps: ProjectOperationDeps, caller: Caller, body: z.output<typeof createBody>) {
  const { accounts, clock } = deps;
  return await accounts.act(() => {
    const org = accounts.mustOpenOrg(caller.orgId);
    const environment = body.environment ?? "live";
    assertMayChange(caller, environment);
    if (accounts.projectIdBySlug(org.id, body.slug) !== undefined) {
      throw fail("slug_taken", `The org has a project "${body.slug}" already.`, { param: "/slug" });
    }
    const plan = deps.plan(org.planId);
    if (plan.projects !== 0 && accounts.projectsOf(org.id).length >= plan.projects) {
      throw fail("plan_limit", `The plan allows ${plan.projects} projects. Delete one first.`);
    }
    const what = "projects in an organisation, deleted ones included";
    assertWithin(deps.quotas, "projects_ever", accounts.projectsEver(org.id), what, "Rename one of them.");
    const { slug, name, hold } = body;
    const given = { orgId: org.id, slug, name, environment, ...(hold !== undefined && { hold }) };
    const made: ProjectRow = { ...newProject(given, clock.now()), budget: budgetOf(NO_BUDGET, body.budget) };
    accounts.addProject(made);
    const wire = projectWire(made, NOTHING_SPENT);
    deps.trail.audit.note(caller, { act: "project.create", target: made.id, after: wire });
    return wire;
  });
}

async function updateProject(
  deps: ProjectOperationDeps,
  caller: Caller,
  id: string,
  body: z.output<typeof patchBody>,
) {
  const { accounts } = deps;
  const spend = await deps.spend(ownProject(deps, caller, id).id);
  return await accounts.act(() => {
    const old = ownProject(deps, caller, id);
    assertMayChange(caller, old.environment);
    const changed: ProjectRow = {
      ...withHold(old, body.hold),
      name: body.name ?? old.name,
      budget: budgetOf(old.budget, body.budget),
    };
    accounts.replaceProject(changed);
    const [before, after] = [projectWire(old, spend), projectWire(changed, spend)];
    deps.trail.audit.note(caller, { act: "project.update", target: id, before, after });
    return after;
  });
}

/**
 * Revokes the project's working keys, all of which the caller must be able to revoke; the caller's own project cannot be deleted, so that nobody locks themselves out.
 */
async function deleteProject(deps: ProjectOperationDeps, caller: Caller, id: string): Promise<undefined> {
  const { accounts, clock } = deps;
  const spend = await deps.spend(ownProject(deps, caller, id).id);
  await accounts.act(() => {
    const project = ownProject(deps, caller, id);
    assertMayChange(caller, project.environment);
    if (project.id === caller.projectId) {
      throw fail("state", "This key belongs to the project. Delete it with a key of another project.");
    }
    const nowMs = clock.now();
    const working = accounts.workingKeys(project.orgId, nowMs).filter((key) => key.projectId === project.id);
    const revoked = working.map((key) => revokedKey(key, nowMs));
    assertKeyMakerStays(accounts, project.orgId, revoked, nowMs);
    for (const key of working) assertMayActOn(caller, key);
    for (const key of revoked) accounts.replaceKey(key);
    accounts.retireProject(project);
    const before = { ...projectWire(project, spend), keys_revoked: 0 };
    const after = { ...before, status: "deleted", keys_revoked: revoked.length };
    deps.trail.audit.note(caller, { act: "project.delete", target: id, before, after });
  });
}
