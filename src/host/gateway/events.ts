/**
 * What every type of event carries, collected from the rooms that emit them, for `webhooks` of `/openapi.json`. A type that
 * no room emits yet has no entry; a test names these.
 */
import {
  erasureRequested,
  limitsChanged,
  memberAdded,
  memberJoined,
  memberRemoved,
  orgClosed,
  orgUpdated,
  ticketDecided,
} from "../../account/account-events.ts";
import { keyCreated, keyRevoked, keyRotated } from "../../account/keys/key-events.ts";
import { webhookDisabled, webhookTest } from "../../account/webhooks/webhook-events.ts";
import { autoTopupCharged, autoTopupFailed, autoTopupNotified } from "../../billing/auto-topups/events.ts";
import { topupDisputed } from "../../billing/disputes/events.ts";
import { invoiceIssued } from "../../billing/invoices/wire.ts";
import {
  mandateActive,
  mandateCancelled,
  mandateFailed,
  mandatePaused,
} from "../../billing/mandates/events.ts";
import { refundFailed, refundSettled } from "../../billing/refunds/events.ts";
import {
  subscriptionChanged,
  subscriptionPastDue,
  subscriptionRenewed,
} from "../../billing/subscriptions/events.ts";
import { topupFailed, topupPaid } from "../../billing/topups/events.ts";
import { budgetExceeded, spendSpike } from "../../credits/budgets/budget-events.ts";
import { creditsLow, creditsNegative } from "../../credits/ledger/credit-events.ts";
import { endpointDown } from "../../routing/health/endpoint-down.ts";
import { canaryRed, policyActivated } from "../../routing/policies/policy-events.ts";
import { EVENT_NAMES, EVENT_TYPES, type EventType } from "../../store/events/types.ts";

const EMITTED: readonly EventType[] = [
  keyCreated,
  keyRotated,
  keyRevoked,
  memberAdded,
  memberJoined,
  memberRemoved,
  orgUpdated,
  orgClosed,
  erasureRequested,
  ticketDecided,
  limitsChanged,
  policyActivated,
  canaryRed,
  endpointDown,
  budgetExceeded,
  spendSpike,
  creditsLow,
  creditsNegative,
  invoiceIssued,
  topupPaid,
  topupFailed,
  topupDisputed,
  refundSettled,
  refundFailed,
  subscriptionChanged,
  subscriptionRenewed,
  subscriptionPastDue,
  autoTopupNotified,
  autoTopupCharged,
  autoTopupFailed,
  mandateActive,
  mandatePaused,
  mandateFailed,
  mandateCancelled,
  webhookDisabled,
  webhookTest,
];

/** Every type, in the order of their list; `data` is undefined where no room emits it yet. */
export const EVENT_ITEMS = EVENT_NAMES.map((name) => ({
  name,
  summary: EVENT_TYPES[name],
  data: EMITTED.find((type) => type.name === name)?.data,
}));
