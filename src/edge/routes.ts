/**
 * The route table: method, path, required access, and what each route runs. `/openapi.json` is generated from it.
 */

import { SCIM_MEDIA_TYPE, scimErrorText } from "../account/scim/error.ts";
import type { WeirError } from "../base/errors.ts";
import type { StreamOperation } from "../base/operation/event-stream.ts";
import type { Hook } from "../base/operation/hook.ts";
import type { AnyOperation } from "../base/operation/operation.ts";
import type { CallName } from "../inference/exchange/formats.ts";
import type { Access } from "./access.ts";
import type { Operations } from "./offered-operations.ts";
import type { ErrorSchemaName } from "./openapi/openapi-types.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * `anthropic`: the operation for requests with `anthropic-version`. Such a route accepts `x-api-key` as well as the
 * bearer credential.
 */
type Act = { readonly operation: AnyOperation; readonly anthropic?: AnyOperation };

/** Formats an error body for the route's clients. */
export interface ErrorBody {
  (error: WeirError, requestId: string): string;
  /** Media type of what it formats, if not `application/json`. */
  readonly mediaType?: string;
}

/** Routes under one heading of the documentation. */
interface RouteGroup {
  readonly heading: string;
  /** Formats errors for the group's clients, if not in our own shape. Model calls use their format's. */
  readonly errorBody?: ErrorBody;
  /** Its name in the API description. */
  readonly errorSchema?: ErrorSchemaName;
  /** Media type of JSON bodies, in and out, if not `application/json`: for instance `application/scim+json`. */
  readonly mediaType?: string;
}

/** What a route runs. */
type Runs =
  | Act
  /** A model call. */
  | { readonly exchange: CallName }
  /** Server-sent events, by GET. */
  | { readonly stream: StreamOperation }
  /** Passes the body on unchanged; the hook itself authenticates the sender. */
  | { readonly hook: Hook };

export type Route = {
  readonly method: Method;
  /** Parameters in braces: `/v1/keys/{id}`. */
  readonly path: string;
  readonly access: Access;
  /** Open to people of a closed org although it changes something. */
  readonly isForClosed: boolean;
  readonly group: RouteGroup;
} & Runs;

/** One row: what the path runs, required access, and its heading in the documentation. */
const row = (method: Method, path: string, access: Access, group: string, runs: Runs): Route => ({
  method,
  path,
  access,
  isForClosed: false,
  group: { heading: group },
  ...runs,
});

/** The same for what people of a closed org may still do. */
const lastRow = (...columns: Parameters<typeof row>): Route => ({ ...row(...columns), isForClosed: true });

const act = (operation: AnyOperation, anthropic?: AnyOperation): Act => ({
  operation,
  ...(anthropic && { anthropic }),
});

const APPS = "Apps";
const POLICIES = "Routing policies";
const ORGS = "Organisations";
const WEBHOOKS = "Webhooks";
const INVOICES = "Invoices";
const CREDITS = "Credits";
/** Also the heading of routes by which a browser gets its session. */
export const SIGN_IN = "Sign-in";
const OPERATOR = "Operator";
const DIRECTORY = "Directory";
/** Identity providers expect the shapes and the media type of RFC 7644. */
const SCIM: RouteGroup = {
  heading: DIRECTORY,
  errorBody: scimErrorText,
  errorSchema: "ScimError",
  mediaType: SCIM_MEDIA_TYPE,
};

export const routes = (run: Operations): readonly Route[] => [
  ...callRoutes(run),
  ...projectRoutes(run),
  ...billingRoutes(run),
  ...peopleRoutes(run),
  ...operatorRoutes(run),
  ...directoryRoutes(run),
];

