/**
 * Razorpay: Indian rupees by Payment Links, mandates by registration links, debits by an Order that is paid by a recurring
 * payment. A debit's preparation is its Order; an Order of ours is paid at most once.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Amount } from "../../../base/currency.ts";
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
  orMissing,
  type Payment,
  type PaymentGateway,
  type Reading,
  type RefundOrder,
  type Settlement,
} from "../gateway.ts";
import { linesOf, pages, settlementsOf } from "./account.ts";
import { type RazorpayAccount, type RazorpayAsk, RazorpayClient } from "./client.ts";
import * as entities from "./objects.ts";
import { linkParams, registrationParams } from "./requests.ts";
import { noticesOf } from "./webhook.ts";

export interface RazorpayGatewayOptions extends RazorpayAccount {
  /** Secrets that webhooks are signed with: two while one is rotated. */
  readonly webhookSecrets: readonly string[];
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

export class RazorpayGateway implements PaymentGateway {
  readonly id = "razorpay";
  readonly mandateMethods: readonly Method[] = ["upi", "emandate", "card_domestic"];
  readonly #client: RazorpayClient;
  readonly #webhookSecrets: readonly string[];
  readonly #clock: Clock;

  constructor({ webhookSecrets, clock, timeoutMs = CALL_TIMEOUT_MS, ...account }: RazorpayGatewayOptions) {
    this.#client = new RazorpayClient(account, timeoutMs);
    this.#webhookSecrets = webhookSecrets;
    this.#clock = clock;
  }

