/** The API of the `simulated` payment service: JSON, in the shapes of the port of payment gateways. */
import { z } from "zod";
import type { ApiRequest, ApiRoute, Front } from "./api.ts";
import { type Change, type Engine, SimRefusal } from "./engine.ts";
import type { SimDispute, SimMandate, SimPayment, SimRefund } from "./state.ts";

const HOUSE = "simulated";
const MAX_TEXT = 500;
const text = z.string().max(MAX_TEXT);
const amount = z.object({
  currency: z.enum(["INR", "USD"]),
  minor: z
    .int()
    .positive()
    .max(2 ** 40),
});
const payer = z.object({ orgId: text, name: text, email: text });
const returnUrl = z.url({ protocol: /^https?$/ }).max(2000);
const methods = z.array(text).max(20);

const checkoutBody = z.object({
  reference: text,
  payer,
  total: amount,
  description: text,
  returnUrl,
  expiresAtMs: z.int().positive(),
  methods,
});
const mandateBody = z.object({ reference: text, payer, method: text, cap: amount, returnUrl });
const refundBody = z.object({ reference: text, paymentRef: text, total: amount });
const debitBody = z.object({ reference: text, tokenRef: text, total: amount });

/** Offered where the order names none. */
const METHODS = { INR: ["upi", "netbanking", "card_domestic"], USD: ["card", "link", "ach_debit"] };
const REGISTRATION_MS = 24 * 3_600_000;
const PAGE = 100;

/** @param key what callers present as bearer @param urlOf where a hosted page is */
export function simulatedFront(engine: Engine, key: string, urlOf: (id: string) => string): Front {
  return {
    house: HOUSE,
    isAllowed: (request) => request.header("authorization") === `Bearer ${key}`,
    idempotencyKey: (request) => request.header("idempotency-key"),
    error: (_, code, message) => ({ error: { code, message } }),
    routes: [...pageRoutes(engine, urlOf), ...moneyRoutes(engine), ...accountRoutes(engine)],
  };
}

/** @throws SimRefusal for a body that does not fit */
function bodyOf<T>(schema: z.ZodType<T>, request: ApiRequest): T {
  try {
    return schema.parse(JSON.parse(request.body));
  } catch {
    throw new SimRefusal("state", "The body is not valid.");
  }
}

const pageRoutes = (engine: Engine, urlOf: (id: string) => string): ApiRoute[] => [
  [
    "POST",
    /^\/simulated\/checkouts$/,
    (request) => {
      const order = bodyOf(checkoutBody, request);
      const { total, payer, reference, description, returnUrl, expiresAtMs } = order;
      const { id } = engine.openCheckout({
        house: HOUSE,
        mode: "payment",
        reference,
        amount: total.minor,
        currency: total.currency,
        description,
        payerName: payer.name,
        email: payer.email,
        customerId: payer.orgId,
        cap: 0,
        returnUrl,
        expiresAtMs,
        methods: order.methods.length > 0 ? order.methods : METHODS[total.currency],
      });
      return { ref: id, url: urlOf(id) };
    },
  ],
  [
    "GET",
    /^\/simulated\/checkouts\/(\w+)$/,
    (_, id = "") => {
      const { state, paymentIds } = engine.checkout(HOUSE, id);
      const payments = paymentIds.map((paymentId) => paymentOf(engine.payment(HOUSE, paymentId)));
      return { ref: id, state, payments };
    },
  ],
  [
    "POST",
    /^\/simulated\/checkouts\/(\w+)\/expire$/,
    (_, id = "") => ({ state: engine.expireCheckout(HOUSE, id).state }),
  ],
  [
    "POST",
    /^\/simulated\/mandates$/,
    (request) => {
      const { cap, payer, reference, method, returnUrl } = bodyOf(mandateBody, request);
      const { id } = engine.openCheckout({
        house: HOUSE,
        mode: "mandate",
        reference,
        amount: 0,
        currency: cap.currency,
        cap: cap.minor,
        description: "",
        payerName: payer.name,
        email: payer.email,
        customerId: payer.orgId,
        returnUrl,
        expiresAtMs: engine.clock.now() + REGISTRATION_MS,
        methods: [method],
      });
      return { ref: id, url: urlOf(id) };
    },
  ],
  ["GET", /^\/simulated\/mandates\/(\w+)$/, (_, id = "") => mandateOf(engine, id)],
  [
    "POST",
    /^\/simulated\/mandates\/(\w+)\/cancel$/,
    (_, id = "") => {
      const checkout = engine.checkout(HOUSE, id);
      if (checkout.mandateId === "") engine.expireCheckout(HOUSE, id);
      else engine.moveMandate(HOUSE, checkout.mandateId, "cancelled");
      return mandateOf(engine, id);
    },
  ],
];

