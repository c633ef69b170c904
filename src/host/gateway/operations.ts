/** What the gateway serves beside model calls: operations, streams and hooks, from the rooms that have them. */

import { attentionOperations } from "../../account/attention/attention-operations.ts";
import { exportOperations } from "../../account/exports/export-operations.ts";
import { keyStatus, keyWorks } from "../../account/key.ts";
import { isOfPlayground } from "../../account/key-tables.ts";
import { keyMatcher, listedKeysToLookAt } from "../../account/keys/key-search.ts";
import { mailOperations } from "../../account/mail/operations.ts";
import { accountOperations } from "../../account/operations.ts";
import { operatorOperations } from "../../account/operator/operations.ts";
import { documentOperations } from "../../account/orgs/document-operations.ts";
import { providerKeyOperations } from "../../account/provider-keys/provider-key-operations.ts";
import { scimOperations } from "../../account/scim/operations.ts";
import { webhookOperations } from "../../account/webhooks/operations.ts";
import { analystOperations } from "../../analytics/analysts/analyst-operations.ts";
import { catalogFigures } from "../../analytics/usage/catalog-figures.ts";
import { type Clock, systemRandom, systemTimers } from "../../base/clock.ts";
import type { StreamOperation } from "../../base/operation/event-stream.ts";
import type { AnyOperation } from "../../base/operation/operation.ts";
import { providerBillOperations } from "../../billing/provider-bills/provider-bill-operations.ts";
import { receiptOperations } from "../../billing/receipts/operations.ts";
import { reconciliationOperations } from "../../billing/reconciliation/reconciliation-operations.ts";
import { anthropicModelOperations } from "../../catalog/models/anthropic-model-operations.ts";
import { catalogOperations } from "../../catalog/models/operations.ts";
import { providerOperations } from "../../catalog/models/provider-operations.ts";
import { statsOperations } from "../../catalog/models/stats-operations.ts";
import { operatorProviderOperations } from "../../catalog/operator/provider-operations.ts";
import { operatorCellOperations } from "../../cluster/cells/operations.ts";
import { creditOperations } from "../../credits/ledger/operations.ts";
import { budgetOperations } from "../../credits/limits/budget-operations.ts";
import { type LimitsFilter, limitsOperations } from "../../credits/limits/operations.ts";
import type { Offered } from "../../edge/routes.ts";
import { responseOperations } from "../../inference/exchange/background/response-operations.ts";
import { detachedOperations } from "../../inference/exchange/detached/operations.ts";
import { ConversationChanges } from "../../inference/exchange/kept/conversations/changes.ts";
import { conversationOperations } from "../../inference/exchange/kept/conversations/operations.ts";
import { scopeOf } from "../../inference/exchange/reservation/holds.ts";
import { dataPolicyWarnings } from "../../routing/policies/data-policy-warnings.ts";
import { policiesOperations } from "../../routing/policies/operations.ts";
import { eventOperations } from "../../store/events/operations.ts";
import { backupOperations } from "../backup/operations.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";
import { attentionSources, operatorSources } from "./attention/sources.ts";
import { budgetPorts } from "./budget-owners.ts";
import { callEndOf } from "./call-end.ts";
import type { House } from "./house.ts";
import { orgMoneyOf } from "./money.ts";
import { operatorProviderDeps } from "./operator-providers.ts";
import { VERSION } from "./version.ts";

/** Below one heading of the reference, routes stand in this order. */
export function operationsOf(house: House, config: Config): readonly Offered[] {
  const byName = [
    ...ofCalls(house, config),
    ...ofAccounts(house, config),
    ...ofMoney(house),
    ...ofOperators(house, config),
  ];
  const named = byName.flatMap((some) => Object.entries(some).map(([name, each]) => ({ ...each, name })));
  return [...named, house.people.identity.notices.hook, house.billing.payments.inbound.hook];
}

type ByName = Readonly<Record<string, AnyOperation | StreamOperation>>;

function conversationsOf({ ground, kept, people }: House): ByName {
  const { conversations, bytes, responses } = kept;
  const { turns } = responses;
  const policyOf = (orgId: string) => people.account.accounts.org(orgId)?.dataPolicy;
  const changes = new ConversationChanges({ ...ground, conversations, turns, kept: bytes, policyOf });
  return conversationOperations({ conversations, changes, turns });
}

