/** What each route runs: every operation by its name, from the room that has it. */
import { accountOperations } from "../account/operations.ts";
import { providerKeyOperations } from "../account/provider-key-operations.ts";
import { catalogFigures } from "../analytics/catalog-figures.ts";
import { anthropicModelOperations } from "../catalog/anthropic-models.ts";
import { catalogOperations } from "../catalog/operations.ts";
import { statsOperations } from "../catalog/stats-operations.ts";
import { systemRandom } from "../clock.ts";
import { type Config, isLocalOnly } from "../config.ts";
import { creditOperations } from "../credits/operations.ts";
import type { Operations } from "../edge/routes.ts";
import { eventOperations } from "../events/operations.ts";
import { scopeOf } from "../exchange/holds.ts";
import { responseOperations } from "../exchange/response-operations.ts";
import { limitsOperations } from "../limits/operations.ts";
import { mailOperations } from "../mail/operations.ts";
import { policiesOperations } from "../policies/operations.ts";
import type { Rooms } from "./rooms.ts";

export function operationsOf(rooms: Rooms, config: Config): Operations {
  const { operations: usage } = rooms.analytics;
  const { operations: identity, notices } = rooms.identity;
  const {
    responses,
    models,
    anthropicModels,
    stats,
    credits,
    limits,
    policies,
    account,
    providerKeys,
    events,
    mail,
  } = offeredBy(rooms, config);
  return {
    getResponse: responses.getResponse,
    deleteResponse: responses.deleteResponse,

    listModels: models.listModels,
    getModel: models.getModel,
    getModelById: models.getModelById,
    getModelEndpoints: models.getModelEndpoints,
    getModelStats: stats.getModelStats,
    listAnthropicModels: anthropicModels.listAnthropicModels,
    getAnthropicModel: anthropicModels.getAnthropicModel,
    getAnthropicModelById: anthropicModels.getAnthropicModelById,

    getGeneration: usage.getGeneration,
    getRequest: usage.getRequest,
    listRequests: usage.listRequests,
    getUsage: usage.getUsage,

    getCredits: credits.getCredits,
    listLedger: credits.listLedger,
    getLimits: limits.getLimits,

    listPolicies: policies.listPolicies,
    createPolicy: policies.createPolicy,
    validatePolicy: policies.validatePolicy,
    listPolicyVersions: policies.listPolicyVersions,
    getPolicyVersion: policies.getPolicyVersion,
    createPolicyVersion: policies.createPolicyVersion,
    activatePolicy: policies.activatePolicy,
    deactivatePolicy: policies.deactivatePolicy,
    dryRunPolicy: policies.dryRunPolicy,
    listCanaries: policies.listCanaries,
    listShadows: policies.listShadows,
    listExperiments: policies.listExperiments,

    listProjects: account.listProjects,
    getProject: account.getProject,
    createProject: account.createProject,
    updateProject: account.updateProject,
    deleteProject: account.deleteProject,
    createKey: account.createKey,
    listKeys: account.listKeys,
    getKey: account.getKey,
    updateKey: account.updateKey,
    revokeKey: account.revokeKey,
    rotateKey: account.rotateKey,
    listProviderKeys: providerKeys.listProviderKeys,
    createProviderKey: providerKeys.createProviderKey,
    deleteProviderKey: providerKeys.deleteProviderKey,

    listOrgs: account.listOrgs,
    createOrg: account.createOrg,
    getOrg: account.getOrg,
    updateOrg: account.updateOrg,
    closeOrg: account.closeOrg,
    requestErasure: account.requestErasure,
    cancelErasure: account.cancelErasure,
    transferOrg: account.transferOrg,
    listMembers: account.listMembers,
    addMember: account.addMember,
    updateMember: account.updateMember,
    removeMember: account.removeMember,
    listTickets: account.listTickets,
    createTicket: account.createTicket,
    getTicket: account.getTicket,
    listLimitRequests: account.listLimitRequests,
    requestLimits: account.requestLimits,

    listEvents: events.listEvents,
    listAudit: events.listAudit,

    beginLogin: identity.beginLogin,
    finishLogin: identity.finishLogin,
    logout: identity.logout,
    getMe: identity.getMe,
    setActiveOrg: identity.setActiveOrg,
    listSessions: identity.listSessions,
    endSession: identity.endSession,
    takeLogoutNotice: notices.hook,

    listDevMail: mail.listDevMail,
    getDevMail: mail.getDevMail,
  };
}

