/**
 * What the simulated payment services know: entities by id. Each change is one line of a file, where one is named, so that
 * a restarted process still knows its payments; a line that a crash cut off is dropped at the next start.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Random } from "../../src/base/clock.ts";

/** The services that are simulated; each sees only its own entities. */
export type House = "stripe" | "razorpay" | "simulated";

export interface SimFailure {
  readonly code: string;
  readonly message: string;
  readonly kind: "hard" | "soft" | "opt_out";
}

interface Entity {
  readonly id: string;
  readonly house: House;
  readonly createdAtMs: number;
}

/** A hosted page. */
export interface SimCheckout extends Entity {
  readonly mode: "payment" | "mandate";
  readonly reference: string;
  readonly amount: number;
  /** Upper case. */
  readonly currency: string;
  readonly description: string;
  readonly payerName: string;
  readonly email: string;
  readonly customerId: string;
  readonly returnUrl: string;
  readonly expiresAtMs: number;
  /** Names of the port; never empty. */
  readonly methods: readonly string[];
  readonly cap: number;
  state: "open" | "complete" | "expired";
  /** Ended by a call, not by time. */
  isCancelled: boolean;
  paymentIds: string[];
  mandateId: string;
}

export interface SimPayment extends Entity {
  readonly checkoutId: string;
  /** Razorpay: what it belongs to. */
  readonly orderId: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly mandateId: string;
  readonly customerId: string;
  method: string;
  /** `prepared`: a debit that nobody confirmed. */
  state: "prepared" | "processing" | "authorized" | "paid" | "failed" | "returned";
  feeMinor: number;
  paidAtMs: number | null;
  failure: SimFailure | null;
  refundedMinor: number;
}

export interface SimRefund extends Entity {
  readonly paymentId: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  state: "pending" | "refunded" | "failed";
  failure: SimFailure | null;
}

export interface SimMandate extends Entity {
  readonly checkoutId: string;
  readonly customerId: string;
  readonly reference: string;
  readonly cap: number;
  readonly currency: string;
  method: string;
  state: "pending" | "active" | "paused" | "failed" | "cancelled";
}

export interface SimDispute extends Entity {
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string;
  state: "warning" | "open" | "withdrawn" | "reinstated" | "lost" | "won";
}

/** Razorpay: an amount that may be paid once. */
export interface SimOrder extends Entity {
  readonly amount: number;
  readonly currency: string;
  readonly receipt: string;
  readonly notes: Readonly<Record<string, string>>;
}

export interface SimCustomer extends Entity {
  readonly name: string;
  readonly email: string;
}

/** A line of the account: what came in is positive, what went out is negative. */
export interface SimLine extends Entity {
  readonly kind: "payment" | "refund" | "dispute";
  readonly ref: string;
  readonly paymentId: string;
  readonly reference: string;
  readonly amount: number;
  readonly feeMinor: number;
  readonly currency: string;
  settlementId: string;
}

export interface SimSettlement extends Entity {
  readonly amount: number;
  readonly feeMinor: number;
  readonly currency: string;
}

/** An answer that is given again for the same idempotency key. */
export interface SimReply extends Entity {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

/** Names and secrets of the service itself. */
export interface SimMeta extends Entity {
  readonly value: string;
}

export interface Collections {
  checkouts: SimCheckout;
  payments: SimPayment;
  refunds: SimRefund;
  mandates: SimMandate;
  disputes: SimDispute;
  orders: SimOrder;
  customers: SimCustomer;
  lines: SimLine;
  settlements: SimSettlement;
  replies: SimReply;
  meta: SimMeta;
}

const NAMES = [
  "checkouts",
  "payments",
  "refunds",
  "mandates",
  "disputes",
  "orders",
  "customers",
  "lines",
  "settlements",
  "replies",
  "meta",
] as (keyof Collections)[];

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const ID_LETTERS = 14;

export class SimState {
  readonly #maps = new Map<keyof Collections, Map<string, Entity>>(NAMES.map((name) => [name, new Map()]));
  readonly #file: string | undefined;
  readonly #random: Random;

  /** @param file JSON lines; undefined: kept in memory only @throws where the file cannot be read or written */
  constructor(file: string | undefined, random: Random) {
    this.#file = file;
    this.#random = random;
    if (file === undefined) return;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (existsSync(file)) for (const line of readFileSync(file, "utf8").split("\n")) this.#load(line);
    this.#rewrite(file);
  }

  #load(line: string): void {
    try {
      const { c, v } = JSON.parse(line) as { c: keyof Collections; v: Entity };
      this.#maps.get(c)?.set(v.id, v);
    } catch {
      // Cut off by a crash, or the empty end of the file.
    }
  }

  /** Leaves out what later lines replaced. */
  #rewrite(file: string): void {
    const lines = NAMES.flatMap((c) => [...this.#mapOf(c).values()].map((v) => lineOf(c, v)));
    writeFileSync(`${file}.new`, lines.join(""), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  #mapOf<C extends keyof Collections>(name: C): Map<string, Collections[C]> {
    return this.#maps.get(name) as unknown as Map<string, Collections[C]>;
  }

  get<C extends keyof Collections>(name: C, id: string): Collections[C] | undefined {
    return this.#mapOf(name).get(id);
  }

  /** In the order of their creation. */
  all<C extends keyof Collections>(name: C): IterableIterator<Collections[C]> {
    return this.#mapOf(name).values();
  }

  /** Adds or changes. */
  put<C extends keyof Collections>(name: C, entity: Collections[C]): void {
    this.#mapOf(name).set(entity.id, entity);
    if (this.#file !== undefined) appendFileSync(this.#file, lineOf(name, entity));
  }

  newId(prefix: string): string {
    let id = "";
    for (let i = 0; i < ID_LETTERS; i++) id += LETTERS[Math.floor(this.#random() * LETTERS.length)];
    return `${prefix}_${id}`;
  }
}

const lineOf = (c: keyof Collections, v: Entity): string => `${JSON.stringify({ c, v })}\n`;
