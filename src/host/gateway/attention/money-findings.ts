/** What of an org's money needs somebody: credit, the plan's fee, automatic top-ups, budgets. */
import {
  type Asker,
  type AttentionSource,
  type Finding,
  MOST_FOUND,
} from "../../../account/attention/finding.ts";
import type { AccountTables } from "../../../account/tables.ts";
import { type Clock, isoTime } from "../../../base/clock.ts";
import { usdString } from "../../../base/money.ts";
import type { AutoTopupTables } from "../../../billing/auto-topups/auto-topup.ts";
import type { MandateTables } from "../../../billing/mandates/tables.ts";
import type { SubscriptionTables } from "../../../billing/subscriptions/tables.ts";
import type { Budgets } from "../../../credits/budgets/budgets.ts";
import { openPeriods } from "../../../credits/budgets/periods.ts";
import {
  type BudgetOwners,
  type BudgetState,
  budgetStates,
  shareOf,
} from "../../../credits/limits/budget-list.ts";

export interface MoneyFindingDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly budgets: Pick<Budgets, "spendOfKey" | "spendOfProject" | "spendOfOrg" | "heldOf">;
  readonly ownersOf: (orgId: string, day: string) => BudgetOwners;
  readonly isOfTests: (of: "project" | "key", id: string) => boolean;
  readonly creditOf: (
    orgId: string,
  ) => Promise<{ readonly availableMicroUsd: number; readonly heldMicroUsd: number }>;
  readonly subscriptions: Pick<SubscriptionTables, "get">;
  readonly autoTopups: Pick<AutoTopupTables, "of">;
  readonly mandates: Pick<MandateTables, "inForce">;
}

/** A budget is near its end from this share on. */
const NEAR = 0.8;

export const moneyFindings = (deps: MoneyFindingDeps): AttentionSource[] => [
  { needs: ["read:billing / everyone"], find: (asker) => creditFindings(deps, asker) },
  { needs: ["read:billing / billing"], find: (asker) => subscriptionFindings(deps, asker) },
  { needs: ["read:billing / billing"], find: (asker) => autoTopupFindings(deps, asker) },
  {
    needs: ["read:usage / viewer", "read:org / viewer"],
    find: (asker) => budgetFindings(deps, asker, false),
  },
  {
    needs: ["read:usage / viewer", "read:keys / viewer"],
    find: (asker) => budgetFindings(deps, asker, true),
  },
];

async function creditFindings(
  { accounts, creditOf }: MoneyFindingDeps,
  { orgId }: Asker,
): Promise<Finding[]> {
  const org = accounts.org(orgId);
  if (org === undefined) return [];
  const { availableMicroUsd, heldMicroUsd } = await creditOf(orgId);
  const lowMicroUsd = org.creditsLowMicroUsd ?? 0;
  const balanceMicroUsd = availableMicroUsd + heldMicroUsd;
  const isGone = balanceMicroUsd <= 0;
  if (!isGone && balanceMicroUsd >= lowMicroUsd) return [];
  return [
    {
      kind: "credit_low",
      severity: isGone ? "critical" : "warning",
      title: isGone
        ? "The credit is used up; calls that cost something are refused."
        : `The credit is low: ${usdString(balanceMicroUsd)} USD are left.`,
      subject: { type: "org", id: orgId, name: org.name },
      sinceMs: undefined,
      details: { balance_micro: balanceMicroUsd, credits_low_micro: lowMicroUsd },
      link: "/v1/credits",
    },
  ];
}

function subscriptionFindings({ subscriptions }: MoneyFindingDeps, { orgId }: Asker): Finding[] {
  const row = subscriptions.get(orgId);
  if (row?.status !== "past_due") return [];
  return [
    {
      kind: "subscription_past_due",
      severity: "critical",
      title: `The fee of the plan ${row.planId} could not be taken from the credit.`,
      subject: { type: "subscription", id: row.id, name: row.planId },
      sinceMs: row.missedAtMs ?? undefined,
      details: { missed: row.missed },
      link: "/v1/billing/subscription",
    },
  ];
}

function autoTopupFindings({ autoTopups, mandates, clock }: MoneyFindingDeps, { orgId }: Asker): Finding[] {
  const row = autoTopups.of(orgId);
  if (!row.enabled) return [];
  const mandate = mandates.inForce(orgId);
  const link = "/v1/credits/auto-topup";
  const subject = { type: "mandate" as const, id: mandate?.id ?? "", name: "" };
  if (mandate === undefined || mandate.status === "paused" || mandate.isPausedAtBank === true) {
    return [
      {
        kind: "auto_topup_paused",
        severity: "warning",
        title:
          mandate === undefined
            ? "Automatic top-ups are on, but nothing may be debited: there is no mandate."
            : "Automatic top-ups are paused; no credit is bought until they are switched on again.",
        subject,
        sinceMs: undefined,
        ...(mandate !== undefined &&
          mandate.pauseReason !== "" && { details: { reason: mandate.pauseReason } }),
        link,
      },
    ];
  }
  const last = row.recent.at(-1);
  const hasFailed = last?.minor === 0 && row.notBeforeMs > clock.now();
  if (!hasFailed) return [];
  return [
    {
      kind: "auto_topup_failed",
      severity: "warning",
      title: "The last automatic top-up failed; it is tried again later.",
      subject,
      sinceMs: last?.atMs,
      details: { failures: mandate.consecutiveFailures },
      link,
    },
  ];
}

const periodOf = openPeriods();

/** @param isOfKeys those of keys, else those of projects and the org */
async function budgetFindings(deps: MoneyFindingDeps, asker: Asker, isOfKeys: boolean): Promise<Finding[]> {
  const { accounts, budgets, clock, ownersOf, isOfTests } = deps;
  const { orgId, environment } = asker;
  const period = periodOf(accounts.org(orgId)?.timeZone ?? "UTC", clock.now());
  const owners = ownersOf(orgId, period.day)
    .owners.filter(({ of }) => (of === "key") === isOfKeys)
    .filter(({ of, id }) => environment === "live" || (of !== "org" && isOfTests(of, id)));
  const states = await budgetStates(budgets, owners, period);
  return states
    .filter((state) => shareOf(state) >= NEAR)
    .slice(0, MOST_FOUND)
    .map(budgetFinding);
}

const LINKS = { org: "/v1/orgs/", project: "/v1/projects/", key: "/v1/keys/" } as const;
const WORDS = { org: "the organisation", project: "the project", key: "the key" } as const;

function budgetFinding(state: BudgetState): Finding {
  const { of, id, name, budget, spentMicroUsd, window } = state;
  const isUsedUp = spentMicroUsd >= budget.limitMicroUsd;
  const whose = `budget of ${WORDS[of]} “${name}” for ${of === "key" ? "today" : "this month"}`;
  const percent = Math.floor(shareOf(state) * 100);
  const then = budget.hard ? "calls beyond it are refused" : "calls go on";
  return {
    kind: isUsedUp ? "budget_used_up" : "budget_near",
    severity: isUsedUp && budget.hard ? "critical" : "warning",
    title: isUsedUp ? `The ${whose} is used up; ${then}.` : `${percent} % of the ${whose} is spent; ${then}.`,
    subject: { type: of, id, name },
    sinceMs: undefined,
    details: {
      limit_micro: budget.limitMicroUsd,
      spent_micro: spentMicroUsd,
      resets_at: isoTime(window.toMs),
    },
    link: `${LINKS[of]}${id}`,
  };
}
