/** What of an org's webhooks and keys needs somebody, and what operators must see to: jobs and providers. */
import {
  type Asker,
  type AttentionSource,
  type Finding,
  MOST_FOUND,
} from "../../../account/attention/finding.ts";
import { keyStatus } from "../../../account/key.ts";
import type { AccountTables } from "../../../account/tables.ts";
import type { WebhookTables } from "../../../account/webhooks/webhook-tables.ts";
import { type Clock, isoTime } from "../../../base/clock.ts";
import { DAY_MS } from "../../../base/time.ts";
import type { CatalogSnapshot } from "../../../catalog/models/catalog.ts";
import type { Jobs } from "../../../store/jobs/jobs.ts";

export interface AccountFindingDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly webhooks: Pick<WebhookTables, "endpointsOf" | "state">;
  readonly jobs: Pick<Jobs, "givenUp">;
  readonly catalog: { current(): CatalogSnapshot };
}

const EXPIRING_MS = 7 * DAY_MS;

/** Jobs and providers: operators see them in their orgs, too. */
export const upkeepFindings = (deps: Pick<AccountFindingDeps, "jobs" | "catalog">): AttentionSource[] => [
  { needs: "operator", find: () => jobFindings(deps) },
  { needs: "operator", find: () => providerFindings(deps) },
];

export const accountFindings = (deps: AccountFindingDeps): AttentionSource[] => [
  { needs: ["read:org / admin"], find: (asker) => webhookFindings(deps, asker) },
  { needs: ["read:keys / viewer"], find: (asker) => keyFindings(deps, asker) },
  ...upkeepFindings(deps),
];

/** An endpoint that somebody of the org disabled needs nobody. */
function webhookFindings({ webhooks }: AccountFindingDeps, { orgId }: Asker): Finding[] {
  return webhooks
    .endpointsOf(orgId)
    .flatMap(({ id, url, description, status, disabledReason }): Finding[] => {
      const { failingSinceMs, waiting } = webhooks.state(id);
      const name = description === "" ? hostOf(url) : description;
      const same = { subject: { type: "webhook" as const, id, name }, link: `/v1/webhooks/${id}` };
      if (status === "disabled") {
        if (disabledReason === null || disabledReason === "manual") return [];
        const why =
          disabledReason === "gone"
            ? "its receiver answered that it is gone"
            : "nothing but failures for five days";
        return [
          {
            ...same,
            kind: "webhook_disabled",
            severity: "warning",
            title: `The webhook “${name}” is disabled: ${why}.`,
            sinceMs: undefined,
            details: { reason: disabledReason },
          },
        ];
      }
      if (failingSinceMs === 0) return [];
      return [
        {
          ...same,
          kind: "webhook_failing",
          severity: "warning",
          title: `The webhook “${name}” fails; ${waiting} deliveries wait.`,
          sinceMs: failingSinceMs,
          details: { waiting },
        },
      ];
    });
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;

/** Those that the daily look has noted: it finds them without a walk over the org's keys, up to a day later. */
function keyFindings({ accounts, clock }: AccountFindingDeps, { orgId, environment }: Asker): Finding[] {
  const nowMs = clock.now();
  return accounts
    .expiringKeys(orgId, nowMs, nowMs + EXPIRING_MS, MOST_FOUND)
    .filter((key) => keyStatus(key, nowMs) === "active")
    .filter((key) => environment === "live" || key.environment === "test")
    .map((key) => ({
      kind: "key_expiring",
      severity: "warning",
      title: `The key “${key.name}” (…${key.hint}) ceases to work within seven days.`,
      subject: { type: "key", id: key.id, name: key.name },
      sinceMs: undefined,
      details: { expires_at: isoTime(key.expiresAtMs ?? nowMs) },
      link: `/v1/keys/${key.id}`,
    }));
}

function jobFindings({ jobs }: Pick<AccountFindingDeps, "jobs">): Finding[] {
  const found: Finding[] = [];
  for (const { kind, key, tries, dueMs, orgId } of jobs.givenUp()) {
    if (found.length === MOST_FOUND) break;
    found.push({
      kind: "job_given_up",
      severity: "warning",
      title: `The job ${kind} was given up after ${tries} tries.`,
      subject: { type: "job", id: key, name: kind },
      sinceMs: dueMs,
      details: { tries, org_id: orgId },
      link: "/v1/operator/jobs",
    });
  }
  return found;
}

/** A provider without its credential serves nothing; whoever does not want it switches it off in the catalog. */
function providerFindings({ catalog }: Pick<AccountFindingDeps, "catalog">): Finding[] {
  return [...catalog.current().providers.values()]
    .filter(({ missing = [], isSwitchedOff }) => missing.length > 0 && isSwitchedOff !== true)
    .map(({ id, name, missing = [] }) => ({
      kind: "provider_without_credential",
      severity: "info",
      title: `${name} serves nothing: ${missing.join(", ")} is not set.`,
      subject: { type: "provider", id, name },
      sinceMs: undefined,
      link: "/v1/providers",
    }));
}
