/**
 * Stripe: US dollars by Checkout Sessions, saved methods by Sessions of mode `setup`, debits by PaymentIntents that are
 * created and confirmed in two calls. A payment's id is that of its PaymentIntent; a debit's preparation has the same.
 */

import type Stripe from "stripe";
import type { Clock } from "../../../base/clock.ts";
import type { Amount } from "../../../base/currency.ts";
import { MINUTE_MS } from "../../../base/time.ts";
import { CALL_TIMEOUT_MS, debited } from "../failure.ts";
import {
  type Checkout,
  type CheckoutOrder,
  type Day,
  type DayLine,
  type DebitOrder,
  type Dispute,
  type GatewayCall,
  GatewayError,
  type GatewayMandate,
  type GatewayRefund,
  type HostedPage,
  type MandateOrder,
  type Method,
  type Notice,
  type Payment,
  type PaymentGateway,
  type Reading,
  type RefundOrder,
  type Settlement,
} from "../gateway.ts";
import { linesOf, pages, settlementsOf } from "./account.ts";
import { type StripeAccount, type StripeAsk, StripeClient } from "./client.ts";
import { amountOf, checkoutOf, disputeOf, idOf, mandateOf, paymentOf, refundOf, typeOf } from "./objects.ts";
import { noticesOf } from "./webhook.ts";

/** Stripe ends sessions 30 minutes to a day after they began; an earlier end is asked for by `expireCheckout`. */
const SHORTEST_MS = 30 * MINUTE_MS;
/** On the end of an order: it takes a moment to reach Stripe. */
const MARGIN_MS = MINUTE_MS;
/** Ends that are chosen later are multiples of this, so that most repetitions choose the same. */
const LATE_STEP_MS = 10 * MINUTE_MS;
const LONGEST_MS = 24 * 60 * MINUTE_MS - MINUTE_MS;
const PAYMENT = ["latest_charge.balance_transaction"];
const SESSION = ["payment_intent.latest_charge.balance_transaction"];
const SETUP = ["setup_intent.payment_method"];
/** Fraud warnings are read as disputes of which nothing was withdrawn. */
const WARNING = "issfr_";

export interface StripeGatewayOptions extends StripeAccount {
  /** Secrets that webhooks are signed with: two while one is rotated. */
  readonly webhookSecrets: readonly string[];
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

export class StripeGateway implements PaymentGateway {
  readonly id = "stripe";
  readonly mandateMethods: readonly Method[] = ["card", "link", "ach_debit"];
  readonly #client: StripeClient;
  readonly #webhookSecrets: readonly string[];
  readonly #clock: Clock;

  constructor({ webhookSecrets, clock, timeoutMs = CALL_TIMEOUT_MS, ...account }: StripeGatewayOptions) {
    this.#client = new StripeClient(account, timeoutMs);
    this.#webhookSecrets = webhookSecrets;
    this.#clock = clock;
  }

