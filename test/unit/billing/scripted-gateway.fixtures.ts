/** A payment gateway by script: it does what a test says, and remembers what it did over deaths of the process. */
import {
  type DebitOrder,
  type Failure,
  type GatewayCall,
  GatewayError,
  type GatewayMandate,
  type MandateOrder,
  type Payment,
  type PaymentGateway,
} from "../../../src/billing/payments/gateway.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How the next confirmation goes; then everything is paid. */
export type ConfirmStep =
  | "paid"
  | "processing"
  | "hard"
  | "soft"
  | "opt_out"
  | "busy"
  /** The answer is lost; the money is taken, is not, or is taken ten minutes later. */
  | "unclear_paid"
  | "unclear_none"
  | "unclear_late"
  | "wrong_amount";
export type PrepareStep = "busy" | "unclear" | "declined" | "refused";

interface Debited {
  readonly ref: string;
  readonly order: DebitOrder;
  /** Undefined: never confirmed. */
  payment: Payment | undefined;
  /** When it ends as paid, where it is under way. */
  paysAtMs: number;
  /** The payment gateway itself does not know of it before. */
  isLate: boolean;
}

const failure = (kind: Failure["kind"]): Failure => ({ code: kind, message: `It is ${kind}.`, kind });

export class ScriptedGateway {
  readonly id = "simulated";
  readonly mandateMethods = ["upi", "emandate", "card_domestic", "card"] as const;
  /** By org, first one first. */
  readonly #confirms = new Map<string, ConfirmStep[]>();
  readonly #prepares = new Map<string, PrepareStep[]>();
  readonly debits: Debited[] = [];
  readonly calls: string[] = [];
  readonly mandates = new Map<string, GatewayMandate>();
  /** What must never be: told by the tests. */
  readonly wrongs: string[] = [];
  readonly #now: () => number;
  readonly #byKey = new Map<string, string>();
  /** Called before and after each effect: a test may let the process die there. */
  around: () => void = () => {};
  /** Nothing can be read of mandates. */
  isAway = false;

