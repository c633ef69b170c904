/**
 * The port of payment gateways: what the gateway asks of Stripe, Razorpay, and the simulated one. All amounts are integers
 * in minor units. What a payment gateway says at any time is only believed of an object that was read by its id: a webhook
 * says which object changed, and nothing else, so it may come twice, late, in any order, or never.
 *
 * A call with an effect carries an idempotency key. After `Unclear` the caller reads, and never asks for another effect.
 */
import type { Amount } from "../../base/currency.ts";

export const GATEWAY_IDS = ["stripe", "razorpay", "simulated"] as const;
export type GatewayId = (typeof GATEWAY_IDS)[number];

/** Methods of payment as the API names them. */
export const METHODS = [
  "upi",
  "netbanking",
  "card_domestic",
  "card_international",
  "emandate",
  "card",
  "link",
  "ach_debit",
] as const;
export type Method = (typeof METHODS)[number];

/** Who asks, and how long it may take. */
export interface GatewayCall {
  /** The same for the same effect: the key of the job and its attempt. At most 64 of `[A-Za-z0-9_-]`. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** A call without an effect. */
export type Reading = Pick<GatewayCall, "signal">;

/** Who pays; the payment gateway shows and remembers it. */
export interface Payer {
  readonly orgId: string;
  readonly name: string;
  readonly email: string;
}

export interface CheckoutOrder {
  /** Ours: `tup_…`. The payment gateway keeps it with the checkout and with its payments. */
  readonly reference: string;
  readonly payer: Payer;
  /** To be paid, tax included. */
  readonly total: Amount;
  /** What the page says is bought. */
  readonly description: string;
  /** Where the page sends the payer afterwards; says nothing of whether it was paid. */
  readonly returnUrl: string;
  /** No payment may begin after that. Wall clock. */
  readonly expiresAtMs: number;
  /** Those offered; empty: as the account is set up. */
  readonly methods: readonly Method[];
}

/** A page on which a payer pays or registers a mandate. */
export interface HostedPage {
  /** The payment gateway's id of it, by which it is read. */
  readonly ref: string;
  readonly url: string;
}

export interface Payment {
  /** The payment gateway's id of the payment itself. */
  readonly ref: string;
  /** Our reference, as the payment gateway kept it; empty where it has none. */
  readonly reference: string;
  /**
   * `processing`: begun, may take days. `authorized`: to be captured. `paid`: the money is there, also where it was disputed or
   * refunded later. `returned`: an authorization that ended without capture.
   */
  readonly state: "processing" | "authorized" | "paid" | "failed" | "returned";
  /** What was paid. */
  readonly total: Amount;
  /** Fee of the payment gateway, its tax included; 0 where it is not known yet. */
  readonly feeMinor: number;
  readonly method: Method | "";
  readonly paidAtMs: number | null;
  readonly failure: Failure | null;
  /** Sum of refunds that the payment gateway made of it, whoever asked for them. */
  readonly refundedMinor: number;
}

/** Why money did not move. */
export interface Failure {
  /** As the payment gateway names it. */
  readonly code: string;
  readonly message: string;
  /** `hard`: it would fail again. `opt_out`: the payer refused this one debit. */
  readonly kind: "hard" | "soft" | "opt_out";
}

/** A checkout with the payments that were tried for it. */
export interface Checkout {
  readonly ref: string;
  readonly state: "open" | "complete" | "expired";
  /** Newest last. At most one is `paid`, unless a payer paid twice. */
  readonly payments: readonly Payment[];
}

export interface RefundOrder {
  /** Ours: `rfd_…`. */
  readonly reference: string;
  readonly paymentRef: string;
  /** Tax included. */
  readonly total: Amount;
}

export interface GatewayRefund {
  readonly ref: string;
  /** Our reference; empty for a refund that was made in the payment gateway's dashboard. */
  readonly reference: string;
  readonly paymentRef: string;
  readonly total: Amount;
  readonly state: "pending" | "refunded" | "failed";
  readonly failure: Failure | null;
  readonly createdAtMs: number;
}

export interface Dispute {
  readonly ref: string;
  readonly paymentRef: string;
  readonly amount: Amount;
  /** `open`: nothing was withdrawn yet. `withdrawn`: the money is gone. `reinstated`: it came back. `lost`: it stays gone. */
  readonly state: "warning" | "open" | "withdrawn" | "reinstated" | "lost" | "won";
  readonly reason: string;
}

export interface MandateOrder {
  /** Ours: `mdt_…`. */
  readonly reference: string;
  readonly payer: Payer;
  readonly method: Method;
  /** Most of one debit, tax included. */
  readonly cap: Amount;
  readonly returnUrl: string;
}

export interface GatewayMandate {
  /** By which it is read: that of its registration page. */
  readonly ref: string;
  /** What is debited later; empty until it is registered. */
  readonly tokenRef: string;
  readonly reference: string;
  readonly state: "pending" | "active" | "paused" | "failed" | "cancelled";
  /** The payer has done their part, and the bank decides; a `pending` one without that was left, or is still looked at. */
  readonly isSubmitted: boolean;
  readonly method: Method | "";
  readonly cap: Amount;
}

export interface DebitOrder {
  /** Ours: `tup_…`. */
  readonly reference: string;
  readonly payer: Payer;
  readonly mandate: Pick<GatewayMandate, "ref" | "tokenRef" | "method">;
  readonly total: Amount;
  readonly description: string;
}

/** What a webhook says: which object to read again. */
export interface Notice {
  /** The payment gateway's id of the event; unique for one payment gateway. */
  readonly eventId: string;
  readonly subject:
    | {
        readonly kind: "checkout" | "payment" | "refund" | "dispute" | "mandate";
        readonly ref: string;
        readonly reference: string;
      }
    /** The event is of no interest. */
    | { readonly kind: "none" };
}

/**
 * A line of a day's account, for reconciliation. `amount` is positive for what came in and negative for what went out: a refund
 * and a withdrawn dispute are negative; a refund that failed and a dispute whose money came back are positive.
 */
export interface DayLine {
  readonly kind: "payment" | "refund" | "dispute";
  readonly ref: string;
  readonly paymentRef: string;
  readonly reference: string;
  readonly amount: Amount;
  readonly feeMinor: number;
  readonly atMs: number;
}

/** Money that the payment gateway paid out to the operator's bank. */
export interface Settlement {
  readonly ref: string;
  readonly amount: Amount;
  readonly feeMinor: number;
  readonly atMs: number;
}

export interface Day {
  /** Wall clock: from this, included … */
  readonly fromMs: number;
  /** … to this, excluded. */
  readonly toMs: number;
}

/** @throws GatewayError by each of its calls */
export interface PaymentGateway {
  readonly id: GatewayId;
  /** For mandates. */
  readonly mandateMethods: readonly Method[];
  createCheckout(order: CheckoutOrder, call: GatewayCall): Promise<HostedPage>;
  readCheckout(ref: string, call: Reading): Promise<Checkout>;
  /** No payment may begin any more; one that has begun may still end. */
  expireCheckout(ref: string, call: GatewayCall): Promise<void>;
  readPayment(ref: string, call: Reading): Promise<Payment>;
  /** Takes the money of an authorized payment. */
  capture(ref: string, total: Amount, call: GatewayCall): Promise<Payment>;
  refund(order: RefundOrder, call: GatewayCall): Promise<GatewayRefund>;
  /** All of a payment, also those made in the payment gateway's dashboard. */
  refundsOf(paymentRef: string, call: Reading): Promise<readonly GatewayRefund[]>;
  readRefund(ref: string, call: Reading): Promise<GatewayRefund>;
  readDispute(ref: string, call: Reading): Promise<Dispute>;
  registerMandate(order: MandateOrder, call: GatewayCall): Promise<HostedPage>;
  readMandate(ref: string, call: Reading): Promise<GatewayMandate>;
  cancelMandate(mandate: Pick<GatewayMandate, "ref" | "tokenRef">, call: GatewayCall): Promise<void>;
  /**
   * First act of a debit: an object that takes no money yet. Its id is stored before `confirmDebit` is called with it.
   * @returns that id
   */
  prepareDebit(order: DebitOrder, call: GatewayCall): Promise<string>;
  /** Takes the money. Asked twice for one id, it takes it once. */
  confirmDebit(preparedRef: string, order: DebitOrder, call: GatewayCall): Promise<Payment>;
  /** State of a debit by the id of its preparation; undefined: it was never confirmed. */
  readDebit(preparedRef: string, call: Reading): Promise<Payment | undefined>;
  /**
   * Checks the signature over the raw bytes, and the age where the payment gateway signs a time.
   * @throws WeirError 400 `invalid_value` for a bad signature; never says what was expected
   */
  readWebhook(bytes: Buffer, header: (name: string) => string, nowMs: number): readonly Notice[];
  /** What happened in a day, oldest first, read page by page. */
  linesOf(day: Day, call: Reading): AsyncIterable<DayLine>;
  settlementsOf(day: Day, call: Reading): AsyncIterable<Settlement>;
}

/**
 * Why a call to a payment gateway failed. `declined`: it said no, and nothing happened. `unclear`: it may have happened; read.
 * `busy`: nothing happened, ask again later. `refused`: the request or the account is at fault; an operator must look.
 * `missing`: there is no such object.
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly kind: "declined" | "unclear" | "busy" | "refused" | "missing";
  readonly failure: Failure | null;
  /** Of `busy`, where the payment gateway said it. */
  readonly retryAfterMs: number | null;

  /** @param message for operators: holds no secret */
  constructor(
    kind: GatewayError["kind"],
    message: string,
    { failure = null, retryAfterMs = null }: { failure?: Failure | null; retryAfterMs?: number | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

/** @throws Error where the settings name it no more */
export function mustBeOpen(
  { gatewayOf }: { readonly gatewayOf: (id: GatewayId) => PaymentGateway | undefined },
  id: GatewayId,
): PaymentGateway {
  const gateway = gatewayOf(id);
  if (gateway === undefined) throw new Error(`${id} is not configured any more`);
  return gateway;
}

/** What a payment gateway is asked for; undefined where it says that there is no such object. @throws what `read` rejects with */
export async function orMissing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "missing") return undefined;
    throw error;
  }
}
