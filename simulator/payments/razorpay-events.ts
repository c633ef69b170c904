/** Razorpay's webhooks of a change. */
import type { Change, Engine } from "./engine.ts";
import {
  disputeEntity,
  invoiceEntity,
  linkEntity,
  paymentEntity,
  refundEntity,
  tokenEntity,
} from "./razorpay-objects.ts";
import type { SimPayment } from "./state.ts";

type UrlOf = (id: string) => string;
type Payload = Readonly<Record<string, unknown>>;

export function razorpayEvents(engine: Engine, change: Change, urlOf: UrlOf): { id: string; body: string }[] {
  return eventsOf(engine, change, urlOf).map(([event, payload]) => {
    const entities = Object.entries(payload).map(([name, entity]) => [name, { entity }]);
    const body = {
      entity: "event",
      account_id: "acc_simulator",
      event,
      contains: Object.keys(payload),
      payload: Object.fromEntries(entities),
      created_at: Math.floor(engine.clock.now() / 1000),
    };
    return { id: engine.state.newId("rzpevent"), body: JSON.stringify(body) };
  });
}

/** What Razorpay tells of; the beginning and the automatic return of a payment it does not. */
const PAYMENT_EVENTS: Readonly<Partial<Record<SimPayment["state"], string>>> = {
  authorized: "payment.authorized",
  paid: "payment.captured",
  failed: "payment.failed",
};
const DISPUTE_EVENTS: Readonly<Record<string, string>> = { reinstated: "won", won: "won", lost: "lost" };
const TOKEN_EVENTS: Readonly<Record<string, string>> = {
  active: "confirmed",
  failed: "rejected",
  paused: "paused",
  cancelled: "cancelled",
};

function eventsOf(engine: Engine, change: Change, urlOf: UrlOf): [event: string, payload: Payload][] {
  switch (change.kind) {
    case "checkout": {
      const { checkout, what } = change;
      const url = urlOf(checkout.id);
      const ended = what === "completed" ? "paid" : checkout.isCancelled ? "cancelled" : "expired";
      if (checkout.mode === "mandate")
        return [[`invoice.${ended}`, { invoice: invoiceEntity(engine, checkout, url) }]];
      return [[`payment_link.${ended}`, { payment_link: linkEntity(engine, checkout, url) }]];
    }
    case "payment": {
      const event = PAYMENT_EVENTS[change.payment.state];
      return event === undefined ? [] : [[event, { payment: paymentEntity(change.payment) }]];
    }
    case "refund": {
      const { refund, isNew } = change;
      const what = refund.state === "failed" ? "failed" : isNew ? "created" : "processed";
      return [[`refund.${what}`, { refund: refundEntity(refund) }]];
    }
    case "dispute": {
      const { dispute, isNew } = change;
      const what = isNew ? "created" : (DISPUTE_EVENTS[dispute.state] ?? "under_review");
      return [[`payment.dispute.${what}`, { dispute: disputeEntity(dispute) }]];
    }
    case "mandate": {
      const { id, state } = change.mandate;
      return [[`token.${TOKEN_EVENTS[state] ?? "updated"}`, { token: tokenEntity(engine, id) }]];
    }
  }
}
