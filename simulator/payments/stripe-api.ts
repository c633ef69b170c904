/** Enough of Stripe's API for its official library: form-encoded, with idempotency keys, lists and expansion. */
import { DAY_MS } from "../../src/base/time.ts";
import { ApiError, type ApiRoute, type Front } from "./api.ts";
import { type Change, type Engine, SimRefusal } from "./engine.ts";
import { Form } from "./form.ts";
import type { SimCustomer, SimPayment } from "./state.ts";
import {
  chargeObject,
  disputeObject,
  intentObject,
  methodObject,
  paymentIdOf,
  payoutObject,
  refundObject,
  STRIPE_TYPES,
  sessionObject,
  setupIdOf,
  transactionObject,
} from "./stripe-objects.ts";

const HOUSE = "stripe";
const SHORTEST_MS = 30 * 60_000;

type UrlOf = (id: string) => string;

export function stripeFront(engine: Engine, key: string, urlOf: UrlOf): Front {
  return {
    house: HOUSE,
    isAllowed: (request) => request.header("authorization") === `Bearer ${key}`,
    idempotencyKey: (request) => (request.method === "POST" ? request.header("idempotency-key") : ""),
    error: stripeError,
    routes: [
      ...sessionRoutes(engine, urlOf),
      ...intentRoutes(engine),
      ...refundRoutes(engine),
      ...accountRoutes(engine),
    ],
  };
}

function stripeError(status: number, code: string, message: string): unknown {
  const type = status >= 500 ? "api_error" : code === "idempotency_error" ? code : "invalid_request_error";
  const shown = code === "missing" ? "resource_missing" : code;
  return { error: { type, code: shown, message, ...(code === "amount" && { param: "amount" }) } };
}

const unexpectedState = (message: string): ApiError =>
  new ApiError(400, stripeError(400, "payment_intent_unexpected_state", message));

/** Stripe takes an empty value for the wish to unset, which a new object cannot. @throws ApiError */
function filled(form: Form): Form {
  const name = form.emptyField();
  if (name === undefined) return form;
  const message = `You passed an empty string for '${name}'.`;
  throw new ApiError(400, stripeError(400, "parameter_invalid_empty", message));
}

const methodsOf = (form: Form): string[] => {
  const types = form.list("payment_method_types");
  const names = Object.keys(STRIPE_TYPES);
  return types.length === 0 ? names : names.filter((name) => types.includes(STRIPE_TYPES[name] as string));
};

/** Stripe: "anywhere from 30 minutes to 24 hours after Checkout Session creation". @throws SimRefusal */
function endOf(form: Form, nowMs: number): number {
  const endMs = form.number("expires_at") * 1000;
  if (endMs === 0) return nowMs + DAY_MS;
  // Stripe counts in seconds.
  if (endMs > nowMs + SHORTEST_MS - 1000 && endMs < nowMs + DAY_MS + 1000) return endMs;
  throw new SimRefusal("state", "expires_at must be between 30 minutes and 24 hours from now.");
}

function createSession(engine: Engine, form: Form) {
  const isSetup = form.text("mode") === "setup";
  const metadata = form.record("metadata");
  const customer = engine.state.get("customers", form.text("customer"));
  const item = "line_items[0][price_data]";
  return engine.openCheckout({
    house: HOUSE,
    mode: isSetup ? "mandate" : "payment",
    reference: metadata.reference ?? "",
    amount: isSetup ? 0 : form.number(`${item}[unit_amount]`),
    currency: (isSetup ? form.text("currency") : form.text(`${item}[currency]`)).toUpperCase(),
    description: form.text(`${item}[product_data][name]`),
    payerName: customer?.name ?? form.text("customer_email"),
    customerId: customer?.id ?? "",
    email: customer?.email ?? form.text("customer_email"),
    returnUrl: form.text("success_url"),
    expiresAtMs: endOf(form, engine.clock.now()),
    methods: methodsOf(form),
    cap: Number(metadata.cap_minor ?? 0),
  });
}