/** Model calls, the catalog, and what is recorded of calls. */
const callRoutes = (run: Operations): Route[] => [
  row("POST", "/v1/chat/completions", "inference", "Inference", { exchange: "chat" }),
  row("POST", "/v1/completions", "inference", "Inference", { exchange: "completions" }),
  row("POST", "/v1/embeddings", "inference", "Inference", { exchange: "embeddings" }),
  row("POST", "/v1/responses", "inference", "Inference", { exchange: "responses" }),
  row("GET", "/v1/responses/{id}", "inference", "Inference", act(run.getResponse)),
  row("DELETE", "/v1/responses/{id}", "inference", "Inference", act(run.deleteResponse)),
  row("POST", "/v1/messages", "inference", "Inference", { exchange: "messages" }),
  row("POST", "/v1/messages/count_tokens", "inference", "Inference", { exchange: "messages_count" }),
  row("POST", "/v1/svc/generate", "inference", "Native inference", { exchange: "generate" }),
  row("POST", "/v1/svc/embed", "inference", "Native inference", { exchange: "embed" }),
  row("POST", "/v1/svc/rerank", "inference", "Native inference", { exchange: "rerank" }),
  row("POST", "/v1/svc/count_tokens", "inference", "Native inference", { exchange: "count_tokens" }),
  row("POST", "/v1/svc/dry_run", "inference", "Native inference", { exchange: "dry_run" }),

  row("GET", "/v1/models", "key / everyone", "Catalog", act(run.listModels, run.listAnthropicModels)),
  row(
    "GET",
    "/v1/models/{id}",
    "key / everyone",
    "Catalog",
    act(run.getModelById, run.getAnthropicModelById),
  ),
  row(
    "GET",
    "/v1/models/{vendor}/{model}",
    "key / everyone",
    "Catalog",
    act(run.getModel, run.getAnthropicModel),
  ),
  row(
    "GET",
    "/v1/models/{vendor}/{model}/endpoints",
    "key / everyone",
    "Catalog",
    act(run.getModelEndpoints),
  ),
  row("GET", "/v1/models/{vendor}/{model}/stats", "key / everyone", "Catalog", act(run.getModelStats)),
  row("GET", "/v1/rankings", "public", "Catalog", act(run.getRankings)),
  row("GET", "/v1/providers", "public", "Catalog", act(run.listProviders)),
  row("GET", "/v1/apps/{slug}/public", "public", APPS, act(run.getPublicApp)),
  row("GET", "/v1/apps/{slug}/badge", "public", APPS, act(run.getAppBadge)),

  row("GET", "/v1/generation/{id}", "read:usage / viewer", "Usage", act(run.getGeneration)),
  row("GET", "/v1/generation/{id}/receipt", "read:usage / viewer", "Usage", act(run.getReceipt)),
  row("GET", "/.well-known/jwks.json", "public", "Usage", act(run.getReceiptKeys)),
  row("GET", "/v1/requests", "read:usage / viewer", "Usage", act(run.listRequests)),
  row("GET", "/v1/requests/tail", "read:usage / viewer", "Usage", { stream: run.tailRequests }),
  row("GET", "/v1/requests/export", "read:usage / viewer", "Usage", act(run.exportRequests)),
  row("GET", "/v1/usage/export", "read:usage / viewer", "Usage", act(run.exportUsage)),
  row("GET", "/v1/requests/{id}", "read:usage / viewer", "Usage", act(run.getRequest)),
  row("GET", "/v1/analytics/users", "no key / admin", "Usage", act(run.listAnalyticsUsers)),
  row("POST", "/v1/analytics/users", "no key / admin", "Usage", act(run.createAnalyticsUser)),
  row("DELETE", "/v1/analytics/users/{id}", "no key / admin", "Usage", act(run.deleteAnalyticsUser)),
  row("GET", "/v1/usage", "read:usage / viewer", "Usage", act(run.getUsage)),
];