  /** So many of the next registrations fail, and those with the same key after them. */
  failRegistrations = 0;
  readonly #failedKeys = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get port(): PaymentGateway {
    return this as unknown as PaymentGateway;
  }

  confirmWith(orgId: string, ...steps: ConfirmStep[]): void {
    this.#confirms.set(orgId, steps);
  }

  prepareWith(orgId: string, ...steps: PrepareStep[]): void {
    this.#prepares.set(orgId, steps);
  }

  async registerMandate(order: MandateOrder, { idempotencyKey }: GatewayCall) {
    this.calls.push("registerMandate");
    if (this.failRegistrations-- > 0) this.#failedKeys.add(idempotencyKey);
    if (this.#failedKeys.has(idempotencyKey)) throw new GatewayError("unclear", "status 500");
    const ref = `reg_${order.reference}`;
    if (!this.mandates.has(ref)) {
      const { reference, method, cap } = order;
      this.mandates.set(ref, {
        ref,
        tokenRef: "",
        reference,
        state: "pending",
        isSubmitted: false,
        method,
        cap,
      });
    }
    return { ref, url: `http://127.0.0.1/pay/${ref}` };
  }

  async readMandate(ref: string): Promise<GatewayMandate> {
    if (this.isAway) throw new GatewayError("busy", "It is away.");
    const found = this.mandates.get(ref);
    if (found === undefined) throw new GatewayError("missing", "no such mandate");
    return found;
  }

  async cancelMandate({ ref }: Pick<GatewayMandate, "ref">): Promise<void> {
    this.calls.push("cancelMandate");
    this.move(ref, "cancelled");
  }

  /** What the payer or the bank does. */
  move(ref: string, state: GatewayMandate["state"]): void {
    const found = this.mandates.get(ref) as GatewayMandate;
    this.mandates.set(ref, { ...found, state, tokenRef: state === "pending" ? "" : `tok_${ref}` });
  }

  async prepareDebit(order: DebitOrder, { idempotencyKey }: GatewayCall): Promise<string> {
    this.calls.push("prepareDebit");
    this.around();
    const step = this.#prepares.get(order.payer.orgId)?.shift();
    if (step === "busy") throw new GatewayError("busy", "later", { retryAfterMs: 5_000 });
    if (step === "declined") throw new GatewayError("declined", "no", { failure: failure("hard") });
    if (step === "refused") throw new GatewayError("refused", "bad key");
    const before = this.#byKey.get(idempotencyKey);
    const ref = before ?? `deb_${this.debits.length}`;
    if (before === undefined) {
      this.#byKey.set(idempotencyKey, ref);
      this.debits.push({ ref, order, payment: undefined, paysAtMs: Number.POSITIVE_INFINITY, isLate: false });
    }
    this.around();
    if (step === "unclear") throw new GatewayError("unclear", "no answer");
    return ref;
  }

  async confirmDebit(ref: string): Promise<Payment> {
    this.calls.push("confirmDebit");
    this.around();
    const debit = this.#debit(ref);
    const steps = this.#confirms.get(debit.order.payer.orgId) ?? [];
    if (debit.payment === undefined) this.#take(debit, steps.shift() ?? "paid");
    this.around();
    const payment = this.#shown(debit);
    if (payment === undefined) throw new GatewayError("busy", "a request of this debit is under way");
    if (payment.failure !== null) throw new GatewayError("declined", "no", { failure: payment.failure });
    return payment;
  }

  async readDebit(ref: string): Promise<Payment | undefined> {
    return this.#shown(this.#debit(ref));
  }

  /** How much of an org's money was taken. */
  taken(orgId: string): number {
    return this.paid(orgId).reduce((sum, { payment }) => sum + (payment?.total.minor ?? 0), 0);
  }

  paid(orgId: string): Debited[] {
    return this.debits.filter(
      (debit) => debit.order.payer.orgId === orgId && this.#read(debit)?.state === "paid",
    );
  }

  #debit(ref: string): Debited {
    const debit = this.debits.find((one) => one.ref === ref);
    if (debit === undefined) throw new GatewayError("missing", "no such debit");
    return debit;
  }

  #take(debit: Debited, step: ConfirmStep): void {
    if (step === "busy") throw new GatewayError("busy", "later");
    if (step === "unclear_none") throw new GatewayError("unclear", "no answer");
    this.#assertAlone(debit);
    const { reference, total, mandate } = debit.order;
    const kind = step === "hard" || step === "soft" || step === "opt_out" ? step : undefined;
    debit.payment = {
      ref: `pay_${debit.ref}`,
      reference,
      total,
      feeMinor: 7,
      method: mandate.method,
      refundedMinor: 0,
      state: kind === undefined ? "processing" : "failed",
      paidAtMs: null,
      failure: kind === undefined ? null : failure(kind),
    };
    if (kind !== undefined) return;
    debit.paysAtMs = this.#now();
    if (step === "processing") debit.paysAtMs += 2 * HOUR;
    debit.isLate = step === "unclear_late";
    if (debit.isLate) debit.paysAtMs += 10 * MINUTE;
    if (step === "wrong_amount")
      debit.payment = { ...debit.payment, total: { ...total, minor: total.minor - 1 } };
    if (step === "unclear_paid" || step === "unclear_late") throw new GatewayError("unclear", "no answer");
  }

  #assertAlone(debit: Debited): void {
    const { orgId } = debit.order.payer;
    for (const other of this.debits) {
      if (other === debit || other.order.payer.orgId !== orgId) continue;
      if (this.#read(other)?.state === "processing")
        this.wrongs.push(`${other.ref} was under way with ${debit.ref}`);
    }
  }

  #shown(debit: Debited): Payment | undefined {
    return debit.isLate && this.#now() < debit.paysAtMs ? undefined : this.#read(debit);
  }

  #read(debit: Debited): Payment | undefined {
    const { payment, paysAtMs } = debit;
    if (payment === undefined || payment.state !== "processing" || this.#now() < paysAtMs) return payment;
    debit.payment = { ...payment, state: "paid", paidAtMs: paysAtMs };
    return debit.payment;
  }
}
