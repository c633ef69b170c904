/** Enough of Razorpay's API for its official library: JSON, basic auth, lists by `count` and `skip`. */
import { DAY_MS } from "../../src/base/time.ts";
import { ApiError, type ApiRequest, type ApiRoute, type Front } from "./api.ts";
import { type Engine, SimRefusal } from "./engine.ts";
import {
  authPaymentEntity,
  disputeEntity,
  invoiceEntity,
  linkEntity,
  linkIdOf,
  orderEntity,
  paymentEntity,
  reconEntity,
  refundEntity,
  registrationIdOf,
  tokenEntity,
} from "./razorpay-objects.ts";
import type { SimOrder, SimPayment } from "./state.ts";

const HOUSE = "razorpay";
const INDIA_MS = 19_800_000;
const METHODS = ["upi", "netbanking", "card_domestic", "card_international"];

type UrlOf = (id: string) => string;
type Body = Readonly<Record<string, unknown>>;

export function razorpayFront(engine: Engine, keyId: string, keySecret: string, urlOf: UrlOf): Front {
  const expected = `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString("base64")}`;
  return {
    house: HOUSE,
    isAllowed: (request) => request.header("authorization") === expected,
    idempotencyKey: (request) => request.header("x-refund-idempotency"),
    error: (status, code, message) => razorpayError(status, code, message),
    missingStatus: 400,
    routes: [
      ...linkRoutes(engine, urlOf),
      ...registrationRoutes(engine, urlOf),
      ...orderRoutes(engine),
      ...paymentRoutes(engine),
      ...accountRoutes(engine),
    ],
  };
}

function razorpayError(status: number, code: string, message: string): unknown {
  const description = code === "missing" ? "The id provided does not exist" : message;
  return { error: { code: status >= 500 ? "SERVER_ERROR" : "BAD_REQUEST_ERROR", description, reason: "NA" } };
}