const sessionRoutes = (engine: Engine, urlOf: UrlOf): ApiRoute[] => [
  [
    "POST",
    /^\/v1\/checkout\/sessions$/,
    (request) => {
      const checkout = createSession(engine, filled(new Form(request)));
      return sessionObject(engine, checkout, urlOf(checkout.id), false);
    },
  ],
  [
    "GET",
    /^\/v1\/checkout\/sessions\/(\w+)$/,
    (request, id = "") => {
      const form = new Form(request);
      const isExpanded = form.expands("payment_intent") || form.expands("setup_intent");
      const checkout = engine.checkout(HOUSE, id);
      for (const paymentId of checkout.paymentIds) engine.payment(HOUSE, paymentId);
      return sessionObject(engine, checkout, urlOf(id), isExpanded);
    },
  ],
  [
    "POST",
    /^\/v1\/checkout\/sessions\/(\w+)\/expire$/,
    (_, id = "") => {
      // Stripe refuses to end what has ended.
      if (engine.checkout(HOUSE, id).state !== "open")
        throw new SimRefusal("state", "Only Checkout Sessions with a status of open can be expired.");
      return sessionObject(engine, engine.expireCheckout(HOUSE, id), urlOf(id), false);
    },
  ],
  [
    "POST",
    /^\/v1\/customers$/,
    (request) => {
      const form = filled(new Form(request));
      const customer: SimCustomer = {
        id: engine.state.newId("cus"),
        house: HOUSE,
        createdAtMs: engine.clock.now(),
        name: form.text("name"),
        email: form.text("email"),
      };
      engine.state.put("customers", customer);
      const { id, name, email } = customer;
      return { id, object: "customer", name, email, metadata: form.record("metadata") };
    },
  ],
  ["GET", /^\/v1\/payment_methods\/(\w+)$/, (_, id = "") => methodObject(engine.mandate(HOUSE, id))],
  [
    "POST",
    /^\/v1\/payment_methods\/(\w+)\/detach$/,
    (_, id = "") => {
      if (engine.mandate(HOUSE, id).state === "cancelled")
        throw new SimRefusal("state", "The payment method is not attached to a customer.");
      return methodObject(engine.moveMandate(HOUSE, id, "cancelled"));
    },
  ],
];

const intentRoutes = (engine: Engine): ApiRoute[] => [
  [
    "POST",
    /^\/v1\/payment_intents$/,
    (request) => {
      const form = new Form(request);
      const mandateId = form.text("payment_method");
      if (engine.mandate(HOUSE, mandateId).customerId !== form.text("customer"))
        throw new SimRefusal("state", "The payment method belongs to another customer.");
      const payment = engine.prepareDebit(HOUSE, {
        mandateId,
        amount: form.number("amount"),
        currency: form.text("currency").toUpperCase(),
        reference: form.record("metadata").reference ?? "",
      });
      return intentObject(engine, payment, false);
    },
  ],
  [
    "GET",
    /^\/v1\/payment_intents\/(\w+)$/,
    (request, id = "") =>
      intentObject(engine, engine.payment(HOUSE, id), new Form(request).expands("latest_charge")),
  ],
  [
    "POST",
    /^\/v1\/payment_intents\/(\w+)\/confirm$/,
    (request, id = "") => {
      const payment = engine.payment(HOUSE, id);
      if (payment.state !== "prepared") throw unexpectedState(`The PaymentIntent is ${payment.state}.`);
      const confirmed = engine.confirmDebit(HOUSE, id);
      if (confirmed.failure !== null) throw cardError(engine, confirmed);
      return intentObject(engine, confirmed, new Form(request).expands("latest_charge"));
    },
  ],
  [
    "POST",
    /^\/v1\/payment_intents\/(\w+)\/capture$/,
    (request, id = "") => {
      const form = new Form(request);
      const payment = engine.payment(HOUSE, id);
      if (payment.state !== "authorized") throw unexpectedState(`The PaymentIntent is ${payment.state}.`);
      const captured = engine.capture(HOUSE, id, form.number("amount_to_capture") || payment.amount);
      return intentObject(engine, captured, form.expands("latest_charge"));
    },
  ],
];

function cardError(engine: Engine, payment: SimPayment): ApiError {
  const { code, message } = payment.failure ?? { code: "", message: "" };
  return new ApiError(402, {
    error: {
      type: "card_error",
      code: "card_declined",
      decline_code: code,
      message,
      payment_intent: intentObject(engine, payment, false),
    },
  });
}

const refundRoutes = (engine: Engine): ApiRoute[] => [
  [
    "POST",
    /^\/v1\/refunds$/,
    (request) => {
      const form = new Form(request);
      const { reference = "" } = form.record("metadata");
      const paymentId = form.text("payment_intent");
      return refundObject(engine.refund(HOUSE, paymentId, form.number("amount"), reference));
    },
  ],
  [
    "GET",
    /^\/v1\/refunds$/,
    (request) => {
      const form = new Form(request);
      const { id } = engine.payment(HOUSE, form.text("payment_intent"));
      return listOf(form, engine.refundsOf(id).map(refundObject));
    },
  ],
  ["GET", /^\/v1\/refunds\/(\w+)$/, (_, id = "") => refundObject(engine.refundById(HOUSE, id))],
  ["GET", /^\/v1\/disputes\/(\w+)$/, (_, id = "") => disputeObject(engine, engine.disputeById(HOUSE, id))],
  [
    "GET",
    /^\/v1\/charges\/(\w+)$/,
    (_, id = "") => chargeObject(engine, engine.payment(HOUSE, paymentIdOf(id)), false),
  ],
];