/** What an org sets up for its calls: policies, credit, keys, projects. */
const projectRoutes = (run: Operations): Route[] => [
  row("GET", "/v1/policies", "read:policies / viewer", POLICIES, act(run.listPolicies)),
  row("POST", "/v1/policies", "write:policies / member", POLICIES, act(run.createPolicy)),
  row("POST", "/v1/policies/validate", "read:policies / viewer", POLICIES, act(run.validatePolicy)),
  row("GET", "/v1/policies/{name}/versions", "read:policies / viewer", POLICIES, act(run.listPolicyVersions)),
  row(
    "POST",
    "/v1/policies/{name}/versions",
    "write:policies / member",
    POLICIES,
    act(run.createPolicyVersion),
  ),
  row(
    "GET",
    "/v1/policies/{name}/versions/{version}",
    "read:policies / viewer",
    POLICIES,
    act(run.getPolicyVersion),
  ),
  row("POST", "/v1/policies/{name}/activate", "write:policies / member", POLICIES, act(run.activatePolicy)),
  row(
    "POST",
    "/v1/policies/{name}/deactivate",
    "write:policies / member",
    POLICIES,
    act(run.deactivatePolicy),
  ),
  row("POST", "/v1/policies/{name}/dry-run", "read:policies / viewer", POLICIES, act(run.dryRunPolicy)),
  row("GET", "/v1/policies/{name}/canaries", "read:policies / viewer", POLICIES, act(run.listCanaries)),
  row("GET", "/v1/policies/{name}/shadows", "read:policies / viewer", POLICIES, act(run.listShadows)),
  row("GET", "/v1/policies/{name}/experiments", "read:policies / viewer", POLICIES, act(run.listExperiments)),

  row("GET", "/v1/credits", "read:billing / everyone", "Credits", act(run.getCredits)),
  row("GET", "/v1/credits/ledger", "read:billing / everyone", "Credits", act(run.listLedger)),

  row("GET", "/v1/pricing", "public", "Plans", act(run.getPricing)),
  row("GET", "/v1/plans", "read:billing / billing", "Plans", act(run.listPlans)),
  row("GET", "/v1/billing/subscription", "read:billing / billing", "Plans", act(run.getSubscription)),
  row("POST", "/v1/billing/subscription", "write:billing / billing", "Plans", act(run.changeSubscription)),

  row("GET", "/v1/limits", "read:keys / viewer", "Keys", act(run.getLimits)),
  row("GET", "/v1/keys", "read:keys / viewer", "Keys", act(run.listKeys)),
  row("POST", "/v1/keys", "write:keys / member", "Keys", act(run.createKey)),
  row("GET", "/v1/keys/{id}", "read:keys / viewer", "Keys", act(run.getKey)),
  row("PATCH", "/v1/keys/{id}", "write:keys / member", "Keys", act(run.updateKey)),
  row("DELETE", "/v1/keys/{id}", "write:keys / member", "Keys", act(run.revokeKey)),
  row("POST", "/v1/keys/{id}/rotate", "write:keys / member", "Keys", act(run.rotateKey)),
  row("POST", "/v1/keys/report", "public", "Keys", act(run.reportKey)),

  row("GET", "/v1/provider-keys", "read:keys / viewer", "Provider keys", act(run.listProviderKeys)),
  row("POST", "/v1/provider-keys", "write:keys / admin", "Provider keys", act(run.createProviderKey)),
  row("DELETE", "/v1/provider-keys/{id}", "write:keys / admin", "Provider keys", act(run.deleteProviderKey)),

  row("GET", "/v1/apps", "read:org / viewer", APPS, act(run.listApps)),
  row("POST", "/v1/apps", "write:org / admin", APPS, act(run.createApp)),
  row("GET", "/v1/apps/{slug}", "read:org / viewer", APPS, act(run.getApp)),
  row("PATCH", "/v1/apps/{slug}", "write:org / admin", APPS, act(run.updateApp)),
  row("DELETE", "/v1/apps/{slug}", "write:org / admin", APPS, act(run.deleteApp)),

  row("GET", "/v1/projects", "read:org / viewer", "Projects", act(run.listProjects)),
  row("POST", "/v1/projects", "write:org / admin", "Projects", act(run.createProject)),
  row("GET", "/v1/projects/{id}", "read:org / viewer", "Projects", act(run.getProject)),
  row("PATCH", "/v1/projects/{id}", "write:org / admin", "Projects", act(run.updateProject)),
  row("DELETE", "/v1/projects/{id}", "write:org / admin", "Projects", act(run.deleteProject)),
];