function bodyOf(request: ApiRequest): Body {
  try {
    return JSON.parse(request.body || "{}") as Body;
  } catch {
    throw new SimRefusal("state", "The body is not JSON.");
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const numberOf = (value: unknown): number => Number(value ?? 0);
const partOf = (value: unknown): Body => (typeof value === "object" && value !== null ? (value as Body) : {});

/** Newest first. @param rows oldest first */
function listOf<T>({ query }: ApiRequest, rows: T[]) {
  const count = Math.min(Number(query.get("count") ?? 10), 100);
  const skip = Number(query.get("skip") ?? 0);
  const items = rows.reverse().slice(skip, skip + count);
  return { entity: "collection", count: items.length, items };
}

/** Both ends included. */
function isAsked({ query }: ApiRequest, createdAtMs: number): boolean {
  const at = Math.floor(createdAtMs / 1000);
  return at >= Number(query.get("from") ?? 0) && at <= Number(query.get("to") ?? Number.MAX_SAFE_INTEGER);
}

const linkRoutes = (engine: Engine, urlOf: UrlOf): ApiRoute[] => [
  [
    "POST",
    /^\/v1\/payment_links$/,
    (request) => {
      const body = bodyOf(request);
      const reference = textOf(body.reference_id);
      const isTaken = checkoutsOf(engine, "payment").some((known) => known.reference === reference);
      if (isTaken) throw new SimRefusal("state", "payment link with given reference_id already exists");
      const customer = partOf(body.customer);
      const checkout = engine.openCheckout({
        house: HOUSE,
        mode: "payment",
        reference,
        amount: numberOf(body.amount),
        currency: "INR",

        description: textOf(body.description),
        payerName: textOf(customer.name),
        customerId: "",
        cap: 0,
        email: textOf(customer.email),
        returnUrl: textOf(body.callback_url),
        expiresAtMs: numberOf(body.expire_by) * 1000,
        methods: offered(body),
      });
      return linkEntity(engine, checkout, urlOf(checkout.id));
    },
  ],
  [
    "GET",
    /^\/v1\/payment_links$/,
    ({ query }) => {
      const reference = query.get("reference_id");
      const found = checkoutsOf(engine, "payment").filter((known) => known.reference === reference);
      return { payment_links: found.map((known) => linkEntity(engine, known, urlOf(known.id))) };
    },
  ],
  [
    "GET",
    /^\/v1\/payment_links\/(\w+)$/,
    (_, id = "") => linkEntity(engine, engine.checkout(HOUSE, id), urlOf(id)),
  ],
  [
    "POST",
    /^\/v1\/payment_links\/(\w+)\/cancel$/,
    (_, id = "") => linkEntity(engine, engine.expireCheckout(HOUSE, id), urlOf(id)),
  ],
];

const checkoutsOf = (engine: Engine, mode: string) =>
  [...engine.state.all("checkouts")].filter((known) => known.house === HOUSE && known.mode === mode);

function offered(body: Body): string[] {
  const methods = partOf(partOf(partOf(body.options).checkout).method);
  const isOn = (method: string) => methods[method.startsWith("card") ? "card" : method] === "1";
  return Object.keys(methods).length === 0 ? METHODS : METHODS.filter(isOn);
}

const registrationRoutes = (engine: Engine, urlOf: UrlOf): ApiRoute[] => [
  [
    "POST",
    /^\/v1\/subscription_registration\/auth_links$/,
    (request) => {
      const body = bodyOf(request);
      const { method, max_amount } = partOf(body.subscription_registration);
      const customer = partOf(body.customer);
      const checkout = engine.openCheckout({
        house: HOUSE,
        mode: "mandate",
        idPrefix: "inv",
        reference: textOf(body.receipt),
        currency: "INR",

        amount: numberOf(body.amount),
        cap: numberOf(max_amount),
        description: textOf(body.description),
        payerName: textOf(customer.name),
        email: textOf(customer.email),
        customerId: engine.state.newId("cust"),
        returnUrl: textOf(body.callback_url),
        expiresAtMs: numberOf(body.expire_by) * 1000,
        methods: [method === "card" ? "card_domestic" : textOf(method)],
      });
      return invoiceEntity(engine, checkout, urlOf(checkout.id));
    },
  ],
  [
    "GET",
    /^\/v1\/invoices$/,
    (request) => {
      const receipt = request.query.get("receipt");
      const found = checkoutsOf(engine, "mandate").filter((known) => known.reference === receipt);
      return listOf(
        request,
        found.map((known) => invoiceEntity(engine, known, urlOf(known.id))),
      );
    },
  ],
  [
    "GET",
    /^\/v1\/invoices\/(\w+)$/,
    (_, id = "") => invoiceEntity(engine, engine.checkout(HOUSE, id), urlOf(id)),
  ],
  [
    "POST",
    /^\/v1\/invoices\/(\w+)\/cancel$/,
    (_, id = "") => invoiceEntity(engine, engine.expireCheckout(HOUSE, id), urlOf(id)),
  ],
  [
    "GET",
    /^\/v1\/customers\/(\w+)\/tokens\/(\w+)$/,
    (_, customer = "", id = "") => {
      if (engine.mandate(HOUSE, id).customerId !== customer) throw new SimRefusal("missing", "No token.");
      return tokenEntity(engine, id);
    },
  ],
  [
    "DELETE",
    /^\/v1\/customers\/(\w+)\/tokens\/(\w+)$/,
    (_, _customer = "", id = "") => {
      engine.moveMandate(HOUSE, id, "cancelled");
      return { deleted: true };
    },
  ],
];

const orderRoutes = (engine: Engine): ApiRoute[] => [
  [
    "POST",
    /^\/v1\/orders$/,
    (request) => {
      const body = bodyOf(request);
      const order: SimOrder = {
        id: engine.state.newId("order"),
        house: HOUSE,
        createdAtMs: engine.clock.now(),
        amount: numberOf(body.amount),
        currency: textOf(body.currency),
        receipt: textOf(body.receipt),
        notes: partOf(body.notes) as Readonly<Record<string, string>>,
      };
      engine.state.put("orders", order);
      return orderEntity(order);
    },
  ],
  [
    "GET",
    /^\/v1\/orders$/,
    (request) => {
      const receipt = request.query.get("receipt");
      const found = [...engine.state.all("orders")].filter((order) => order.receipt === receipt);
      return listOf(request, found.map(orderEntity));
    },
  ],
  [
    "GET",
    /^\/v1\/orders\/(\w+)$/,
    (_, id = "") => {
      const order = engine.state.get("orders", id);
      if (order !== undefined) return orderEntity(order);
      const { reference, amount, currency } = engine.checkout(HOUSE, linkIdOf(id));
      return { id, entity: "order", amount, currency, receipt: reference, notes: [] };
    },
  ],
  [
    "GET",
    /^\/v1\/orders\/(\w+)\/payments$/,
    (_, id = "") => {
      const items = paymentsOf(engine, id).map(paymentEntity).reverse();
      return { entity: "collection", count: items.length, items };
    },
  ],
  [
    "POST",
    /^\/v1\/payments\/create\/recurring$/,
    (request) => {
      const body = bodyOf(request);
      const orderId = textOf(body.order_id);
      const order = engine.state.get("orders", orderId);
      if (order === undefined) throw new SimRefusal("missing", "No order.");
      if (paymentsOf(engine, orderId).some((payment) => payment.state !== "failed"))
        throw new SimRefusal("state", "Order already paid");
      const { amount, currency, receipt: reference } = order;
      const debit = { mandateId: textOf(body.token), orderId, amount, currency, reference };
      const payment = engine.confirmDebit(HOUSE, engine.prepareDebit(HOUSE, debit).id);
      if (payment.failure !== null) throw paymentError(payment);
      return { razorpay_payment_id: payment.id, razorpay_order_id: orderId };
    },
  ],
];

/** The payments of an order, oldest first. */
function paymentsOf(engine: Engine, orderId: string): SimPayment[] {
  const link = engine.state.get("checkouts", linkIdOf(orderId));
  if (link !== undefined) return link.paymentIds.map((id) => engine.payment(HOUSE, id));
  if (engine.state.get("orders", orderId) === undefined) throw new SimRefusal("missing", "No order.");
  return [...engine.state.all("payments")]
    .filter((payment) => payment.orderId === orderId)
    .map((payment) => engine.payment(HOUSE, payment.id));
}

const paymentError = ({ id, orderId, failure }: SimPayment): ApiError =>
  new ApiError(400, {
    error: {
      code: "BAD_REQUEST_ERROR",
      description: failure?.message,
      reason: failure?.code,
      metadata: { payment_id: id, order_id: orderId },
    },
  });

const paymentRoutes = (engine: Engine): ApiRoute[] => [
  [
    "GET",
    /^\/v1\/payments$/,
    (request) => {
      const found = [...engine.state.all("payments")].filter(
        (payment) => payment.house === HOUSE && isAsked(request, payment.createdAtMs),
      );
      return listOf(request, found.map(paymentEntity));
    },
  ],
  [
    "GET",
    /^\/v1\/payments\/(\w+)$/,
    (_, id = "") => {
      const registration = engine.state.get("checkouts", registrationIdOf(id));
      if (registration !== undefined) return authPaymentEntity(engine, registration);
      return paymentEntity(engine.payment(HOUSE, id));
    },
  ],
  [
    "POST",
    /^\/v1\/payments\/(\w+)\/capture$/,
    (request, id = "") => paymentEntity(engine.capture(HOUSE, id, numberOf(bodyOf(request).amount))),
  ],
  [
    "POST",
    /^\/v1\/payments\/(\w+)\/refund$/,
    (request, id = "") => {
      const { amount, notes } = bodyOf(request);
      const reference = textOf(partOf(notes).reference);
      return refundEntity(engine.refund(HOUSE, id, numberOf(amount), reference));
    },
  ],
  [
    "GET",
    /^\/v1\/payments\/(\w+)\/refunds$/,
    (request, id = "") => listOf(request, engine.refundsOf(engine.payment(HOUSE, id).id).map(refundEntity)),
  ],
];

const accountRoutes = (engine: Engine): ApiRoute[] => [
  [
    "GET",
    /^\/v1\/refunds$/,
    (request) => {
      const found = [...engine.state.all("refunds")].filter(
        (refund) => refund.house === HOUSE && isAsked(request, refund.createdAtMs),
      );
      return listOf(request, found.map(refundEntity));
    },
  ],
  ["GET", /^\/v1\/refunds\/(\w+)$/, (_, id = "") => refundEntity(engine.refundById(HOUSE, id))],
  [
    "GET",
    /^\/v1\/disputes$/,
    (request) => {
      const found = [...engine.state.all("disputes")].filter(
        (dispute) => dispute.house === HOUSE && isAsked(request, dispute.createdAtMs),
      );
      return listOf(request, found.map(disputeEntity));
    },
  ],
  ["GET", /^\/v1\/disputes\/(\w+)$/, (_, id = "") => disputeEntity(engine.disputeById(HOUSE, id))],
  [
    "GET",
    /^\/v1\/settlements\/recon\/combined$/,
    (request) => {
      const [year = 0, month = 1, day = 1] = ["year", "month", "day"].map((name) =>
        Number(request.query.get(name)),
      );
      const fromMs = Date.UTC(year, month - 1, day) - INDIA_MS;
      const settled = engine.account.settlementsOf(HOUSE, fromMs, fromMs + DAY_MS);
      const times = new Map(settled.map(({ id, createdAtMs }) => [id, createdAtMs]));
      const lines = [...engine.state.all("lines")].flatMap((line) => {
        const at = times.get(line.settlementId);
        return at === undefined ? [] : [reconEntity(line, at)];
      });
      return listOf(request, lines);
    },
  ],
];
