/**
 * The state machine behind all simulated payment services: what happens to payments, refunds, mandates, disputes and
 * settlements, whoever asks. Each change is told to `changed`, from which webhooks are made.
 */
import type { Clock, Random } from "../../src/base/clock.ts";
import { Account } from "./account.ts";
import { type NewCheckout, NewEntities } from "./new-entities.ts";
import { failureOf, feeOf, type Outcome } from "./outcomes.ts";
import {
  type House,
  type SimCheckout,
  type SimDispute,
  type SimMandate,
  type SimPayment,
  type SimRefund,
  SimState,
} from "./state.ts";

/** Something a webhook tells of. */
export type Change =
  | { readonly kind: "checkout"; readonly what: "completed" | "expired"; readonly checkout: SimCheckout }
  | { readonly kind: "payment"; readonly payment: SimPayment }
  | { readonly kind: "refund"; readonly refund: SimRefund; readonly isNew: boolean }
  | { readonly kind: "mandate"; readonly mandate: SimMandate; readonly checkout: SimCheckout }
  | { readonly kind: "dispute"; readonly dispute: SimDispute; readonly isNew: boolean };

/** What was asked for cannot be; an API makes its own error of it. */
export class SimRefusal extends Error {
  override readonly name = "SimRefusal";
  readonly why: "missing" | "state" | "amount";

  constructor(why: SimRefusal["why"], message: string) {
    super(message);
    this.why = why;
  }
}

export interface EngineOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly file?: string | undefined;
  /** How long a bank debit takes. Default: a minute. */
  readonly processingMs?: number | undefined;
}

export interface PayOptions {
  readonly method?: string;
  /** Default: paid; a bank debit begins as processing. */
  readonly outcome?: Outcome;
  /** Other than asked for, to plant a fault. */
  readonly amount?: number;
  readonly currency?: string;
  /** Even where the page is over or was paid before. */
  readonly force?: boolean;
}

const PROCESSING_MS = 60_000;

export class Engine {
  readonly state: SimState;
  readonly clock: Clock;
  readonly account: Account;
  /** Set by whoever sends webhooks. */
  changed: (change: Change) => void = () => {};
  /** Outcomes of the next debits and refunds, first one first; then everything succeeds. */
  readonly nextDebits: Outcome[] = [];
  readonly nextRefunds: ("refunded" | "pending" | "failed")[] = [];
  readonly #new: NewEntities;
  readonly #processingMs: number;

  constructor({ clock, random, file, processingMs = PROCESSING_MS }: EngineOptions) {
    this.clock = clock;
    this.state = new SimState(file, random);
    this.account = new Account(this.state, clock);
    this.#new = new NewEntities(this.state, clock);
    this.#processingMs = processingMs;
  }

  // -- Hosted pages --

  openCheckout(fields: NewCheckout): SimCheckout {
    return this.#new.checkout(fields);
  }

  /** Ends a page whose time is over. @throws SimRefusal */
  checkout(house: House, id: string): SimCheckout {
    const checkout = this.state.get("checkouts", id);
    if (checkout === undefined || checkout.house !== house) throw missing("checkout", id);
    if (checkout.state === "open" && checkout.expiresAtMs <= this.clock.now()) this.#expire(checkout, false);
    return checkout;
  }

  /** A page of any service, as its visitor sees it. */
  page(id: string): SimCheckout | undefined {
    const found = this.state.get("checkouts", id);
    return found === undefined ? undefined : this.checkout(found.house, id);
  }

  expireCheckout(house: House, id: string): SimCheckout {
    const checkout = this.checkout(house, id);
    if (checkout.state === "complete") throw new SimRefusal("state", "The checkout is complete.");
    if (checkout.state === "open") this.#expire(checkout, true);
    return checkout;
  }

