/**
 * Activates and deactivates versions. Check and write share one transaction; the cached active policy is dropped once
 * it is committed, so the next call sees the change. Repeating a request changes nothing.
 */
import type { Clock } from "../../base/clock.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { Trail } from "../../store/events/trail.ts";
import { type AccountView, assertProject } from "./account-view.ts";
import type { Policies } from "./policies.ts";
import { policyActivated } from "./policy-events.ts";
import { assertMayWrite, ownPolicy, ownVersion, readableVersion, versionOrNewest } from "./policy-lookup.ts";
import { WHOLE_ORG } from "./policy-tables.ts";
import { currentActivations, summaryWire } from "./policy-wire.ts";

export interface ActivationDeps {
  readonly policies: Policies;
  readonly clock: Clock;
  readonly accounts: AccountView;
  readonly trail: Trail;
}

/** Compiles the version first, so that no call has to. @throws WeirError `not_found`, `scope`, `state`. */
export async function activate(
  deps: ActivationDeps,
  caller: Caller,
  name: string,
  version: number,
  projectId: string | undefined,
) {
  assertMayWrite(caller);
  const { orgId } = caller;
  const { tables } = deps.policies;
  await readableVersion(deps.policies, { orgId, policy: name, version });
  const scope = scopeOf(projectId);
  return await tables.act(() => {
    if (projectId !== undefined) assertProject(deps.accounts, orgId, projectId, PROJECT);
    const row = ownVersion(deps.policies, orgId, name, version);
    const old = tables.activation(orgId, scope);
    const isSame = old?.name === name && old.version === version;
    if (!isSame) {
      const at = { activatedAtMs: deps.clock.now(), activatedBy: caller.actor.id };
      tables.activate(orgId, { scope, name, version, ...at }, row);
    }
    // Read inside the act: afterwards another activation may have changed it.
    const summary = summaryWire(row, currentActivations(tables, deps.accounts, orgId));
    if (!isSame) {
      const before = old && inForce(old.name, old.version, projectId);
      const after = inForce(name, version, projectId);
      deps.trail.audit.note(caller, {
        act: "policy.activate",
        target: name,
        ...(before && { before }),
        after,
      });
      deps.trail.events.emit(policyActivated, orgId, summary);
    }
    return summary;
  });
}

/** Does nothing where another policy or none is active in the scope. @throws WeirError `not_found`, `scope`. */
export async function deactivate(
  deps: ActivationDeps,
  caller: Caller,
  name: string,
  projectId: string | undefined,
) {
  assertMayWrite(caller);
  const { orgId } = caller;
  const { tables } = deps.policies;
  const scope = scopeOf(projectId);
  return await tables.act(() => {
    if (projectId !== undefined) assertProject(deps.accounts, orgId, projectId, PROJECT);
    ownPolicy(deps.policies, orgId, name);
    const old = tables.activation(orgId, scope);
    const version = old?.name === name ? old.version : undefined;
    if (version !== undefined) {
      tables.deactivate(orgId, scope);
      const before = inForce(name, version, projectId);
      deps.trail.audit.note(caller, { act: "policy.deactivate", target: name, before });
    }
    return summaryWire(
      versionOrNewest(deps.policies, orgId, name, version),
      currentActivations(tables, deps.accounts, orgId),
    );
  });
}

/** What is in force in a scope, as the audit shows it. */
const inForce = (policy: string, version: number, projectId: string | undefined) => ({
  policy,
  version,
  ...(projectId !== undefined && { project_id: projectId }),
});

const scopeOf = (projectId: string | undefined): string => projectId ?? WHOLE_ORG;

/** The field that names the project. Without one the scope is the whole org, whose name is not a project id. */
const PROJECT = "/scope/project_id";