  /** Links have no idempotency keys, but one reference has one link: it is looked for first. */
  async createCheckout(order: CheckoutOrder, call: GatewayCall): Promise<HostedPage> {
    const found = await this.#read("look for a checkout", order.reference, call, {
      answer: entities.linkList,
      run: (razorpay) => razorpay.paymentLink.all({ reference_id: order.reference } as object),
    });
    const link =
      found.payment_links.find(({ reference_id }) => reference_id === order.reference) ??
      (await this.#act("create a checkout", call, {
        answer: entities.linkEntity,
        run: (razorpay) => razorpay.paymentLink.create(linkParams(order, this.#clock.now())),
      }));
    return { ref: link.id, url: link.short_url };
  }

  async readCheckout(ref: string, call: Reading): Promise<Checkout> {
    const link = await this.#link(ref, call);
    const order = link.order_id ?? "";
    if (order !== "") return entities.checkoutOf(link, await this.#paymentsOf(order, call));
    const payments = (link.payments ?? []).map(({ payment_id }) => this.#payment(payment_id, call));
    return entities.checkoutOf(link, await Promise.all(payments));
  }

  #link(ref: string, call: Reading): Promise<entities.LinkEntity> {
    return this.#read("read a checkout", ref, call, {
      answer: entities.linkEntity,
      run: (razorpay) => razorpay.paymentLink.fetch(ref),
    });
  }

  async expireCheckout(ref: string, call: GatewayCall): Promise<void> {
    const { status } = await this.#link(ref, call);
    if (status === "expired" || status === "cancelled") return;
    await this.#act("end a checkout", call, {
      answer: entities.anything,
      mayDecline: true,
      run: (razorpay) => razorpay.paymentLink.cancel(ref),
    });
  }

  async readPayment(ref: string, call: Reading): Promise<Payment> {
    return this.#told(await this.#payment(ref, call), call);
  }

  /** With our reference: payments of orders may lack it. */
  async #told(payment: entities.PaymentEntity, call: Reading): Promise<Payment> {
    const orderId = payment.order_id ?? "";
    if (payment.notes.reference !== undefined || orderId === "") return entities.paymentOf(payment, "");
    const order = await this.#read("read an order", orderId, call, {
      answer: entities.orderEntity,
      run: (razorpay) => razorpay.orders.fetch(orderId),
    });
    return entities.paymentOf(payment, order.notes.reference ?? order.receipt ?? "");
  }

  #payment(ref: string, call: Reading): Promise<entities.PaymentEntity> {
    return this.#read("read a payment", ref, call, {
      answer: entities.paymentEntity,
      run: (razorpay) => razorpay.payments.fetch(ref),
    });
  }

  /** Payments of an order, oldest first. */
  async #paymentsOf(orderId: string, call: Reading): Promise<entities.PaymentEntity[]> {
    const { items } = await this.#read("list payments of an order", orderId, call, {
      answer: entities.listOf(entities.paymentEntity),
      run: (razorpay) => razorpay.orders.fetchPayments(orderId),
    });
    return items.reverse().sort((a, b) => a.created_at - b.created_at);
  }

  async capture(ref: string, total: Amount, call: GatewayCall): Promise<Payment> {
    const before = await this.#payment(ref, call);
    if (before.status === "captured" || before.status === "refunded") return this.#told(before, call);
    const captured = await this.#act("capture a payment", call, {
      answer: entities.paymentEntity,
      mayDecline: true,
      run: (razorpay) => razorpay.payments.capture(ref, total.minor, total.currency),
    });
    return this.#told(captured, call);
  }

  async refund({ reference, paymentRef, total }: RefundOrder, call: GatewayCall): Promise<GatewayRefund> {
    const refund = await this.#act("refund a payment", call, {
      answer: entities.refundEntity,
      mayDecline: true,
      // Razorpay wants ten characters at least.
      headers: { "X-Refund-Idempotency": call.idempotencyKey.padEnd(10, "-") },
      run: (razorpay) =>
        razorpay.payments.refund(paymentRef, {
          amount: total.minor,
          speed: "normal",
          receipt: reference,
          notes: { reference },
        }),
    });
    return entities.refundOf(refund);
  }

  async refundsOf(paymentRef: string, call: Reading): Promise<readonly GatewayRefund[]> {
    assertId(paymentRef, "list refunds");
    const refunds: GatewayRefund[] = [];
    const all = pages(this.#client, "list refunds", entities.refundEntity, call, (razorpay, page) =>
      razorpay.payments.fetchMultipleRefund(paymentRef, page),
    );
    for await (const refund of all) refunds.push(entities.refundOf(refund));
    return refunds.reverse();
  }

  async readRefund(ref: string, call: Reading): Promise<GatewayRefund> {
    const refund = await this.#read("read a refund", ref, call, {
      answer: entities.refundEntity,
      run: (razorpay) => razorpay.refunds.fetch(ref),
    });
    return entities.refundOf(refund);
  }

  async readDispute(ref: string, call: Reading): Promise<Dispute> {
    const dispute = await this.#read("read a dispute", ref, call, {
      answer: entities.disputeEntity,
      run: (razorpay) => razorpay.disputes.fetch(ref),
    });
    return entities.disputeOf(dispute);
  }

  /** A link has no idempotency key: one of the same receipt is looked for first. */
  async registerMandate(order: MandateOrder, call: GatewayCall): Promise<HostedPage> {
    const found = await this.#read("look for a mandate", order.reference, call, {
      answer: entities.listOf(entities.invoiceEntity),
      run: (razorpay) => razorpay.invoices.all({ receipt: order.reference }),
    });
    const link =
      found.items.find(({ receipt }) => receipt === order.reference) ??
      (await this.#act("register a mandate", call, {
        answer: entities.invoiceEntity,
        run: (razorpay) =>
          razorpay.subscriptions.createRegistrationLink(registrationParams(order, this.#clock.now())),
      }));
    if (link.short_url) return { ref: link.id, url: link.short_url };
    throw new GatewayError("unclear", "razorpay: the registration has no page");
  }

  async readMandate(ref: string, call: Reading): Promise<GatewayMandate> {
    const invoice = await this.#read("read a mandate", ref, call, {
      answer: entities.invoiceEntity,
      run: (razorpay) => razorpay.invoices.fetch(ref),
    });
    if (!invoice.payment_id) return entities.mandateOf(invoice, "", undefined);
    const payment = await this.#payment(invoice.payment_id, call);
    const customer = payment.customer_id ?? invoice.customer_id ?? "";
    const tokenId = payment.token_id ?? "";
    if (customer === "" || tokenId === "") return entities.mandateOf(invoice, "", undefined);
    const token = await this.#token(customer, tokenId, call);
    return entities.mandateOf(invoice, `${customer}/${tokenId}`, token);
  }

  async #token(customer: string, tokenId: string, call: Reading): Promise<entities.TokenEntity | "gone"> {
    const read = this.#read("read a token", tokenId, call, {
      answer: entities.tokenEntity,
      run: (razorpay) => razorpay.customers.fetchToken(customer, tokenId),
    });
    return (await orMissing(read)) ?? "gone";
  }

  async cancelMandate(mandate: Pick<GatewayMandate, "ref" | "tokenRef">, call: GatewayCall): Promise<void> {
    const { state, tokenRef } = await this.readMandate(mandate.ref, call);
    if (state === "cancelled" || state === "failed") return;
    const [customer = "", tokenId = ""] = tokenRef.split("/");
    await this.#act("cancel a mandate", call, {
      answer: entities.anything,
      run: (razorpay) =>
        tokenRef === ""
          ? razorpay.invoices.cancel(mandate.ref)
          : razorpay.customers.deleteToken(customer, tokenId),
    });
  }

  /** Orders have no idempotency keys: one with the same key in its notes is looked for first. */
  async prepareDebit({ reference, total }: DebitOrder, call: GatewayCall): Promise<string> {
    const key = call.idempotencyKey;
    const found = await this.#read("look for an order", reference, call, {
      answer: entities.listOf(entities.orderEntity),
      run: (razorpay) => razorpay.orders.all({ receipt: reference, count: entities.MAX_PAGE }),
    });
    const before = found.items.find(({ notes }) => notes.key === key);
    if (before !== undefined) return before.id;
    const order = await this.#act("prepare a debit", call, {
      answer: entities.orderEntity,
      run: (razorpay) =>
        razorpay.orders.create({
          amount: total.minor,
          currency: total.currency,
          receipt: reference,
          payment_capture: true,
          notes: { reference, key },
        }),
    });
    return order.id;
  }

  /** @throws GatewayError `declined`, also where it was declined before */
  async confirmDebit(preparedRef: string, order: DebitOrder, call: GatewayCall): Promise<Payment> {
    const before = await this.readDebit(preparedRef, call);
    if (before !== undefined) return debited(this.id, before);
    const [customer = "", token = ""] = order.mandate.tokenRef.split("/");
    const { total, payer, reference, description } = order;
    const made = await this.#act("confirm a debit", call, {
      answer: entities.madePayment,
      run: (razorpay) =>
        razorpay.payments.createRecurringPayment({
          email: payer.email,
          contact: "",
          amount: total.minor,
          currency: total.currency,
          order_id: preparedRef,
          customer_id: customer,
          token,
          recurring: "1",
          description,
          notes: { reference },
        }),
    });
    return debited(this.id, await this.readPayment(made.razorpay_payment_id, call));
  }

  async readDebit(preparedRef: string, call: Reading): Promise<Payment | undefined> {
    const payments = await this.#paymentsOf(preparedRef, call);
    const last = payments.find(({ status }) => status !== "failed") ?? payments.at(-1);
    return last === undefined ? undefined : this.#told(last, call);
  }

  readWebhook(bytes: Buffer, header: (name: string) => string): readonly Notice[] {
    return noticesOf(bytes, header, this.#webhookSecrets);
  }

  linesOf(day: Day, call: Reading): AsyncIterable<DayLine> {
    return linesOf(this.#client, day, call);
  }

  settlementsOf(day: Day, call: Reading): AsyncIterable<Settlement> {
    return settlementsOf(this.#client, day, call);
  }

  async #read<T>(
    what: string,
    ref: string,
    { signal }: Reading,
    ask: Pick<RazorpayAsk<T>, "answer" | "run">,
  ): Promise<T> {
    assertId(ref, what);
    return this.#client.ask({ what, hasEffect: false, call: { signal }, ...ask });
  }

  #act<T>(
    what: string,
    { signal }: Reading,
    ask: Pick<RazorpayAsk<T>, "answer" | "run" | "headers" | "mayDecline">,
  ): Promise<T> {
    return this.#client.ask({ what, hasEffect: true, call: { signal }, ...ask });
  }
}

/** The library puts ids into paths as they are. @throws GatewayError `missing` */
function assertId(ref: string, what: string): void {
  if (!/^\w{1,200}$/.test(ref)) throw new GatewayError("missing", `razorpay: ${what}: no such id`);
}
