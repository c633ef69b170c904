/** What the gateway serves beside model calls: operations, streams and hooks, from the rooms that have them. */

import { exportOperations } from "../../account/exports/export-operations.ts";
import { mailOperations } from "../../account/mail/operations.ts";
import { accountOperations } from "../../account/operations.ts";
import { operatorOperations } from "../../account/operator/operations.ts";
import { documentOperations } from "../../account/orgs/document-operations.ts";
import { providerKeyOperations } from "../../account/provider-keys/provider-key-operations.ts";
import { scimOperations } from "../../account/scim/operations.ts";
import { webhookOperations } from "../../account/webhooks/operations.ts";
import { analystOperations } from "../../analytics/analysts/analyst-operations.ts";
import { catalogFigures } from "../../analytics/usage/catalog-figures.ts";
import { systemRandom } from "../../base/clock.ts";
import { billingOperations } from "../../billing/operations.ts";
import { providerBillOperations } from "../../billing/provider-bills/provider-bill-operations.ts";
import { creditMoney } from "../../billing/rates/quote.ts";
import { receiptOperations } from "../../billing/receipts/operations.ts";
import { reconciliationOperations } from "../../billing/reconciliation/reconciliation-operations.ts";
import { creditLeft } from "../../billing/refunds/acts.ts";
import { anthropicModelOperations } from "../../catalog/models/anthropic-model-operations.ts";
import { catalogOperations } from "../../catalog/models/operations.ts";
import { providerOperations } from "../../catalog/models/provider-operations.ts";
import { statsOperations } from "../../catalog/models/stats-operations.ts";
import { creditOperations } from "../../credits/ledger/operations.ts";
import { limitsOperations } from "../../credits/limits/operations.ts";
import type { Offered } from "../../edge/routes.ts";
import { responseOperations } from "../../inference/exchange/kept/response-operations.ts";
import { scopeOf } from "../../inference/exchange/reservation/holds.ts";
import { dataPolicyWarnings } from "../../routing/policies/data-policy-warnings.ts";
import { policiesOperations } from "../../routing/policies/operations.ts";
import { eventOperations } from "../../store/events/operations.ts";
import { backupOperations } from "../backup/operations.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";
import { exportFolder, otherFolders } from "./exports.ts";
import type { Rooms } from "./rooms.ts";
import { VERSION } from "./version.ts";

/** Below one heading of the reference, routes stand in this order. */
export function operationsOf(rooms: Rooms, config: Config): readonly Offered[] {
  const { identity, payments } = rooms;
  const byName = [...ofCalls(rooms), ...ofAccounts(rooms, config), ...ofMoney(rooms), ...ofOperators(rooms)];
  return [...byName.flatMap((some) => Object.values(some)), identity.notices.hook, payments.inbound.hook];
}

type ByName = Readonly<Record<string, Offered>>;

/** Models, policies, and what is recorded of calls. */
function ofCalls(rooms: Rooms): readonly ByName[] {
  const { accounts, analytics, catalog, clock, ownKeys } = rooms;
  return [
    responseOperations({ responses: rooms.responses }),
    catalogOperations({
      catalog,
      clock,
      healthOf: (endpoint) => rooms.health.live(endpoint),
      stats: catalogFigures(analytics.statistics, clock, rooms.simulated),
    }),
    anthropicModelOperations({ catalog }),
    statsOperations({ catalog, changelog: rooms.changelog, measured: rooms.apps.modelStats }),
    providerOperations(rooms),
    rooms.apps.operations,
    analytics.operations,
    receiptsOf(rooms),
    analystOperations({ ...rooms, ...analytics, access: analytics.analystAccess }),
    policiesOperations({
      accounts,
      catalog,
      clock,
      ownKeys,
      policies: rooms.policies,
      health: rooms.health,
      trail: rooms.trail,
      quotas: rooms.quotas,
      random: systemRandom,
      replay: (request) => rooms.replays.replay(request),
      reports: { ...analytics.reports, ...analytics.shadowRuns },
    }),
  ];
}

/** Orgs, their people, keys and limits, and how people sign in. */
function ofAccounts(rooms: Rooms, config: Config): readonly ByName[] {
  const { accounts, catalog, clock, ownKeys, quotas, trail } = rooms;
  return [
    limitsOf(rooms, config),
    accountOf(rooms, config),
    providerKeyOperations({
      accounts,
      clock,
      ownKeys,
      trail,
      quotas,
      providers: () => catalog.current().providers,
    }),
    exportOperations({ ...rooms, folder: exportFolder(config), others: otherFolders(rooms) }),
    documentsOf(rooms, config),
    eventOperations(rooms),
    webhookOperations({ ...rooms, ...rooms.webhooks }),
    rooms.identity.operations,
    mailOperations({ folder: rooms.mail.folder, isLocalOnly: isLocalOnly(config) }),
    scimOf(rooms),
  ];
}