  /**
   * The end is that of the order, whenever it is asked for: with another one under the same key Stripe would refuse the repetition.
   * One that comes so late that the end is too soon, and whose page was never made, gets a later end under a key of its own.
   */
  async createCheckout(order: CheckoutOrder, call: GatewayCall): Promise<HostedPage> {
    const nowMs = this.#clock.now();
    const endMs = Math.min(order.expiresAtMs + MARGIN_MS, nowMs + LONGEST_MS);
    try {
      return await this.#createSession(order, endMs, call);
    } catch (error) {
      const isTooSoon = endMs < nowMs + SHORTEST_MS + MARGIN_MS;
      if (!(error instanceof GatewayError && error.kind === "refused" && isTooSoon)) throw error;
    }
    const lateMs = Math.ceil((nowMs + SHORTEST_MS + MARGIN_MS) / LATE_STEP_MS) * LATE_STEP_MS;
    return await this.#createSession(order, lateMs, {
      ...call,
      idempotencyKey: `${call.idempotencyKey}_${lateMs / LATE_STEP_MS}`,
    });
  }

  async #createSession(order: CheckoutOrder, endMs: number, call: GatewayCall): Promise<HostedPage> {
    const params = sessionParams(order, endMs);
    const session = await this.#act("create a checkout", call, (stripe, once) =>
      stripe.checkout.sessions.create(params, once),
    );
    return pageOf(session);
  }

  async readCheckout(ref: string, call: Reading): Promise<Checkout> {
    const session = await this.#read("read a checkout", ref, call, (stripe) =>
      stripe.checkout.sessions.retrieve(ref, { expand: SESSION }),
    );
    return checkoutOf(session);
  }

  async expireCheckout(ref: string, call: GatewayCall): Promise<void> {
    const before = await this.readCheckout(ref, call);
    if (before.state === "expired") return;
    await this.#act(
      "end a checkout",
      call,
      (stripe, once) => stripe.checkout.sessions.expire(ref, {}, once),
      () => true,
    );
  }

  async readPayment(ref: string, call: Reading): Promise<Payment> {
    return paymentOf(await this.#intent(ref, call));
  }

  async capture(ref: string, total: Amount, call: GatewayCall): Promise<Payment> {
    const before = await this.#intent(ref, call);
    if (before.status === "succeeded") return paymentOf(before);
    const captured = await this.#act("capture a payment", call, (stripe, once) =>
      stripe.paymentIntents.capture(ref, { amount_to_capture: total.minor, expand: PAYMENT }, once),
    );
    return paymentOf(captured);
  }

  async refund({ reference, paymentRef, total }: RefundOrder, call: GatewayCall): Promise<GatewayRefund> {
    const params = { payment_intent: paymentRef, amount: total.minor, metadata: { reference } };
    const refund = await this.#act(
      "refund a payment",
      call,
      (stripe, once) => stripe.refunds.create(params, once),
      ({ code = "", param = "" }) => param === "amount" || code.startsWith("charge_"),
    );
    return refundOf(refund);
  }

  async refundsOf(paymentRef: string, call: Reading): Promise<readonly GatewayRefund[]> {
    assertId(paymentRef, "list refunds");
    const refunds: GatewayRefund[] = [];
    const all = pages(this.#client, "list refunds", call, (stripe, page) =>
      stripe.refunds.list({ payment_intent: paymentRef, ...page }),
    );
    for await (const refund of all) refunds.push(refundOf(refund));
    return refunds.reverse();
  }

  async readRefund(ref: string, call: Reading): Promise<GatewayRefund> {
    return refundOf(await this.#read("read a refund", ref, call, (stripe) => stripe.refunds.retrieve(ref)));
  }

  async readDispute(ref: string, call: Reading): Promise<Dispute> {
    if (ref.startsWith(WARNING)) return this.#readWarning(ref, call);
    return disputeOf(
      await this.#read("read a dispute", ref, call, (stripe) => stripe.disputes.retrieve(ref)),
    );
  }

  async #readWarning(ref: string, call: Reading): Promise<Dispute> {
    const warning = await this.#read("read a fraud warning", ref, call, (stripe) =>
      stripe.radar.earlyFraudWarnings.retrieve(ref, { expand: ["charge"] }),
    );
    const { charge, fraud_type: reason } = warning;
    if (typeof charge === "string")
      throw new GatewayError("refused", "stripe: a fraud warning has no charge");
    const paymentRef = idOf(charge.payment_intent);
    return { ref, paymentRef, amount: amountOf(charge.amount, charge.currency), state: "warning", reason };
  }

  /** Two calls: the customer, then the page. Both have the same key, made different. */
  async registerMandate(order: MandateOrder, call: GatewayCall): Promise<HostedPage> {
    const { reference, payer, method, cap, returnUrl } = order;
    const metadata = { reference, org_id: payer.orgId, cap_minor: String(cap.minor) };
    const first = { ...call, idempotencyKey: `${call.idempotencyKey}-customer` };
    const customer = await this.#act("create a customer", first, (stripe, once) =>
      stripe.customers.create(
        {
          name: payer.name,
          ...(payer.email !== "" && { email: payer.email }),
          metadata: { org_id: payer.orgId },
        },
        once,
      ),
    );
    const session = await this.#act("register a mandate", call, (stripe, once) =>
      stripe.checkout.sessions.create(
        {
          mode: "setup",
          currency: cap.currency.toLowerCase(),
          customer: customer.id,
          metadata,
          client_reference_id: reference,
          ...takesOnly(method),
          setup_intent_data: { metadata },
          success_url: returnUrl,
          cancel_url: returnUrl,
        },
        once,
      ),
    );
    return pageOf(session);
  }

  async readMandate(ref: string, call: Reading): Promise<GatewayMandate> {
    const session = await this.#read("read a mandate", ref, call, (stripe) =>
      stripe.checkout.sessions.retrieve(ref, { expand: SETUP }),
    );
    return mandateOf(session);
  }

  async cancelMandate(mandate: Pick<GatewayMandate, "ref" | "tokenRef">, call: GatewayCall): Promise<void> {
    const { ref, tokenRef } = mandate;
    const { state } = await this.readMandate(ref, call);
    if (state === "cancelled" || state === "failed") return;
    if (tokenRef === "") return this.expireCheckout(ref, call);
    const { method } = tokenParts(tokenRef);
    await this.#act("cancel a mandate", call, (stripe, once) =>
      stripe.paymentMethods.detach(method, {}, once),
    );
  }

  async prepareDebit(order: DebitOrder, call: GatewayCall): Promise<string> {
    const { reference, payer, mandate, total, description } = order;
    const { customer, method } = tokenParts(mandate.tokenRef);
    const { id } = await this.#act("prepare a debit", call, (stripe, once) =>
      stripe.paymentIntents.create(
        {
          amount: total.minor,
          currency: total.currency.toLowerCase(),
          description,
          customer,
          payment_method: method,
          ...takesOnly(mandate.method),
          metadata: { reference, org_id: payer.orgId },
        },
        once,
      ),
    );
    return id;
  }

  /** @throws GatewayError `declined`, also where it was declined before */
  async confirmDebit(preparedRef: string, _order: DebitOrder, call: GatewayCall): Promise<Payment> {
    const before = await this.#intent(preparedRef, call);
    if (before.status !== "requires_confirmation") return debited(this.id, paymentOf(before));
    const confirmed = await this.#act("confirm a debit", call, (stripe, once) =>
      stripe.paymentIntents.confirm(preparedRef, { off_session: true, expand: PAYMENT }, once),
    );
    return debited(this.id, paymentOf(confirmed));
  }

  async readDebit(preparedRef: string, call: Reading): Promise<Payment | undefined> {
    const intent = await this.#intent(preparedRef, call);
    return intent.status === "requires_confirmation" ? undefined : paymentOf(intent);
  }

  readWebhook(bytes: Buffer, header: (name: string) => string, nowMs: number): readonly Notice[] {
    return noticesOf(bytes, header("stripe-signature"), this.#webhookSecrets, nowMs);
  }

  linesOf(day: Day, call: Reading): AsyncIterable<DayLine> {
    return linesOf(this.#client, day, call);
  }

  settlementsOf(day: Day, call: Reading): AsyncIterable<Settlement> {
    return settlementsOf(this.#client, day, call);
  }

  #intent(ref: string, call: Reading): Promise<Stripe.PaymentIntent> {
    return this.#read("read a payment", ref, call, (stripe) =>
      stripe.paymentIntents.retrieve(ref, { expand: PAYMENT }),
    );
  }

  #read<T>(what: string, ref: string, { signal }: Reading, run: StripeAsk<T>["run"]): Promise<T> {
    assertId(ref, what);
    return this.#client.ask({ what, hasEffect: false, call: { signal }, run });
  }

  /** @param run gets the options by which Stripe does it once, however often it is asked */
  #act<T>(
    what: string,
    { signal, idempotencyKey }: GatewayCall,
    run: (stripe: Stripe, once: Stripe.RequestOptions) => Promise<T>,
    isDecline?: StripeAsk<T>["isDecline"],
  ): Promise<T> {
    return this.#client.ask({
      what,
      hasEffect: true,
      call: { signal },
      run: (stripe) => run(stripe, { idempotencyKey }),
      ...(isDecline !== undefined && { isDecline }),
    });
  }
}