const accountRoutes = (engine: Engine): ApiRoute[] => [
  [
    "GET",
    /^\/v1\/balance_transactions$/,
    (request) => {
      const form = new Form(request);
      const payout = form.text("payout");
      const lines = engine.account
        .linesOf(HOUSE, ...rangeOf(form))
        .filter(({ settlementId }) => payout === "" || settlementId === payout);
      const isExpanded = form.expands("data.source");
      return listOf(
        form,
        lines.map((line) => transactionObject(engine, line, isExpanded)),
      );
    },
  ],
  [
    "GET",
    /^\/v1\/payouts$/,
    (request) => {
      const form = new Form(request);
      return listOf(form, engine.account.settlementsOf(HOUSE, ...rangeOf(form)).map(payoutObject));
    },
  ],
];

/** The range of `created`, which the query has in seconds. */
function rangeOf(form: Form): [fromMs: number, toMs: number] {
  const from = form.number("created[gte]") * 1000;
  const to = form.text("created[lt]");
  return [from, to === "" ? Number.MAX_SAFE_INTEGER : Number(to) * 1000];
}

const MAX_PAGE = 100;
const PAGE = 10;

/** Newest first, as all lists of Stripe. @param rows oldest first */
function listOf<T extends { readonly id: string }>(form: Form, rows: T[]) {
  const newest = rows.reverse();
  const after = form.text("starting_after");
  const start = after === "" ? 0 : newest.findIndex(({ id }) => id === after) + 1;
  const limit = Math.min(form.number("limit") || PAGE, MAX_PAGE);
  const data = newest.slice(start, start + limit);
  return { object: "list", data, has_more: start + limit < newest.length, url: "/v1/list" };
}

/** Webhooks of a change. @param newId of an event */
export function stripeEvents(engine: Engine, change: Change, urlOf: UrlOf): { id: string; body: string }[] {
  return eventsOf(engine, change, urlOf).map(([type, object]) => {
    const id = engine.state.newId("evt");
    const created = Math.floor(engine.clock.now() / 1000);
    const body = { id, object: "event", type, created, livemode: false, data: { object } };
    return { id, body: JSON.stringify(body) };
  });
}

const PAYMENT_EVENTS: Readonly<Record<SimPayment["state"], string>> = {
  prepared: "created",
  processing: "processing",
  authorized: "amount_capturable_updated",
  paid: "succeeded",
  failed: "payment_failed",
  returned: "canceled",
};

const DISPUTE_EVENTS: Readonly<Record<string, string>> = {
  withdrawn: "funds_withdrawn",
  reinstated: "funds_reinstated",
  lost: "closed",
  won: "closed",
};

function eventsOf(engine: Engine, change: Change, urlOf: UrlOf): [type: string, object: unknown][] {
  switch (change.kind) {
    case "checkout": {
      const { checkout, what } = change;
      return [[`checkout.session.${what}`, sessionObject(engine, checkout, urlOf(checkout.id), false)]];
    }
    case "payment": {
      const { payment } = change;
      const type = `payment_intent.${PAYMENT_EVENTS[payment.state]}`;
      return [[type, intentObject(engine, payment, false)]];
    }
    case "refund": {
      const { refund, isNew } = change;
      const what = refund.state === "failed" ? "failed" : isNew ? "created" : "updated";
      return [[`refund.${what}`, refundObject(refund)]];
    }
    case "dispute": {
      const { dispute, isNew } = change;
      const what = isNew ? "created" : (DISPUTE_EVENTS[dispute.state] ?? "updated");
      return [[`charge.dispute.${what}`, disputeObject(engine, dispute)]];
    }
    case "mandate": {
      const { mandate, checkout } = change;
      const setup = { id: setupIdOf(checkout.id), object: "setup_intent", metadata: {} };
      if (mandate.state === "active") return [["setup_intent.succeeded", setup]];
      if (mandate.state === "failed") return [["setup_intent.setup_failed", setup]];
      return [["payment_method.detached", methodObject(mandate)]];
    }
  }
}
