/** What of calls needs somebody: endpoints that are down, and canaries that turned red. */
import {
  type Asker,
  type AttentionSource,
  type Finding,
  MOST_FOUND,
} from "../../../account/attention/finding.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Endpoint, Model } from "../../../base/endpoint.ts";
import type { CatalogSnapshot } from "../../../catalog/models/catalog.ts";
import type { Health } from "../../../routing/health/health.ts";
import type { PolicyTables } from "../../../routing/policies/policy-tables.ts";

export interface CallFindingDeps {
  readonly clock: Clock;
  readonly catalog: { current(): CatalogSnapshot };
  readonly health: Pick<Health, "outage">;
  readonly policies: Pick<PolicyTables, "activationsOf" | "canariesOf">;
}

/** All orgs see the same endpoints: they are looked at once in so long. */
const FRESH_MS = 2000;
/** Activations of an org that are looked at: one of the org, and one of each project that has its own. */
const MOST_ACTIVATIONS = 500;

export function callFindings(deps: CallFindingDeps): AttentionSource[] {
  const down = downFindings(deps);
  return [
    { needs: ["read:usage / viewer"], find: down },
    { needs: ["read:policies / viewer"], find: (asker) => canaryFindings(deps, asker) },
  ];
}

/**
 * Every endpoint of the catalog that can be called and is out by what this gateway saw: which of them an org used lately is known to the
 * analytics alone, which is not asked here.
 */
export function downFindings({
  clock,
  catalog,
  health,
}: Omit<CallFindingDeps, "policies">): () => readonly Finding[] {
  let read: { readonly atMs: number; readonly found: readonly Finding[] } | undefined;
  return () => {
    const nowMs = clock.monotonic();
    if (read !== undefined && nowMs - read.atMs < FRESH_MS) return read.found;
    const found: Finding[] = [];
    for (const model of catalog.current().models.values()) {
      const out = model.endpoints.filter(
        (endpoint) => isCalled(endpoint) && health.outage(endpoint) !== undefined,
      );
      if (out.length === 0) continue;
      const isLast = out.length === model.endpoints.filter(isCalled).length;
      found.push(...out.map((endpoint) => downFinding(model, endpoint, isLast)));
      if (found.length >= MOST_FOUND) break;
    }
    read = { atMs: nowMs, found };
    return found;
  };

  function downFinding(model: Model, endpoint: Endpoint, isLast: boolean): Finding {
    const outage = health.outage(endpoint);
    const since = outage?.sinceMs;
    const where = `${endpoint.provider.name} for ${model.name}`;
    return {
      kind: "endpoint_down",
      severity: isLast ? "critical" : "info",
      title: isLast
        ? `Calls of ${model.id} fail: ${endpoint.provider.name} is down, and no other endpoint is left.`
        : `${where} is down; other endpoints take the calls.`,
      subject: { type: "endpoint", id: endpoint.id, name: where },
      sinceMs: since === undefined ? undefined : Math.round(clock.now() - (clock.monotonic() - since)),
      details: { model: model.id, provider: endpoint.provider.id, reason: outage?.reason ?? "" },
      link: `/v1/models/${model.id}`,
    };
  }
}

const isCalled = ({ status, provider }: Endpoint): boolean =>
  status === "active" && provider.status === "active";

/** Canaries of the versions in force: an older version's verdict is history. */
function canaryFindings({ policies }: CallFindingDeps, { orgId }: Asker): Finding[] {
  const versions = new Map<string, { readonly policy: string; readonly version: number }>();
  for (const { name, version } of policies.activationsOf(orgId).slice(0, MOST_ACTIVATIONS))
    versions.set(`${name} ${version}`, { policy: name, version });
  return [...versions.values()].flatMap(({ policy, version }) =>
    policies
      .canariesOf({ orgId, policy, version })
      .filter(({ state }) => state === "red")
      .map(({ endpointId, samples, failures, evaluatedAtMs }) => ({
        kind: "canary_red" as const,
        severity: "warning" as const,
        title: `The canary ${endpointId} of the policy ${policy} is red and gets no share any more.`,
        subject: { type: "policy" as const, id: policy, name: policy },
        sinceMs: evaluatedAtMs,
        details: { version, endpoint_id: endpointId, samples, failures },
        link: `/v1/policies/${policy}/canaries`,
      })),
  );
}
