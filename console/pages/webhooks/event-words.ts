/** What each type of event means, in groups, as one chooses them for a webhook. Pure. */
import type { Operations } from "../../api/operations.ts";

export type EventType = Operations["listEvents"]["answer"]["data"][number]["type"];

/** In the order in which they are offered. The names of a group's types are those of `EVENT_WORDS`. */
export const EVENT_GROUPS: readonly (readonly [group: string, types: readonly EventType[]])[] = [
  ["Keys and limits", ["key.created", "key.rotated", "key.revoked", "limits.changed"]],
  ["Spend and credit", ["budget.exceeded", "spend.spike", "credits.low", "credits.negative"]],
  ["Routing", ["policy.activated", "canary.red", "endpoint.down"]],
  [
    "Payments and invoices",
    [
      "topup.paid",
      "topup.failed",
      "topup.disputed",
      "refund.settled",
      "refund.failed",
      "invoice.issued",
      "auto_topup.notified",
      "auto_topup.charged",
      "auto_topup.failed",
      "mandate.active",
      "mandate.paused",
      "mandate.failed",
      "mandate.cancelled",
    ],
  ],
  ["Plan", ["subscription.changed", "subscription.renewed", "subscription.past_due"]],
  [
    "Organisation",
    [
      "member.added",
      "member.joined",
      "member.removed",
      "org.updated",
      "org.closed",
      "erasure.requested",
      "erasure.done",
      "ticket.decided",
      "webhook.disabled",
    ],
  ],
];

export const EVENT_WORDS: Readonly<Record<EventType, string>> = {
  "key.created": "A key was made",
  "key.rotated": "A key was replaced by a new one",
  "key.revoked": "A key was revoked",
  "limits.changed": "The limits of a key were raised after a request",
  "budget.exceeded": "A budget is used up",
  "spend.spike": "Much more was spent today than is usual",
  "credits.low": "Credit fell below the threshold",
  "credits.negative": "Credit fell below zero",
  "policy.activated": "A version of a routing policy came into force",
  "canary.red": "A canary failed too often, and gets no more calls",
  "endpoint.down": "An endpoint in use takes no calls at present",
  "topup.paid": "A top-up was paid and credited",
  "topup.failed": "A top-up failed",
  "topup.disputed": "A payment is disputed",
  "refund.settled": "A refund was paid out",
  "refund.failed": "A refund failed; its credit is available again",
  "invoice.issued": "An invoice or a credit note was issued",
  "auto_topup.notified": "An automatic top-up was announced",
  "auto_topup.charged": "An automatic top-up was charged",
  "auto_topup.failed": "An automatic top-up failed",
  "mandate.active": "A mandate for payments can be charged",
  "mandate.paused": "A mandate for payments was paused",
  "mandate.failed": "A mandate for payments could not be registered",
  "mandate.cancelled": "A mandate for payments was cancelled",
  "subscription.changed": "The plan changed",
  "subscription.renewed": "The plan was renewed",
  "subscription.past_due": "The plan's fee could not be charged",
  "member.added": "A person was invited",
  "member.joined": "An invited person has joined",
  "member.removed": "A person was removed, has left, or declined",
  "org.updated": "Profile, settings or data policy changed",
  "org.closed": "The organisation was closed",
  "erasure.requested": "Data will be erased at a date, unless that is cancelled",
  "erasure.done": "Data was erased",
  "ticket.decided": "A ticket was decided",
  "webhook.disabled": "A webhook was paused because its receiver failed for days",
  "webhook.test": "A test that somebody sent",
};

export const ALL_EVENTS: readonly EventType[] = EVENT_GROUPS.flatMap(([, types]) => types);

export const isEventType = (text: string): text is EventType => Object.hasOwn(EVENT_WORDS, text);