/** Models, policies, and what is recorded of calls. */
function ofCalls(house: House, config: Config): readonly ByName[] {
  const { analytics, apps, ground, routing } = house;
  const { clock } = ground;
  const reading = { calls: house.detached, clock, keepAliveMs: config.settings.timeouts.keep_alive_ms };
  return [
    responseOperations({ ...reading, ...house.kept, timers: systemTimers }),
    conversationsOf(house),
    detachedOperations(reading),
    catalogOperations({
      ...ground,
      healthOf: (endpoint) => routing.health.live(endpoint),
      stats: catalogFigures(analytics.statistics, ground.clock, house.simulated),
    }),
    anthropicModelOperations(ground),
    statsOperations({ ...ground, measured: apps.modelStats }),
    providerOperations(ground),
    apps.operations,
    analytics.operations,
    receiptsOf(house),
    analystOperations({ ...ground, analysts: analytics.analysts, access: analytics.analystAccess }),
    policiesOperations({
      ...ground,
      ...house.people.account,
      ...routing,
      random: systemRandom,
      usualAnswerTokens: config.settings.limits.default_max_tokens,
      replay: (request) => house.replays.replay(request),
      reports: { ...analytics.reports, ...analytics.shadowRuns },
    }),
  ];
}

/** Orgs, their people, keys and limits, and how people sign in. */
function ofAccounts(house: House, config: Config): readonly ByName[] {
  const { exports, ground, reach, vault, webhooks } = house;
  const { account, mail, identity } = house.people;
  return [
    limitsOf(house, config),
    budgetsOf(house),
    accountOf(house, config),
    providerKeyOperations({
      ...ground,
      ...account,
      providers: () => ground.catalog.current().providers,
    }),
    exportOperations({ ...ground, ...exports, exports: exports.rows }),
    documentsOf(house, config),
    eventOperations(ground),
    attentionOf(house),
    webhookOperations({ ...ground, ...webhooks, vault, rulesOf: reach.rulesOf }),
    identity.operations,
    mailOperations({ folder: mail.folder, isLocalOnly: isLocalOnly(config) }),
    scimOf(house),
  ];
}

/** What an org pays, has, and was billed. */
function ofMoney({ ground: { cursors }, money, billing, people, analytics }: House): readonly ByName[] {
  const { accounts } = people.account;
  const orgMoney = orgMoneyOf(billing, accounts);
  const callEnd = callEndOf({ analytics });
  return [creditOperations({ ...money, cursors, orgMoney, callEnd }), billing.operations];
}

/** For whoever runs the installation; other rooms have more of these beside their own. */
const ofOperators = (house: House, { cell }: Config): readonly ByName[] => [
  operatorOperations({
    ...house.ground,
    ...house.people.account,
    ...house.money,
    approveCorrection: house.billing.invoices.approveCorrection,
    refund: (caller, ticket, asked) => house.billing.refundByTicket(caller, ticket, asked),
  }),
  operatorProviderOperations(operatorProviderDeps(house, cell)),
  operatorCellOperations({ cells: house.ground.cell }),
  reconciliationOperations(house.billing.books),
  providerBillOperations({ usage: house.analytics.usageOf }),
  backupOperations(backupDeps(house)),
];

function accountOf(house: House, { settings }: Config) {
  const { account, directory, identity, mail } = house.people;
  const { accounts } = account;
  const { billing, ground, money, pool } = house;
  return accountOperations({
    ...ground,
    ...account,
    freePlanId: settings.default_plan,
    maxOrgsOfPerson: settings.max_orgs_per_person,
    hasPaid: (orgId) => billing.topups.hasPaid(orgId),
    hasDirectory: (orgId) => directory.tokens.isLive(orgId),
    locksOf: identity.locksOf,
    dataPolicyWarnings: (policy) => dataPolicyWarnings(ground.catalog.current(), policy),
    creditLeft: billing.creditLeft,
    previewRedaction: (redaction, sample) => pool.previewRedaction(redaction, sample),
    slowPattern: (patterns) => pool.slowPattern(patterns),
    sendInvitation: (invitation) => mail.putInvitation(invitation),
    sendKeyReported: (report) => mail.putKeyReported(report),
    spend: (projectId) =>
      money.budgets.spendOfProject({ projectId, timeZone: accounts.timeZoneOf(projectId) }),
  });
}

