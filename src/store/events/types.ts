/**
 * The list of event types: what an org can hear of by webhook and read at `GET /v1/events`. The room that emits a type says
 * what its `data` holds (`eventType`); `gateway/events.ts` collects these for `/openapi.json`.
 */
import type { z } from "zod";

export const EVENT_TYPES = {
  "key.created": "An API key was created.",
  "key.rotated": "An API key was replaced by a new one.",
  "key.revoked": "An API key was revoked.",
  "member.added": "A person was added to the org, or invited.",
  "member.joined": "An invited person accepted.",
  "member.removed": "A person was removed from the org, or declined the invitation.",
  "org.updated": "The org's profile, settings or data policy changed.",
  "org.closed": "The org was closed.",
  "erasure.requested": "The org's data will be erased at a date; until then this can be cancelled.",
  "erasure.done": "The org's data was erased.",
  "limits.changed": "Limits of a key changed after a request.",
  "ticket.decided": "The operator decided a ticket.",
  "policy.activated": "A version of a routing policy came into force.",
  "canary.red": "A canary endpoint failed more often than its policy allows, and gets no more calls.",
  "endpoint.down": "An endpoint that the org used takes no calls at present.",
  "budget.exceeded": "A budget is used up.",
  "spend.spike": "The org has spent much more today than is usual.",
  "credits.low": "Credit fell below the org's threshold.",
  "credits.negative": "Credit fell below zero.",
  "topup.paid": "A top-up was paid and credited.",
  "topup.failed": "A top-up failed.",
  "topup.disputed": "A payment is disputed.",
  "refund.settled": "A refund was paid out.",
  "refund.failed": "A refund failed; its credit is available again.",
  "invoice.issued": "An invoice or a credit note was issued.",
  "auto_topup.notified": "A charge of the mandate was announced.",
  "auto_topup.charged": "The mandate was charged.",
  "auto_topup.failed": "A charge of the mandate failed.",
  "mandate.active": "A payment mandate can be charged.",
  "mandate.paused": "A payment mandate was paused.",
  "mandate.failed": "A payment mandate could not be registered.",
  "mandate.cancelled": "A payment mandate was cancelled.",
  "subscription.changed": "The subscription changed its plan.",
  "subscription.renewed": "The subscription was renewed.",
  "subscription.past_due": "The subscription's fee could not be charged.",
  "webhook.disabled": "A webhook was disabled: its receiver failed for days, or said that it is gone.",
  "webhook.test": "Somebody asked for a test of a webhook; no other webhook gets it.",
} as const;

export type EventName = keyof typeof EVENT_TYPES;

export const EVENT_NAMES = Object.keys(EVENT_TYPES) as EventName[];

/** An event type with the schema of its data: the resource as the API shows it. */
export interface EventType<D extends z.ZodType = z.ZodType> {
  readonly name: EventName;
  readonly data: D;
}

export const eventType = <D extends z.ZodType>(name: EventName, data: D): EventType<D> => ({ name, data });