  #expire(checkout: SimCheckout, isCancelled: boolean): void {
    this.#put("checkouts", checkout, { state: "expired", isCancelled });
    this.changed({ kind: "checkout", what: "expired", checkout });
  }

  /** A payer pays, or tries to. @throws SimRefusal */
  pay(checkoutId: string, options: PayOptions = {}): SimPayment {
    const checkout = this.page(checkoutId);
    if (checkout === undefined || checkout.mode !== "payment") throw missing("checkout", checkoutId);
    if (checkout.state !== "open" && options.force !== true)
      throw new SimRefusal("state", "The checkout takes no payment any more.");
    const payment = this.#paymentFor(checkout, options);
    if (!checkout.paymentIds.includes(payment.id)) checkout.paymentIds.push(payment.id);
    const outcome = options.outcome ?? (payment.method === "ach_debit" ? "processing" : "paid");
    this.state.put("checkouts", checkout);
    const isOver = failureOf(checkout.house, outcome) === undefined && checkout.state === "open";
    if (isOver) this.#put("checkouts", checkout, { state: "complete" });
    this.#end(payment, outcome);
    if (isOver) this.changed({ kind: "checkout", what: "completed", checkout });
    return payment;
  }

  /** Stripe tries one payment again and again; others make a new one each time. */
  #paymentFor(checkout: SimCheckout, { method, amount, currency }: PayOptions): SimPayment {
    const { house, id } = checkout;
    const chosen = method ?? (checkout.methods[0] as string);
    const last = this.state.get("payments", checkout.paymentIds.at(-1) ?? "");
    if (house === "stripe" && last?.state === "failed") return Object.assign(last, { method: chosen });
    return this.#new.payment({
      house,
      checkoutId: id,
      orderId: "",
      reference: checkout.reference,
      mandateId: "",
      amount: amount ?? checkout.amount,
      currency: currency ?? checkout.currency,
      customerId: checkout.customerId,
      method: chosen,
      state: "processing",
    });
  }

  #end(payment: SimPayment, outcome: Outcome): void {
    const failure = failureOf(payment.house, outcome);
    if (failure !== undefined) this.#put("payments", payment, { state: "failed", failure });
    else if (outcome === "paid") this.#take(payment);
    else this.#put("payments", payment, { state: outcome as "authorized" | "processing", failure: null });
    this.changed({ kind: "payment", payment });
  }

  #take(payment: SimPayment): void {
    const { house, amount } = payment;
    const feeMinor = feeOf(house, amount);
    this.#put("payments", payment, { state: "paid", paidAtMs: this.clock.now(), feeMinor, failure: null });
    this.account.add(payment, { kind: "payment", ref: payment.id, amount, feeMinor });
  }

  // -- Payments --

  /** Ends a bank debit whose days are over. @throws SimRefusal */
  payment(house: House, id: string): SimPayment {
    const payment = this.state.get("payments", id);
    if (payment === undefined || payment.house !== house) throw missing("payment", id);
    const isDue = payment.createdAtMs + this.#processingMs <= this.clock.now();
    if (payment.state === "processing" && isDue) this.#end(payment, "paid");
    return payment;
  }

  /** Ends one that is processing, or a failed debit that the bank tries again. @throws SimRefusal */
  finishPayment(house: House, id: string, outcome: Outcome): SimPayment {
    const payment = this.payment(house, id);
    const isDebit = payment.mandateId !== "" && payment.state === "failed";
    if (payment.state !== "processing" && !isDebit)
      throw new SimRefusal("state", `The payment is ${payment.state}.`);
    this.#end(payment, outcome);
    return payment;
  }

  /** @throws SimRefusal */
  capture(house: House, id: string, amount: number): SimPayment {
    const payment = this.payment(house, id);
    if (payment.state !== "authorized") throw new SimRefusal("state", `The payment is ${payment.state}.`);
    if (payment.amount !== amount) throw new SimRefusal("amount", "Capture the amount that was authorized.");
    this.#end(payment, "paid");
    return payment;
  }

  /** An authorization runs out. @throws SimRefusal */
  returnPayment(house: House, id: string): SimPayment {
    const payment = this.payment(house, id);
    if (payment.state !== "authorized") throw new SimRefusal("state", `The payment is ${payment.state}.`);
    this.#put("payments", payment, { state: "returned" });
    this.changed({ kind: "payment", payment });
    return payment;
  }

  // -- Refunds --

  /** @param reference empty for one that is made in the dashboard @throws SimRefusal */
  refund(house: House, paymentId: string, amount: number, reference: string): SimRefund {
    const payment = this.payment(house, paymentId);
    if (payment.state !== "paid") throw new SimRefusal("state", `The payment is ${payment.state}.`);
    if (amount < 1 || payment.refundedMinor + amount > payment.amount)
      throw new SimRefusal("amount", "The refund is more than what is left of the payment.");
    const refund = this.#new.refund(payment, amount, reference);
    this.#put("payments", payment, { refundedMinor: payment.refundedMinor + amount });
    this.account.add(payment, { kind: "refund", ref: refund.id, amount: -amount, feeMinor: 0, reference });
    const outcome = this.nextRefunds.shift() ?? "refunded";
    this.changed({ kind: "refund", refund, isNew: true });
    if (outcome !== "pending") this.finishRefund(house, refund.id, outcome);
    return refund;
  }

  /** A pending one ends, or one that seemed to have succeeded fails late. @throws SimRefusal */
  finishRefund(house: House, id: string, outcome: "refunded" | "failed"): SimRefund {
    const refund = this.refundById(house, id);
    if (refund.state === "failed") throw new SimRefusal("state", "The refund has failed.");
    const payment = this.payment(house, refund.paymentId);
    if (outcome === "failed") {
      const { amount, reference } = refund;
      const failure = { code: "account_closed", message: "The account is closed.", kind: "hard" as const };
      this.#put("refunds", refund, { state: "failed", failure });
      this.#put("payments", payment, { refundedMinor: payment.refundedMinor - amount });
      this.account.add(payment, { kind: "refund", ref: id, amount, feeMinor: 0, reference });
    } else this.#put("refunds", refund, { state: "refunded" });
    this.changed({ kind: "refund", refund, isNew: false });
    return refund;
  }

  refundById(house: House, id: string): SimRefund {
    const refund = this.state.get("refunds", id);
    if (refund === undefined || refund.house !== house) throw missing("refund", id);
    return refund;
  }

  /** Oldest first. */
  refundsOf(paymentId: string): SimRefund[] {
    return [...this.state.all("refunds")].filter((refund) => refund.paymentId === paymentId);
  }

  // -- Disputes --

  /** @param state `open` takes no money yet; a bank debit that came back is `withdrawn` at once @throws SimRefusal */
  dispute(
    house: House,
    paymentId: string,
    { state = "withdrawn", reason = "fraudulent", amount }: Partial<SimDispute> = {},
  ): SimDispute {
    const payment = this.payment(house, paymentId);
    if (payment.state !== "paid") throw new SimRefusal("state", `The payment is ${payment.state}.`);
    const dispute = this.#new.dispute(payment, {
      amount: amount ?? payment.amount,
      reason,
      state: state === "warning" ? "warning" : "open",
    });
    this.changed({ kind: "dispute", dispute, isNew: true });
    return state === dispute.state ? dispute : this.moveDispute(house, dispute.id, state);
  }

  /** `withdrawn` takes the money, `reinstated` and `won` after it give it back. @throws SimRefusal */
  moveDispute(house: House, id: string, to: SimDispute["state"]): SimDispute {
    const dispute = this.disputeById(house, id);
    const isOut = dispute.state === "withdrawn" || dispute.state === "lost";
    const willBeOut = to === "withdrawn" || to === "lost";
    const payment = this.payment(house, dispute.paymentId);
    const sign = willBeOut ? -1 : 1;
    if (isOut !== willBeOut)
      this.account.add(payment, { kind: "dispute", ref: id, amount: sign * dispute.amount, feeMinor: 0 });
    this.#put("disputes", dispute, { state: to });
    this.changed({ kind: "dispute", dispute, isNew: false });
    return dispute;
  }

  disputeById(house: House, id: string): SimDispute {
    const dispute = this.state.get("disputes", id);
    if (dispute === undefined || dispute.house !== house) throw missing("dispute", id);
    return dispute;
  }

  // -- Mandates and debits --

  /** The payer approves a mandate on its page. @throws SimRefusal */
  approveMandate(checkoutId: string, method?: string): SimMandate {
    const checkout = this.#openMandate(checkoutId);
    const mandate = this.#new.mandate(checkout, "active", method);
    this.#put("checkouts", checkout, { state: "complete", mandateId: mandate.id });
    this.changed({ kind: "mandate", mandate, checkout });
    this.changed({ kind: "checkout", what: "completed", checkout });
    return mandate;
  }

  /** The payer or the bank refuses; the page is over. @throws SimRefusal */
  declineMandate(checkoutId: string, method?: string): SimMandate {
    const checkout = this.#openMandate(checkoutId);
    const mandate = this.#new.mandate(checkout, "failed", method);
    this.#put("checkouts", checkout, { state: "expired", mandateId: mandate.id });
    this.changed({ kind: "mandate", mandate, checkout });
    this.changed({ kind: "checkout", what: "expired", checkout });
    return mandate;
  }

  #openMandate(checkoutId: string): SimCheckout {
    const checkout = this.page(checkoutId);
    if (checkout === undefined || checkout.mode !== "mandate") throw missing("checkout", checkoutId);
    if (checkout.state !== "open") throw new SimRefusal("state", "The registration is over.");
    return checkout;
  }

  mandate(house: House, id: string): SimMandate {
    const mandate = this.state.get("mandates", id);
    if (mandate === undefined || mandate.house !== house) throw missing("mandate", id);
    return mandate;
  }

  /** Paused, cancelled or active again, by the merchant, the payer or the bank. @throws SimRefusal */
  moveMandate(house: House, id: string, to: SimMandate["state"]): SimMandate {
    const mandate = this.mandate(house, id);
    const checkout = this.checkout(house, mandate.checkoutId);
    if (mandate.state === to) return mandate;
    this.#put("mandates", mandate, { state: to });
    this.changed({ kind: "mandate", mandate, checkout });
    return mandate;
  }

  /** A payment that takes no money yet. @throws SimRefusal */
  prepareDebit(
    house: House,
    order: Pick<SimPayment, "mandateId" | "amount" | "currency" | "reference"> & { orderId?: string },
  ): SimPayment {
    const { customerId, method, id } = this.mandate(house, order.mandateId);
    const { orderId = "", amount, currency, reference } = order;
    return this.#new.payment({
      house,
      checkoutId: "",
      orderId,
      amount,
      currency,
      reference,
      mandateId: id,
      customerId,
      method,
      state: "prepared",
    });
  }

  /** Once for each payment; its failure is in it. @throws SimRefusal where it was confirmed before, or the mandate is over */
  confirmDebit(house: House, id: string): SimPayment {
    const payment = this.payment(house, id);
    if (payment.state !== "prepared") throw new SimRefusal("state", `The payment is ${payment.state}.`);
    const { state, cap } = this.mandate(house, payment.mandateId);
    const isRefused = state !== "active" || payment.amount > cap;
    const outcome = isRefused ? "decline_hard" : (this.nextDebits.shift() ?? "paid");
    this.#end(payment, outcome);
    return payment;
  }

  #put<C extends "checkouts" | "payments" | "refunds" | "mandates" | "disputes">(
    name: C,
    entity: Parameters<typeof this.state.put<C>>[1],
    change: Partial<Parameters<typeof this.state.put<C>>[1]>,
  ): void {
    this.state.put<C>(name, Object.assign(entity, change));
  }
}

const missing = (what: string, id: string) => new SimRefusal("missing", `There is no ${what} ${id}.`);
