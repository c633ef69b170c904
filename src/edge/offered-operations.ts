/**
 * What a route may run: the operations that rooms offer, by the names that they have there. Only types come from the rooms;
 * `gateway` fills them.
 */

import type { exportOperations } from "../account/exports/export-operations.ts";
import type { identityOperations } from "../account/identity/operations.ts";
import type { mailOperations } from "../account/mail/operations.ts";
import type { accountOperations } from "../account/operations.ts";
import type { operatorOperations } from "../account/operator/operations.ts";
import type { documentOperations } from "../account/orgs/document-operations.ts";
import type { providerKeyOperations } from "../account/provider-keys/provider-key-operations.ts";
import type { scimOperations } from "../account/scim/operations.ts";
import type { webhookOperations } from "../account/webhooks/operations.ts";
import type { analystOperations } from "../analytics/analysts/analyst-operations.ts";
import type { lookupOperations } from "../analytics/requests/lookup-operations.ts";
import type { requestsOperations } from "../analytics/requests/request-operations.ts";
import type { tailOperations } from "../analytics/tail/tail-operations.ts";
import type { analyticsExportOperations } from "../analytics/usage/export-operations.ts";
import type { operatorUsageOperations } from "../analytics/usage/operator-usage-operations.ts";
import type { usageOperations } from "../analytics/usage/usage-operations.ts";
import type { StreamOperation } from "../base/operation/event-stream.ts";
import type { Hook } from "../base/operation/hook.ts";
import type { AnyOperation } from "../base/operation/operation.ts";
import type { invoiceOperations } from "../billing/invoices/invoice-operations.ts";
import type { operatorInvoiceOperations } from "../billing/invoices/operator-invoice-operations.ts";
import type { autoTopupOperations } from "../billing/mandates/auto-topup-operations.ts";
import type { mandateOperations } from "../billing/mandates/mandate-operations.ts";
import type { billingOperations } from "../billing/operations.ts";
import type { providerBillOperations } from "../billing/provider-bills/provider-bill-operations.ts";
import type { receiptOperations } from "../billing/receipts/operations.ts";
import type { reconciliationOperations } from "../billing/reconciliation/reconciliation-operations.ts";
import type { planOperations } from "../billing/subscriptions/plan-operations.ts";
import type { pricingOperations } from "../billing/subscriptions/pricing-operations.ts";
import type { appOperations } from "../catalog/apps/app-operations.ts";
import type { PublicApps } from "../catalog/apps/public-operations.ts";
import type { anthropicModelOperations } from "../catalog/models/anthropic-model-operations.ts";
import type { catalogOperations } from "../catalog/models/operations.ts";
import type { providerOperations } from "../catalog/models/provider-operations.ts";
import type { statsOperations } from "../catalog/models/stats-operations.ts";
import type { creditOperations } from "../credits/ledger/operations.ts";
import type { limitsOperations } from "../credits/limits/operations.ts";
import type { backupOperations } from "../host/backup/operations.ts";
import type { responseOperations } from "../inference/exchange/kept/response-operations.ts";
import type { policiesOperations } from "../routing/policies/operations.ts";
import type { eventOperations } from "../store/events/operations.ts";

/** One for each function of a room that makes operations. */
type Maker =
  | typeof accountOperations
  | typeof analystOperations
  | typeof analyticsExportOperations
  | typeof anthropicModelOperations
  | typeof appOperations
  | typeof autoTopupOperations
  | typeof backupOperations
  | typeof billingOperations
  | typeof catalogOperations
  | typeof creditOperations
  | typeof documentOperations
  | typeof eventOperations
  | typeof exportOperations
  | typeof identityOperations
  | typeof invoiceOperations
  | typeof limitsOperations
  | typeof lookupOperations
  | typeof mailOperations
  | typeof mandateOperations
  | typeof operatorInvoiceOperations
  | typeof operatorOperations
  | typeof planOperations
  | typeof pricingOperations
  | typeof providerBillOperations
  | typeof providerOperations
  | typeof receiptOperations
  | typeof reconciliationOperations
  | typeof policiesOperations
  | typeof providerKeyOperations
  | typeof requestsOperations
  | typeof responseOperations
  | typeof scimOperations
  | typeof statsOperations
  | typeof operatorUsageOperations
  | typeof usageOperations
  | typeof webhookOperations;

/** Names of what each of them makes. */
type NamesOf<M> = M extends (...deps: never[]) => infer Offered ? keyof Offered : never;

/** Hooks are no operations: they are named here. */
export type Operations = Readonly<Record<NamesOf<Maker> | keyof PublicApps["operations"], AnyOperation>> &
  Readonly<Record<NamesOf<typeof tailOperations>, StreamOperation>> &
  Readonly<Record<"takeLogoutNotice" | "receivePaymentEvent", Hook>>;
