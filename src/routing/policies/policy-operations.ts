/**
 * Operations on policies: write versions, check them, activate them. Checks and writes share one transaction.
 */
import { z } from "zod";
import { nextTurn } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import { POLICY_NAME } from "../language/policy-document.ts";
import type { PolicyReading } from "../language/policy-reading.ts";
import { type CatalogView, knownNames } from "./catalog-view.ts";
import { type ActivationDeps, activate, deactivate } from "./policy-activation.ts";
import { assertMayWrite, ownPolicy, ownVersion, versionOrNewest } from "./policy-lookup.ts";
import type { PolicyRow, VersionRow } from "./policy-tables.ts";
import {
  createdShape,
  currentActivations,
  inForceWire,
  listedPolicyShape,
  listedVersionShape,
  problemDetails,
  problemShape,
  problemWire,
  summaryShape,
  summaryWire,
  versionShape,
} from "./policy-wire.ts";

export interface PolicyOperationDeps extends ActivationDeps {
  readonly catalog: { current(): CatalogView };
  readonly quotas: Quotas;
}

/** Rows read per turn of the event loop (T54). */
const VERSIONS_A_TURN = 200;

const byName = z.object({ name: z.string().describe("The policy's name.") });
const yaml = z
  .string()
  .describe("The policy document; at most 64 KB. Its JSON Schema: GET /schemas/policy.json")
  .meta({ examples: ["version: 1\nsort: price\n"] });
const version = z.int().min(1);
const scope = z
  .strictObject({ project_id: z.string().min(1).max(100).optional().describe("The project's id.") })
  .optional()
  .describe("Default: the whole org. A project's policy goes before the org's");

const createBody = z.strictObject({
  name: z
    .string()
    .regex(POLICY_NAME, "lower-case letters, digits, - and _; at most 64")
    .meta({ examples: ["house"] })
    .describe("The policy's name."),
  yaml,
});
const activateBody = z.strictObject({ version: version.describe("The version to put in force."), scope });
const deactivateBody = z.strictObject({ scope });

const verdict = z.object({
  valid: z.boolean().describe("The document can be put in force."),
  path: z.string().describe("JSON pointer of the first problem; empty where there is none"),
  message: z.string().describe("The first problem; empty where there is none"),
  line: z.int().nullable().describe("1-based."),
  column: z.int().nullable().describe("1-based."),
  problems: z.array(problemShape).describe("All that is wrong with it."),
  warnings: z.array(problemShape).describe("What the policy names and the catalog does not have"),
});

export const policyOperations = (deps: PolicyOperationDeps) => ({
  ...readOperations(deps),
  ...writeOperations(deps),
});

function readOperations(deps: PolicyOperationDeps) {
  return {
    listPolicies: operation({
      summary: "List the org's routing policies: the version in force, else the newest; not paged",
      method: "GET",
      path: "/v1/policies",
      access: "read:policies / viewer",
      group: "Routing policies",
      output: listOf(listedPolicyShape),
      run: (_input, caller) => listPolicies(deps, caller),
    }),
    validatePolicy: operation({
      summary: "Check a policy document; always 200",
      method: "POST",
      path: "/v1/policies/validate",
      access: "read:policies / viewer",
      group: "Routing policies",
      body: z.strictObject({ yaml }),
      output: verdict,
      run: ({ body }) => validate(deps, body.yaml),
    }),
    listPolicyVersions: operation({
      summary: "List a policy's versions, newest first; not paged",
      method: "GET",
      path: "/v1/policies/{name}/versions",
      access: "read:policies / viewer",
      group: "Routing policies",
      params: byName,
      output: listOf(listedVersionShape),
      errors: ["not_found"],
      run: ({ params }, caller) => listVersions(deps, caller, params.name),
    }),
    getPolicyVersion: operation({
      summary: "Read a version of a policy with its document",
      method: "GET",
      path: "/v1/policies/{name}/versions/{version}",
      access: "read:policies / viewer",
      group: "Routing policies",
      params: byName.extend({
        version: z.coerce.number().int().min(1).describe("The version's number, from 1."),
      }),
      output: versionShape,
      errors: ["not_found"],
      run: ({ params }, caller) => getVersion(deps, caller, params.name, params.version),
    }),
  };
}

function writeOperations(deps: PolicyOperationDeps) {
  return {
    createPolicy: operation({
      summary: "Create a routing policy with its first version, a draft",
      method: "POST",
      path: "/v1/policies",
      access: "write:policies / member",
      group: "Routing policies",
      body: createBody,
      output: createdShape,
      status: 201,
      errors: ["scope", "slug_taken", "plan_limit"],
      run: ({ body }, caller) => addVersion(deps, caller, { ...body, isNew: true }),
    }),
    createPolicyVersion: operation({
      summary: "Add a version to a policy, a draft",
      method: "POST",
      path: "/v1/policies/{name}/versions",
      access: "write:policies / member",
      group: "Routing policies",
      params: byName,
      body: z.strictObject({ yaml }),
      output: createdShape,
      status: 201,
      errors: ["not_found", "scope", "plan_limit"],
      run: ({ params, body }, caller) =>
        addVersion(deps, caller, { name: params.name, yaml: body.yaml, isNew: false }),
    }),
    activatePolicy: operation({
      summary: "Put a version in force, for the org or one project; what was in force there is replaced",
      method: "POST",
      path: "/v1/policies/{name}/activate",
      access: "write:policies / member",
      group: "Routing policies",
      params: byName,
      body: activateBody,
      output: summaryShape,
      errors: ["not_found", "scope", "state"],
      run: ({ params, body }, caller) =>
        activate(deps, caller, params.name, body.version, body.scope?.project_id),
    }),
    deactivatePolicy: operation({
      summary: "Take a policy out of force, for the org or one project",
      method: "POST",
      path: "/v1/policies/{name}/deactivate",
      access: "write:policies / member",
      group: "Routing policies",
      params: byName,
      body: deactivateBody,
      output: summaryShape,
      errors: ["not_found", "scope"],
      run: ({ params, body }, caller) => deactivate(deps, caller, params.name, body.scope?.project_id),
    }),
  };
}