/** What an org pays, has, and was billed. */
function ofMoney(rooms: Rooms): readonly ByName[] {
  const { accounts, book, cursors, purse } = rooms;
  const { fx, terms } = rooms.billing;
  const orgMoney = (orgId: string) => creditMoney(fx, terms, accounts.org(orgId)?.billingCurrency ?? "USD");
  return [
    creditOperations({ book, purse, cursors, orgMoney }),
    billingOperations({ ...rooms, ...rooms.billing, invoices: rooms.invoices.issuer }),
    rooms.billing.topUps.operations,
    rooms.planRoom.operations,
    rooms.invoices.operations,
  ];
}

/** For whoever runs the installation; other rooms have more of these beside their own. */
const ofOperators = (rooms: Rooms): readonly ByName[] => [
  operatorOperations({ ...rooms, cells: rooms.cell, approveCorrection: rooms.invoices.approveCorrection }),
  reconciliationOperations(rooms.books),
  providerBillOperations({ usage: rooms.analytics.usageOf }),
  backupOperations(backupDeps(rooms)),
];

function accountOf(rooms: Rooms, { settings }: Config) {
  const { accounts, budgets, identity, invitationCounts, jobs, lastUsed, orgsMade, plan, tickets } = rooms;
  return accountOperations({
    accounts,
    invitationCounts,
    jobs,
    lastUsed,
    orgsMade,
    plan,
    tickets,
    clock: rooms.clock,
    cursors: rooms.cursors,
    trail: rooms.trail,
    quotas: rooms.quotas,
    freePlanId: settings.default_plan,
    maxOrgsOfPerson: settings.max_orgs_per_person,
    hasPaid: (orgId) => rooms.billing.topups.hasPaid(orgId),
    hasDirectory: (orgId) => rooms.directory.tokens.isLive(orgId),
    locksOf: identity.locksOf,
    dataPolicyWarnings: (policy) => dataPolicyWarnings(rooms.catalog.current(), policy),
    creditLeft: (orgId) => creditLeft({ ...rooms, ...rooms.billing }, orgId),
    previewRedaction: (presets, sample) => rooms.pool.previewRedaction(presets, sample),
    slowPattern: (patterns) => rooms.pool.slowPattern(patterns),
    sendInvitation: (mail) => rooms.mail.putInvitation(mail),
    sendKeyReported: (mail) => rooms.mail.putKeyReported(mail),
    spend: (projectId) => budgets.spendOfProject({ projectId, timeZone: accounts.timeZoneOf(projectId) }),
  });
}

export const backupDeps = ({ backup: moment, analytics }: Pick<Rooms, "backup" | "analytics">) => ({
  moment,
  version: VERSION,
  isEmbedded: analytics.copy.isEmbedded,
});

const receiptsOf = ({ receipts, clock, analytics, book }: Rooms) =>
  receiptOperations({
    keys: receipts.keys,
    issuer: receipts.issuer,
    clock,
    recordOf: analytics.recordOf,
    ledger: (orgId, page) => book.list(orgId, page),
  });

function scimOf({ accounts, clock, cursors, directory, identity, jobs, trail }: Rooms) {
  return scimOperations({
    accounts,
    clock,
    cursors,
    jobs,
    trail,
    ...directory,
    endSessions: (personId) => void identity.sessions.endAllOf(personId),
  });
}

const documentsOf = ({ accounts, catalog, clock }: Rooms, { settings: { dpa } }: Config) =>
  documentOperations({
    accounts,
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

function limitsOf(
  { accounts, analytics, budgets, clock, exports, kept, keyring, limits, plan }: Rooms,
  { settings }: Config,
) {
  return limitsOperations({
    limits,
    budgets,
    kept,
    exportBytesOf: (orgId) => ({
      bytes: exports.bytesOf(orgId),
      maxBytes: settings.limits.max_export_bytes,
    }),
    keysOf: (orgId) =>
      accounts.workingKeys(orgId, clock.now()).map((row) => {
        const context = keyring.contextOf(row);
        return { ...scopeOf(context), limits: context.limits, name: row.name, status: context.status };
      }),
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