/** What each room offers. */
function offeredBy(rooms: Rooms, config: Config) {
  const { accounts, analytics, catalog, clock, cursors, ownKeys } = rooms;
  const responses = responseOperations({ responses: rooms.responses });
  const models = catalogOperations({
    catalog,
    clock,
    healthOf: (endpoint) => rooms.health.live(endpoint),
    stats: catalogFigures(analytics.statistics, clock, rooms.simulated),
  });
  const anthropicModels = anthropicModelOperations({ catalog });
  const stats = statsOperations({
    catalog,
    priceVersions: rooms.priceVersions,
    measured: analytics.modelStats,
  });
  const { book, purse } = rooms;
  const orgMoney = () => ({ currency: "USD", fxRate: "1.00000000" }) as const;
  const credits = creditOperations({ book, purse, cursors, orgMoney });
  const limits = limitsOf(rooms);
  const policies = policiesOperations({
    accounts,
    catalog,
    clock,
    ownKeys,
    policies: rooms.policies,
    health: rooms.health,
    trail: rooms.trail,
    random: systemRandom,
    replay: (request) => rooms.replays.replay(request),
    reports: { ...analytics.reports, ...analytics.shadowRuns },
  });
  const account = accountOf(rooms, config);
  const events = eventOperations(rooms);
  const mail = mailOperations({ folder: rooms.mail.folder, isLocalOnly: isLocalOnly(config) });
  const providerKeys = providerKeyOperations({
    accounts,
    clock,
    ownKeys,
    trail: rooms.trail,
    providers: () => catalog.current().providers,
  });
  return {
    responses,
    models,
    anthropicModels,
    stats,
    credits,
    limits,
    policies,
    account,
    providerKeys,
    events,
    mail,
  };
}

function accountOf(rooms: Rooms, { settings }: Config) {
  const { accounts, book, budgets, identity, invitationCounts, jobs, lastUsed, plan, tickets } = rooms;
  return accountOperations({
    ...{ accounts, invitationCounts, jobs, lastUsed, plan, tickets },
    ...{ clock: rooms.clock, cursors: rooms.cursors, trail: rooms.trail },
    freePlanId: settings.default_plan,
    maxOrgsOfPerson: settings.max_orgs_per_person,
    hasPaid: (orgId) => book.entries(orgId, { limit: 1, kind: "topup" }).length > 0,
    lockedOut: identity.lockedOut,
    refundableMicroUsd: (orgId) =>
      Math.max(0, book.balance(orgId).balanceMicroUsd - book.balance(orgId).grantedMicroUsd),
    sendInvitation: (mail) => rooms.mail.putInvitation(mail),
    spend: (projectId) => budgets.spendOfProject({ projectId, timeZone: accounts.timeZoneOf(projectId) }),
  });
}

function limitsOf({ accounts, analytics, budgets, clock, keyring, limits, plan }: Rooms) {
  return limitsOperations({
    limits,
    budgets,
    keysOf: (orgId) =>
      accounts.workingKeys(orgId, clock.now()).map((row) => {
        const context = keyring.contextOf(row);
        return { ...scopeOf(context), limits: context.limits, name: row.name, status: context.status };
      }),
    planOf: (orgId) => plan(accounts.org(orgId)?.planId ?? ""),
    counts24h: async (orgId) => {
      const { rejected, upstreamCapacity } = await analytics.statistics.counts24h(orgId);
      return { ...rejected, upstreamCapacity };
    },
  });
}