function listPolicies({ policies, accounts }: PolicyOperationDeps, { orgId }: Caller) {
  const active = currentActivations(policies.tables, accounts, orgId);
  const data = policies.tables.policiesOf(orgId).map(({ name, versions }) => {
    const ofPolicy = active.filter((a) => a.name === name);
    const row = versionOrNewest(policies, orgId, name, ofPolicy[0]?.version);
    return { ...summaryWire(row, ofPolicy), newest: versions, in_force: inForceWire(ofPolicy) };
  });
  return listed(data);
}

async function listVersions({ policies, accounts }: PolicyOperationDeps, { orgId }: Caller, name: string) {
  const { tables } = policies;
  const { versions } = ownPolicy(policies, orgId, name);
  const ofPolicy = currentActivations(tables, accounts, orgId).filter((a) => a.name === name);
  const active = Map.groupBy(ofPolicy, ({ version }) => version);
  const data: z.input<typeof listedVersionShape>[] = [];
  for (let newest = versions; newest > 0; await nextTurn()) {
    const rows = tables.versionsOf(orgId, name, newest, VERSIONS_A_TURN);
    for (const row of rows) {
      const ofVersion = active.get(row.version) ?? [];
      data.push({ ...summaryWire(row, ofVersion), in_force: inForceWire(ofVersion) });
    }
    newest = (rows.at(-1)?.version ?? 1) - 1;
  }
  return listed(data);
}

function getVersion(deps: PolicyOperationDeps, { orgId }: Caller, policy: string, version: number) {
  const { tables } = deps.policies;
  const row = ownVersion(deps.policies, orgId, policy, version);
  const active = currentActivations(tables, deps.accounts, orgId);
  return { ...summaryWire(row, active), yaml: tables.text({ orgId, policy, version }) ?? "" };
}

interface NewVersion {
  readonly name: string;
  readonly yaml: string;
  /** True: the policy must not exist yet; false: it must exist. */
  readonly isNew: boolean;
}

async function addVersion(deps: PolicyOperationDeps, caller: Caller, { name, yaml, isNew }: NewVersion) {
  assertMayWrite(caller);
  const { orgId } = caller;
  const { tables } = deps.policies;
  // Checked before the transaction too, which other writers wait for.
  if (!isNew) ownPolicy(deps.policies, orgId, name);
  const known = knownNames(deps.catalog.current());
  const warnings = validated(await deps.policies.readText(yaml, { name, known }));
  const row = await tables.act(() => {
    const old = tables.policy(orgId, name);
    if (isNew && old !== undefined) {
      throw fail("slug_taken", `The org has a policy "${name}" already.`, { param: "/name" });
    }
    if (!isNew && old === undefined) throw fail("not_found", "There is no such policy.");
    assertRoom(deps, orgId, old, yaml);
    const versions = old?.versions ?? 0;
    const made: VersionRow = {
      name,
      version: versions + 1,
      createdAtMs: deps.clock.now(),
      createdBy: caller.actor.id,
      wasActive: false,
    };
    tables.addVersion(orgId, made, yaml);
    const after = { ...summaryWire(made, []), yaml };
    const act = isNew ? "policy.create" : "policy.add_version";
    deps.trail.audit.note(caller, { act, target: name, after });
    return made;
  });
  return { ...summaryWire(row, []), yaml, warnings: warnings.map(problemWire) };
}

/** Versions are kept for good. @param old undefined for a new policy @throws WeirError 403 `plan_limit` */
function assertRoom(
  { policies, quotas }: PolicyOperationDeps,
  orgId: string,
  old: PolicyRow | undefined,
  yaml: string,
): void {
  const all = policies.tables.policiesOf(orgId);
  const cure = "Add a version to one of them.";
  if (old === undefined) assertWithin(quotas, "policies", all.length, "policies in an organisation", cure);
  const versions = old?.versions ?? 0;
  assertWithin(quotas, "policy_versions", versions, "versions of a policy", "Go on with a new policy.");
  const bytes = all.reduce((sum, policy) => sum + policy.bytes, Buffer.byteLength(yaml));
  const what = "bytes of policies in an organisation, all versions together";
  assertWithin(quotas, "policy_bytes", bytes - 1, what, "Versions are kept for good: write shorter ones.");
}

async function validate(
  { catalog, policies }: PolicyOperationDeps,
  yaml: string,
): Promise<z.input<typeof verdict>> {
  const read = await policies.readText(yaml, { known: knownNames(catalog.current()) });
  const problems = read.ok ? [] : read.problems.map(problemWire);
  const [first] = problems;
  return {
    valid: read.ok,
    path: first?.path ?? "",
    message: first?.message ?? "",
    line: first?.line ?? null,
    column: first?.column ?? null,
    problems,
    warnings: read.ok ? read.warnings.map(problemWire) : [],
  };
}

/** @returns the warnings. @throws WeirError `invalid_value` with every problem. */
function validated(read: PolicyReading) {
  if (read.ok) return read.warnings;
  const details = problemDetails(read.problems);
  const { message, line, column } = details;
  throw fail("invalid_value", `The policy is not valid. Line ${line}, column ${column}: ${message}`, {
    param: "/yaml",
    details,
  });
}
