/** The list of all sorts of mails. */
import type { MailTemplate } from "./template.ts";
import { autoTopupFailed } from "./templates/auto-topup-failed.ts";
import { autoTopupNotified } from "./templates/auto-topup-notified.ts";
import { budgetExceeded } from "./templates/budget-exceeded.ts";
import { creditNote } from "./templates/credit-note.ts";
import { creditsLow } from "./templates/credits-low.ts";
import { erasureBegun } from "./templates/erasure-begun.ts";
import { erasureRequested } from "./templates/erasure-requested.ts";
import { invitation } from "./templates/invitation.ts";
import { invoice } from "./templates/invoice.ts";
import { keyExpiring } from "./templates/key-expiring.ts";
import { keyReported } from "./templates/key-reported.ts";
import { mandatePaused } from "./templates/mandate-paused.ts";
import { orgClosed } from "./templates/org-closed.ts";
import { refundFailed } from "./templates/refund-failed.ts";
import { spendSpike } from "./templates/spend-spike.ts";
import { subscriptionPastDue } from "./templates/subscription-past-due.ts";
import { ticketDecided } from "./templates/ticket-decided.ts";
import { webhookDisabled } from "./templates/webhook-disabled.ts";

/** The type of each template's data is erased here; `compose` gets only data that its schema has read. */
const TEMPLATES = [
  invitation,
  ticketDecided,
  erasureRequested,
  erasureBegun,
  orgClosed,
  budgetExceeded,
  spendSpike,
  creditsLow,
  webhookDisabled,
  keyExpiring,
  keyReported,
  invoice,
  creditNote,
  refundFailed,
  subscriptionPastDue,
  autoTopupNotified,
  autoTopupFailed,
  mandatePaused,
] as readonly unknown[] as readonly MailTemplate[];

export const templateNamed: ReadonlyMap<string, MailTemplate> = new Map(
  TEMPLATES.map((template) => [template.name, template]),
);

/** By the event that puts them. */
export const templateOfEvent: ReadonlyMap<string, MailTemplate> = new Map(
  TEMPLATES.flatMap((template) => (template.event === undefined ? [] : [[template.event, template]])),
);