/** What cannot be an id never reaches a path. @throws GatewayError `missing` */
function assertId(ref: string, what: string): void {
  if (!/^\w{1,255}$/.test(ref)) throw new GatewayError("missing", `stripe: ${what}: no such id`);
}

function sessionParams(order: CheckoutOrder, endMs: number): Stripe.Checkout.SessionCreateParams {
  const { reference, payer, total, description, returnUrl, methods } = order;
  const metadata = { reference, org_id: payer.orgId };
  const price = {
    currency: total.currency.toLowerCase(),
    unit_amount: total.minor,
    product_data: { name: description },
  };
  return {
    mode: "payment",
    client_reference_id: reference,
    metadata,
    // Empty, Stripe would refuse it.
    ...(payer.email !== "" && { customer_email: payer.email }),
    line_items: [{ quantity: 1, price_data: price }],
    payment_intent_data: { metadata, description },
    ...(methods.length > 0 && { payment_method_types: methods.map(typeOf) }),
    success_url: returnUrl,
    cancel_url: returnUrl,
    expires_at: Math.ceil(endMs / 1000),
  };
}

/** The SDK's types lack the member where an account's own choice of methods is usual; Stripe takes it. */
const takesOnly = (method: Method | "") => ({ payment_method_types: [typeOf(method)] });

function pageOf({ id, url }: Stripe.Checkout.Session): HostedPage {
  if (url === null) throw new GatewayError("unclear", "stripe: the checkout has no page");
  return { ref: id, url };
}

/** `cus_…/pm_…`. @throws GatewayError `refused` */
function tokenParts(tokenRef: string): { readonly customer: string; readonly method: string } {
  const [customer = "", method = ""] = tokenRef.split("/");
  if (customer === "" || method === "")
    throw new GatewayError("refused", "stripe: the mandate is not registered");
  return { customer, method };
}