/** What an org pays, gets back, and was billed. */
const billingRoutes = (run: Operations): Route[] => [
  row("GET", "/v1/credits/topups/quote", "read:billing / billing", CREDITS, act(run.quoteTopup)),
  row("GET", "/v1/credits/topups", "read:billing / billing", CREDITS, act(run.listTopups)),
  row("POST", "/v1/credits/topups", "write:billing / billing", CREDITS, act(run.createTopup)),
  row("GET", "/v1/credits/topups/{id}", "read:billing / billing", CREDITS, act(run.getTopup)),
  lastRow("POST", "/v1/credits/topups/{id}/refund", "write:billing / billing", CREDITS, act(run.refundTopup)),
  row("GET", "/v1/credits/refunds", "read:billing / billing", CREDITS, act(run.listRefunds)),
  row("GET", "/v1/credits/refunds/{id}", "read:billing / billing", CREDITS, act(run.getRefund)),
  row("GET", "/v1/credits/auto-topup", "read:billing / billing", CREDITS, act(run.getAutoTopup)),
  row("PUT", "/v1/credits/auto-topup", "write:billing / billing", CREDITS, act(run.setAutoTopup)),
  row("POST", "/v1/credits/mandates", "write:billing / billing", CREDITS, act(run.createMandate)),
  row("DELETE", "/v1/credits/mandates", "write:billing / billing", CREDITS, act(run.cancelMandate)),
  row("GET", "/billing/mandates/{id}", "public", CREDITS, act(run.mandateReturnPage)),
  row("GET", "/billing/topups/{id}", "public", CREDITS, act(run.topupReturnPage)),

  row("GET", "/v1/invoices", "read:billing / billing", INVOICES, act(run.listInvoices)),
  row("GET", "/v1/invoices/export", "read:billing / billing", INVOICES, act(run.exportInvoices)),
  row("GET", "/v1/invoices/{id}", "read:billing / billing", INVOICES, act(run.getInvoice)),
  row("GET", "/v1/invoices/{id}/pdf", "read:billing / billing", INVOICES, act(run.getInvoicePdf)),
  row("GET", "/v1/invoices/{id}/html", "read:billing / billing", INVOICES, act(run.getInvoiceHtml)),
  row("POST", "/v1/invoices/{id}/resend", "write:billing / billing", INVOICES, act(run.resendInvoice)),
  row("POST", "/v1/invoices/{id}/correction", "write:billing / billing", INVOICES, act(run.correctInvoice)),
];

/** Orgs, their people, and sign-in. */
const peopleRoutes = (run: Operations): Route[] => [
  row("GET", "/v1/orgs", "read:org / signed in", ORGS, act(run.listOrgs)),
  row("POST", "/v1/orgs", "no key / signed in", ORGS, act(run.createOrg)),
  row("GET", "/v1/orgs/{org}", "read:org / everyone", ORGS, act(run.getOrg)),
  row("PATCH", "/v1/orgs/{org}", "write:org / admin", ORGS, act(run.updateOrg)),
  lastRow("POST", "/v1/orgs/{org}/close", "no key / owner", ORGS, act(run.closeOrg)),
  lastRow("POST", "/v1/orgs/{org}/erasure", "no key / owner", ORGS, act(run.requestErasure)),
  lastRow("DELETE", "/v1/orgs/{org}/erasure", "no key / owner", ORGS, act(run.cancelErasure)),
  lastRow("POST", "/v1/orgs/{org}/transfer", "no key / owner", ORGS, act(run.transferOrg)),
  lastRow("POST", "/v1/orgs/{org}/export", "no key / owner", ORGS, act(run.exportOrg)),
  row("GET", "/v1/orgs/{org}/exports", "no key / owner", ORGS, act(run.listExports)),
  row("GET", "/v1/orgs/{org}/exports/{id}", "no key / owner", ORGS, act(run.getExport)),
  row("GET", "/v1/orgs/{org}/exports/{id}/download", "no key / owner", ORGS, act(run.downloadExport)),
  row("GET", "/v1/documents/dpa", "anyone", ORGS, act(run.getDpa)),
  row("GET", "/v1/orgs/{org}/members", "read:org / viewer", ORGS, act(run.listMembers)),
  row("POST", "/v1/orgs/{org}/members", "write:org / admin", ORGS, act(run.addMember)),
  row("PATCH", "/v1/orgs/{org}/members/{user}", "write:org / admin", ORGS, act(run.updateMember)),
  lastRow("DELETE", "/v1/orgs/{org}/members/{user}", "write:org / everyone", ORGS, act(run.removeMember)),

  row("GET", "/v1/tickets", "read:org / everyone", "Tickets", act(run.listTickets)),
  lastRow("POST", "/v1/tickets", "write:org / everyone", "Tickets", act(run.createTicket)),
  row("GET", "/v1/tickets/{id}", "read:org / everyone", "Tickets", act(run.getTicket)),
  row("GET", "/v1/limits/requests", "read:keys / viewer", "Tickets", act(run.listLimitRequests)),
  row("POST", "/v1/limits/requests", "write:keys / member", "Tickets", act(run.requestLimits)),

  row("POST", "/v1/policy/redact/preview", "read:org / viewer", ORGS, act(run.previewRedaction)),

  row("GET", "/v1/events", "read:org / viewer", "Events", act(run.listEvents)),
  row("GET", "/v1/audit", "read:org / admin", "Events", act(run.listAudit)),

  row("POST", "/webhooks/payments/{gateway}", "public", CREDITS, { hook: run.receivePaymentEvent }),
  row("GET", "/v1/webhooks", "read:org / admin", WEBHOOKS, act(run.listWebhooks)),
  row("POST", "/v1/webhooks", "write:org / admin", WEBHOOKS, act(run.createWebhook)),
  row("GET", "/v1/webhooks/{id}", "read:org / admin", WEBHOOKS, act(run.getWebhook)),
  row("PATCH", "/v1/webhooks/{id}", "write:org / admin", WEBHOOKS, act(run.updateWebhook)),
  row("DELETE", "/v1/webhooks/{id}", "write:org / admin", WEBHOOKS, act(run.deleteWebhook)),
  row("POST", "/v1/webhooks/{id}/test", "write:org / admin", WEBHOOKS, act(run.testWebhook)),
  row("POST", "/v1/webhooks/{id}/rotate", "write:org / admin", WEBHOOKS, act(run.rotateWebhook)),
  row("GET", "/v1/webhooks/{id}/deliveries", "read:org / admin", WEBHOOKS, act(run.listDeliveries)),
  row(
    "POST",
    "/v1/webhooks/{id}/deliveries/{delivery}/redeliver",
    "write:org / admin",
    WEBHOOKS,
    act(run.redeliver),
  ),

  row("GET", "/auth/login", "public", SIGN_IN, act(run.beginLogin)),
  row("GET", "/auth/callback", "public", SIGN_IN, act(run.finishLogin)),
  row("POST", "/auth/logout", "public", SIGN_IN, act(run.logout)),
  row("POST", "/auth/backchannel-logout", "public", SIGN_IN, { hook: run.takeLogoutNotice }),
  row("GET", "/auth/me", "no key / signed in", SIGN_IN, act(run.getMe)),
  row("PUT", "/auth/active-org", "no key / signed in", SIGN_IN, act(run.setActiveOrg)),
  row("GET", "/auth/sessions", "no key / signed in", SIGN_IN, act(run.listSessions)),
  row("DELETE", "/auth/sessions/{id}", "no key / signed in", SIGN_IN, act(run.endSession)),
  row("GET", "/auth/invitations", "no key / signed in", SIGN_IN, act(run.listInvitations)),
  row("GET", "/auth/invitations/{id}", "public", SIGN_IN, act(run.invitationPage)),
  row("POST", "/auth/invitations/{id}/accept", "no key / signed in", SIGN_IN, act(run.acceptInvitation)),
  row("POST", "/auth/invitations/{id}/decline", "no key / signed in", SIGN_IN, act(run.declineInvitation)),

  row("GET", "/dev/mail", "public", "Operation", act(run.listDevMail)),
  row("GET", "/dev/mail/{id}", "public", "Operation", act(run.getDevMail)),
];