const moneyRoutes = (engine: Engine): ApiRoute[] => [
  ["GET", /^\/simulated\/payments\/(\w+)$/, (_, id = "") => paymentOf(engine.payment(HOUSE, id))],
  [
    "POST",
    /^\/simulated\/payments\/(\w+)\/capture$/,
    (request, id = "") => {
      const { total } = bodyOf(z.object({ total: amount }), request);
      return paymentOf(engine.capture(HOUSE, id, total.minor));
    },
  ],
  [
    "POST",
    /^\/simulated\/refunds$/,
    (request) => {
      const { paymentRef, total, reference } = bodyOf(refundBody, request);
      return refundOf(engine.refund(HOUSE, paymentRef, total.minor, reference));
    },
  ],
  [
    "GET",
    /^\/simulated\/payments\/(\w+)\/refunds$/,
    (_, id = "") => ({ data: engine.refundsOf(engine.payment(HOUSE, id).id).map(refundOf) }),
  ],
  ["GET", /^\/simulated\/refunds\/(\w+)$/, (_, id = "") => refundOf(engine.refundById(HOUSE, id))],
  ["GET", /^\/simulated\/disputes\/(\w+)$/, (_, id = "") => disputeOf(engine.disputeById(HOUSE, id))],
  [
    "POST",
    /^\/simulated\/debits$/,
    (request) => {
      const { tokenRef, total, reference } = bodyOf(debitBody, request);
      const order = { mandateId: tokenRef, amount: total.minor, currency: total.currency, reference };
      return { ref: engine.prepareDebit(HOUSE, order).id };
    },
  ],
  [
    "POST",
    /^\/simulated\/debits\/(\w+)\/confirm$/,
    (_, id = "") => {
      const payment = engine.payment(HOUSE, id);
      return paymentOf(payment.state === "prepared" ? engine.confirmDebit(HOUSE, id) : payment);
    },
  ],
];

const accountRoutes = (engine: Engine): ApiRoute[] => [
  [
    "GET",
    /^\/simulated\/lines$/,
    ({ query }) =>
      pageOf(query, (fromMs, toMs) =>
        engine.account.linesOf(HOUSE, fromMs, toMs).map((line) => ({
          kind: line.kind,
          ref: line.ref,
          paymentRef: line.paymentId,
          reference: line.reference,
          amount: { currency: line.currency, minor: line.amount },
          feeMinor: line.feeMinor,
          atMs: line.createdAtMs,
        })),
      ),
  ],
  [
    "GET",
    /^\/simulated\/settlements$/,
    ({ query }) =>
      pageOf(query, (fromMs, toMs) =>
        engine.account.settlementsOf(HOUSE, fromMs, toMs).map((settlement) => ({
          ref: settlement.id,
          feeMinor: settlement.feeMinor,
          atMs: settlement.createdAtMs,
          amount: { currency: settlement.currency, minor: settlement.amount },
        })),
      ),
  ],
];

function pageOf<T>(query: URLSearchParams, read: (fromMs: number, toMs: number) => T[]) {
  const [from, to, skip] = ["from_ms", "to_ms", "skip"].map((name) => Number(query.get(name) ?? 0));
  const rows = read(from as number, to as number);
  const next = (skip as number) + PAGE;
  return { data: rows.slice(skip, next), next: next < rows.length ? next : null };
}

const paymentOf = (payment: SimPayment) => ({
  ref: payment.id,
  reference: payment.reference,
  state: payment.state,
  total: { currency: payment.currency, minor: payment.amount },
  feeMinor: payment.feeMinor,
  method: payment.method,
  paidAtMs: payment.paidAtMs,
  failure: payment.failure,
  refundedMinor: payment.refundedMinor,
});

const refundOf = (refund: SimRefund) => ({
  ref: refund.id,
  reference: refund.reference,
  paymentRef: refund.paymentId,
  state: refund.state,
  total: { currency: refund.currency, minor: refund.amount },
  failure: refund.failure,
  createdAtMs: refund.createdAtMs,
});

const disputeOf = (dispute: SimDispute) => ({
  ref: dispute.id,
  paymentRef: dispute.paymentId,
  state: dispute.state,
  reason: dispute.reason,
  amount: { currency: dispute.currency, minor: dispute.amount },
});

function mandateOf(engine: Engine, id: string) {
  const { mode, state, mandateId, reference, cap, currency, methods } = engine.checkout(HOUSE, id);
  if (mode !== "mandate") throw new SimRefusal("missing", `There is no mandate ${id}.`);
  const mandate: SimMandate | undefined = mandateId === "" ? undefined : engine.mandate(HOUSE, mandateId);
  const unregistered = state === "open" ? "pending" : "failed";
  return {
    ref: id,
    tokenRef: mandateId,
    reference,
    cap: { currency, minor: cap },
    state: mandate?.state ?? unregistered,
    isSubmitted: mandate !== undefined,
    method: mandate?.method ?? methods[0] ?? "",
  };
}

/** @param id of the event */
export function simulatedEvents(change: Change, id: string): { id: string; body: string }[] {
  const [ref, reference] = subjectOf(change);
  return [{ id, body: JSON.stringify({ id, kind: change.kind, ref, reference }) }];
}

function subjectOf(change: Change): [ref: string, reference: string] {
  if (change.kind === "checkout") {
    const { id, reference, mode } = change.checkout;
    return mode === "payment" ? [id, reference] : ["", ""];
  }
  if (change.kind === "mandate") return [change.checkout.id, change.checkout.reference];
  if (change.kind === "payment") return [change.payment.id, change.payment.reference];
  return change.kind === "refund" ? [change.refund.id, change.refund.reference] : [change.dispute.id, ""];
}
