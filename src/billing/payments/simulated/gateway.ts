/** The `simulated` payment gateway: a service of the simulator on loopback, in both currencies. No money moves. */
import type { z } from "zod";
import { fail } from "../../../base/errors.ts";
import { CALL_TIMEOUT_MS, debited } from "../failure.ts";
import type {
  Checkout,
  CheckoutOrder,
  Day,
  DayLine,
  DebitOrder,
  Dispute,
  GatewayCall,
  GatewayMandate,
  GatewayRefund,
  HostedPage,
  MandateOrder,
  Method,
  Notice,
  Payment,
  PaymentGateway,
  Reading,
  RefundOrder,
  Settlement,
} from "../gateway.ts";
import { checkTimedSignature, webhookJson } from "../timed-signature.ts";
import { type Send, SimulatedClient, type SimulatedService } from "./client.ts";
import * as answers from "./schema.ts";

export interface SimulatedGatewayOptions {
  /** Starts it, if it does not run yet. */
  readonly service: () => Promise<SimulatedService>;
  readonly timeoutMs?: number;
  /** For a service in the same process. */
  readonly send?: Send;
}

export class SimulatedGateway implements PaymentGateway {
  readonly id = "simulated";
  readonly mandateMethods: readonly Method[] = [
    "upi",
    "emandate",
    "card_domestic",
    "card",
    "link",
    "ach_debit",
  ];
  readonly #client: SimulatedClient;
  readonly #service: () => Promise<SimulatedService>;
  /** The webhook secret of the service that was reached last: webhooks come only from one that runs. */
  #secret: string | undefined;

  constructor({ service, timeoutMs = CALL_TIMEOUT_MS, send }: SimulatedGatewayOptions) {
    this.#service = service;
    this.#client = new SimulatedClient(() => this.reach(), timeoutMs, send);
  }

  /** Learns the secret of webhooks of a service that runs already. */
  async reach(): Promise<SimulatedService> {
    const found = await this.#service();
    this.#secret = found.webhookSecret;
    return found;
  }

  createCheckout(order: CheckoutOrder, call: GatewayCall): Promise<HostedPage> {
    return this.#post("create a checkout", "/checkouts", order, answers.pageAnswer, call);
  }

  async readCheckout(ref: string, call: Reading): Promise<Checkout> {
    const path = `/checkouts/${encodeURIComponent(ref)}`;
    const checkout = await this.#get("read a checkout", path, answers.checkoutAnswer, call);
    return { ...checkout, payments: checkout.payments.map(paymentOf) };
  }

  async expireCheckout(ref: string, call: GatewayCall): Promise<void> {
    const path = `/checkouts/${encodeURIComponent(ref)}/expire`;
    await this.#post("end a checkout", path, {}, answers.anyAnswer, { ...call, mayDecline: true });
  }