export const backupDeps = ({ backup: moment, analytics }: Pick<House, "backup" | "analytics">) => ({
  moment,
  version: VERSION,
  isEmbedded: analytics.copy.isEmbedded,
});

const receiptsOf = ({ receipts, ground: { clock }, analytics, money: { book } }: House) =>
  receiptOperations({
    ...receipts,
    clock,
    recordOf: analytics.recordOf,
    ledger: book,
  });

const scimOf = ({ ground, people: { account, directory, identity } }: House) =>
  scimOperations({
    ...ground,
    ...account,
    ...directory,
    endSessions: (personId) => identity.sessions.endAllOf(personId),
  });

const documentsOf = (
  { ground: { catalog, clock }, people: { account } }: House,
  { settings: { dpa } }: Config,
) =>
  documentOperations({
    accounts: account.accounts,
    clock,
    supplier: {
      legalName: dpa.legal_name,
      address: dpa.address,
      contact: dpa.contact,
      governingLaw: dpa.governing_law,
    },
    subprocessors: () =>
      [...catalog.current().providers.values()]
        .filter(({ status, simulated }) => status === "active" && !simulated)
        .map(({ name, regions, dataPolicy }) => ({
          name,
          regions,
          trains: dataPolicy.trains,
          retentionDays: dataPolicy.retentionDays,
        })),
  });

const budgetsOf = (house: House) => {
  const { accounts } = house.people.account;
  const { ownersOf: budgetOwners, ...ports } = budgetPorts(house);
  return budgetOperations({
    ...ports,
    budgetOwners,
    orgOf: (orgId) => accounts.mustOrg(orgId),
    recentSpend: house.analytics.recentSpend,
  });
};

const attentionOf = (house: House) => {
  const { accounts, isOperator } = house.people.account;
  return attentionOperations({
    attentionSources: attentionSources(house),
    operatorSources: operatorSources(house),
    roleOf: (orgId, personId) => accounts.people.member(orgId, personId)?.role,
    isOperatorPerson(personId) {
      const user = accounts.people.user(personId);
      return user !== undefined && isOperator(user);
    },
  });
};
/** Keys that may work, as a page of limits looks at them. */
function* keysInForce(
  { accounts, keyring, clock }: Pick<House["people"]["account"], "accounts" | "keyring"> & { clock: Clock },
  orgId: string,
  filter: LimitsFilter,
  afterId: string | undefined,
) {
  const isOfFilter = keyMatcher(filter);
  const nowMs = clock.now();
  for (const row of listedKeysToLookAt(accounts, orgId, filter, afterId)) {
    const isWanted = () =>
      keyWorks(row, nowMs) &&
      isOfFilter(row) &&
      (filter.status === undefined || keyStatus(row, nowMs) === filter.status);
    const inForce = () => {
      const context = keyring.contextOf(row);
      const { name, hint } = row;
      const { limits, status } = context;
      return { ...scopeOf(context), limits, name, hint, status, isOfPlayground: isOfPlayground(row) };
    };
    yield { id: row.id, isWanted, inForce };
  }
}

function limitsOf(
  { analytics, exports, ground: { clock, cursors }, kept, limits, money, people: { account } }: House,
  { settings }: Config,
) {
  const { accounts, keyring, plan } = account;
  return limitsOperations({
    limits: limits.limits,
    budgets: money.budgets,
    kept: kept.bytes,
    exportBytesOf: (orgId) => ({
      bytes: exports.rows.bytesOf(orgId),
      maxBytes: settings.limits.max_export_bytes,
    }),
    cursors,
    keysOf: (orgId, filter, afterId) => keysInForce({ accounts, keyring, clock }, orgId, filter, afterId),
    orgOf(orgId) {
      const org = accounts.org(orgId);
      const { monthlyMicroUsd = null, hard = false } = org?.budget ?? {};
      const monthly = monthlyMicroUsd === null ? undefined : { limitMicroUsd: monthlyMicroUsd, hard };
      return { monthly, timeZone: org?.timeZone ?? "UTC" };
    },
    planOf: (orgId) => plan(accounts.org(orgId)?.planId ?? ""),
    counts24h: async (orgId) => {
      const { rejected, upstreamCapacity } = await analytics.statistics.counts24h(orgId);
      return { ...rejected, upstreamCapacity };
    },
  });
}