/** For who runs the installation. */
const operatorRoutes = (run: Operations): Route[] => [
  row("GET", "/v1/operator/orgs", "operator", OPERATOR, act(run.operatorListOrgs)),
  row("GET", "/v1/operator/orgs/{id}", "operator", OPERATOR, act(run.operatorGetOrg)),
  row("POST", "/v1/operator/orgs/{id}/suspend", "operator", OPERATOR, act(run.operatorSuspendOrg)),
  row("POST", "/v1/operator/orgs/{id}/resume", "operator", OPERATOR, act(run.operatorResumeOrg)),
  row("POST", "/v1/operator/orgs/{id}/grant", "operator", OPERATOR, act(run.operatorGrant)),
  row("POST", "/v1/operator/orgs/{id}/adjust", "operator", OPERATOR, act(run.operatorAdjust)),
  row("GET", "/v1/operator/usage", "operator", OPERATOR, act(run.operatorGetUsage)),
  row("GET", "/v1/operator/analytics/users", "operator", OPERATOR, act(run.operatorListAnalyticsUsers)),
  row("POST", "/v1/operator/analytics/users", "operator", OPERATOR, act(run.operatorCreateAnalyticsUser)),
  row(
    "DELETE",
    "/v1/operator/analytics/users/{id}",
    "operator",
    OPERATOR,
    act(run.operatorDeleteAnalyticsUser),
  ),
  row("GET", "/v1/operator/tickets", "operator", OPERATOR, act(run.operatorListTickets)),
  row("POST", "/v1/operator/tickets/{id}/decide", "operator", OPERATOR, act(run.operatorDecideTicket)),
  row("GET", "/v1/operator/plans", "operator", OPERATOR, act(run.operatorListPlans)),
  row("GET", "/v1/operator/plans/{id}/orgs", "operator", OPERATOR, act(run.operatorListPlanOrgs)),
  row("GET", "/v1/operator/payments", "operator", OPERATOR, act(run.operatorListPayments)),
  row("POST", "/v1/operator/payments/{id}/close", "operator", OPERATOR, act(run.operatorClosePayment)),
  row("POST", "/v1/operator/orgs/{id}/payments", "operator", OPERATOR, act(run.operatorRecordPayment)),
  row("GET", "/v1/operator/invoices", "operator", OPERATOR, act(run.operatorListUnregistered)),
  row("GET", "/v1/operator/invoices/export", "operator", OPERATOR, act(run.operatorExportInvoices)),
  row("GET", "/v1/operator/reconciliation", "operator", OPERATOR, act(run.operatorGetReconciliation)),
  row("POST", "/v1/operator/reconciliation", "operator", OPERATOR, act(run.operatorRunReconciliation)),
  row("POST", "/v1/operator/provider-bills", "operator", OPERATOR, act(run.operatorCheckProviderBill)),
  row("POST", "/v1/operator/receipt-keys/rotate", "operator", OPERATOR, act(run.rotateReceiptKey)),
  row("POST", "/v1/operator/backups", "operator", OPERATOR, act(run.operatorBeginBackup)),
  row("POST", "/v1/operator/backups/{id}/freeze", "operator", OPERATOR, act(run.operatorFreezeBackup)),
  row("GET", "/v1/operator/cells", "operator", OPERATOR, act(run.operatorListCells)),
  row("POST", "/v1/operator/cells/{cell}/retire", "operator", OPERATOR, act(run.operatorRetireCell)),
  row("GET", "/v1/operator/uncharged", "operator", OPERATOR, act(run.operatorListUncharged)),
  row("GET", "/v1/operator/jobs", "operator", OPERATOR, act(run.operatorListJobs)),
  row("POST", "/v1/operator/jobs/{kind}/{key}/retry", "operator", OPERATOR, act(run.operatorRetryJob)),
  row("DELETE", "/v1/operator/jobs/{kind}/{key}", "operator", OPERATOR, act(run.operatorDropJob)),
];