  async readPayment(ref: string, call: Reading): Promise<Payment> {
    const path = `/payments/${encodeURIComponent(ref)}`;
    return paymentOf(await this.#get("read a payment", path, answers.paymentAnswer, call));
  }

  async capture(ref: string, total: Payment["total"], call: GatewayCall): Promise<Payment> {
    const path = `/payments/${encodeURIComponent(ref)}/capture`;
    try {
      const body = { total };
      return paymentOf(
        await this.#post("capture a payment", path, body, answers.paymentAnswer, {
          ...call,
          mayDecline: true,
        }),
      );
    } catch (error) {
      // It was captured before.
      const payment = await this.readPayment(ref, call).catch(() => undefined);
      if (payment?.state === "paid" && payment.total.minor === total.minor) return payment;
      throw error;
    }
  }

  refund(order: RefundOrder, call: GatewayCall): Promise<GatewayRefund> {
    return this.#post("refund a payment", "/refunds", order, answers.refundAnswer, {
      ...call,
      mayDecline: true,
    });
  }

  async refundsOf(paymentRef: string, call: Reading): Promise<readonly GatewayRefund[]> {
    const path = `/payments/${encodeURIComponent(paymentRef)}/refunds`;
    return (await this.#get("list refunds", path, answers.refundsAnswer, call)).data;
  }

  readRefund(ref: string, call: Reading): Promise<GatewayRefund> {
    return this.#get("read a refund", `/refunds/${encodeURIComponent(ref)}`, answers.refundAnswer, call);
  }

  readDispute(ref: string, call: Reading): Promise<Dispute> {
    return this.#get("read a dispute", `/disputes/${encodeURIComponent(ref)}`, answers.disputeAnswer, call);
  }

  registerMandate(order: MandateOrder, call: GatewayCall): Promise<HostedPage> {
    return this.#post("register a mandate", "/mandates", order, answers.pageAnswer, call);
  }

  readMandate(ref: string, call: Reading): Promise<GatewayMandate> {
    return this.#get("read a mandate", `/mandates/${encodeURIComponent(ref)}`, answers.mandateAnswer, call);
  }

  async cancelMandate({ ref }: Pick<GatewayMandate, "ref" | "tokenRef">, call: GatewayCall): Promise<void> {
    await this.#post(
      "cancel a mandate",
      `/mandates/${encodeURIComponent(ref)}/cancel`,
      {},
      answers.anyAnswer,
      call,
    );
  }

  async prepareDebit({ reference, mandate, total }: DebitOrder, call: GatewayCall): Promise<string> {
    const body = { reference, tokenRef: mandate.tokenRef, total };
    return (await this.#post("prepare a debit", "/debits", body, answers.refAnswer, call)).ref;
  }

  /** @throws GatewayError `declined` */
  async confirmDebit(preparedRef: string, _order: DebitOrder, call: GatewayCall): Promise<Payment> {
    const path = `/debits/${encodeURIComponent(preparedRef)}/confirm`;
    const payment = await this.#post("confirm a debit", path, {}, answers.paymentAnswer, call);
    return debited(this.id, paymentOf(payment));
  }

  async readDebit(preparedRef: string, call: Reading): Promise<Payment | undefined> {
    const path = `/payments/${encodeURIComponent(preparedRef)}`;
    const payment = await this.#get("read a debit", path, answers.paymentAnswer, call);
    return payment.state === "prepared" ? undefined : paymentOf(payment);
  }

  readWebhook(bytes: Buffer, header: (name: string) => string, nowMs: number): readonly Notice[] {
    const secrets = this.#secret === undefined ? [] : [this.#secret];
    checkTimedSignature(bytes, header("weir-payments-signature"), secrets, nowMs);
    const body = answers.webhookBody.safeParse(webhookJson(bytes));
    if (!body.success) throw fail("invalid_value", "The webhook's body is not valid.");
    const { id, kind, ref, reference } = body.data;
    return [{ eventId: id, subject: subjectOf(kind, ref, reference) }];
  }

  linesOf(day: Day, call: Reading): AsyncIterable<DayLine> {
    return this.#pages("list a day's lines", `/lines?${dayQuery(day)}`, answers.linesAnswer, call);
  }

  settlementsOf(day: Day, call: Reading): AsyncIterable<Settlement> {
    return this.#pages("list settlements", `/settlements?${dayQuery(day)}`, answers.settlementsAnswer, call);
  }

  /** All members of a list, page by page. */
  async *#pages<T>(
    what: string,
    path: string,
    answer: z.ZodType<{ readonly next: number | null; readonly data: readonly T[] }>,
    call: Reading,
  ): AsyncGenerator<T> {
    for (let skip: number | null = 0; skip !== null; ) {
      const page: z.output<typeof answer> = await this.#get(what, `${path}&skip=${skip}`, answer, call);
      yield* page.data;
      skip = page.next;
    }
  }

  #get<T>(what: string, path: string, answer: z.ZodType<T>, call: Reading): Promise<T> {
    return this.#client.ask({ what, method: "GET", path, answer, call: { signal: call.signal } });
  }

  #post<T>(
    what: string,
    path: string,
    body: unknown,
    answer: z.ZodType<T>,
    { mayDecline = false, ...call }: GatewayCall & { readonly mayDecline?: boolean },
  ): Promise<T> {
    return this.#client.ask({ what, method: "POST", path, body, answer, call, mayDecline });
  }
}

const dayQuery = ({ fromMs, toMs }: Day): string => `from_ms=${fromMs}&to_ms=${toMs}`;

/** A debit that nobody confirmed is read by `readDebit`. */
const paymentOf = (payment: z.output<typeof answers.paymentAnswer>): Payment => ({
  ...payment,
  state: payment.state === "prepared" ? "processing" : payment.state,
});

const KINDS = ["checkout", "payment", "refund", "dispute", "mandate"] as const;

function subjectOf(word: string, ref: string, reference: string): Notice["subject"] {
  const kind = KINDS.find((known) => known === word);
  return kind === undefined || ref === "" ? { kind: "none" } : { kind, ref, reference };
}