const scimRow = (method: Method, path: string, operation: AnyOperation): Route => ({
  ...row(method, `/scim/v2${path}`, "directory", DIRECTORY, act(operation)),
  group: SCIM,
});

/** Provisioning by an org's directory, and what its people see of it. */
const directoryRoutes = (run: Operations): Route[] => [
  row("GET", "/v1/org/scim/token", "no key / admin", DIRECTORY, act(run.getScimToken)),
  row("POST", "/v1/org/scim/token", "no key / admin", DIRECTORY, act(run.createScimToken)),
  row("DELETE", "/v1/org/scim/token", "no key / admin", DIRECTORY, act(run.revokeScimToken)),
  row("GET", "/v1/org/scim/log", "read:org / admin", DIRECTORY, act(run.listScimLog)),

  scimRow("GET", "/ServiceProviderConfig", run.scimConfig),
  scimRow("GET", "/ResourceTypes", run.scimResourceTypes),
  scimRow("GET", "/ResourceTypes/{id}", run.scimResourceType),
  scimRow("GET", "/Schemas", run.scimSchemas),
  scimRow("GET", "/Schemas/{id}", run.scimSchema),
  scimRow("GET", "/Users", run.scimListUsers),
  scimRow("POST", "/Users", run.scimCreateUser),
  scimRow("GET", "/Users/{id}", run.scimGetUser),
  scimRow("PUT", "/Users/{id}", run.scimReplaceUser),
  scimRow("PATCH", "/Users/{id}", run.scimPatchUser),
  scimRow("DELETE", "/Users/{id}", run.scimDeleteUser),
  scimRow("GET", "/Groups", run.scimListGroups),
  scimRow("POST", "/Groups", run.scimCreateGroup),
  scimRow("GET", "/Groups/{id}", run.scimGetGroup),
  scimRow("PUT", "/Groups/{id}", run.scimReplaceGroup),
  scimRow("PATCH", "/Groups/{id}", run.scimPatchGroup),
  scimRow("DELETE", "/Groups/{id}", run.scimDeleteGroup),
];
