/**
 * The simulated payment service as the gateway meets it: its API with delays, failures and hours in which it is away, and its
 * webhooks, of which some are lost, repeated, late or out of order. It knows of each change when the gateway was told of it.
 */

import { Api, type ApiRequest, type Fault, type Front } from "../../../simulator/payments/api.ts";
import { type Change, Engine } from "../../../simulator/payments/engine.ts";
import { timedSignature } from "../../../simulator/payments/notices.ts";
import { simulatedEvents, simulatedFront } from "../../../simulator/payments/simulated-api.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time.ts";
import type { SimulatedService } from "../../../src/billing/payments/simulated/client.ts";
import type { VirtualTime } from "../virtual-time.ts";
import { outcomeOf } from "./debit-outcomes.ts";
import type { Dice } from "./dice.ts";
import type { Figures } from "./figures.ts";

const KEY = "smk_simulation";
const SECRET = "smw_simulation";
const TIMEOUT_MS = 10 * SECOND_MS;
const TRIES = 12;

/** Takes a webhook. @returns the status, 0 where nobody answers */
export type Deliver = (body: Buffer, header: (name: string) => string) => Promise<number>;

export interface ServiceReply {
  readonly status: number;
  readonly headers: Headers;
  text(): Promise<string>;
}

export interface ServiceOptions {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly figures: Figures;
  /** Share of calls and of webhooks that something happens to. */
  readonly trouble: number;
}

export class PaymentService {
  readonly engine: Engine;
  readonly known: SimulatedService = { url: "http://payments", key: KEY, webhookSecret: SECRET };
  /** Set while a gateway listens. */
  deliver: Deliver | undefined;
  /** It answers nobody until then. */
  awayUntilMs = 0;
  /** While it is away it sends no webhooks either. */
  isSilent = true;
  /** Ids of entities that changed since somebody looked. */
  readonly changed = new Set<string>();
  readonly #options: ServiceOptions;
  #trouble: number;
  readonly #api: Api;
  readonly #front: Front;
  /** Disputes that began as a warning of fraud. */
  readonly warnings = new Set<string>();
  /** By payment id, for debits of a wrong amount: the amount that the gateway had asked for. */
  readonly askedMinor = new Map<string, number>();
  /** Refunds that failed after they had succeeded. */
  readonly lateFailures = new Set<string>();
  /** Entity → when it last changed, and when the gateway answered a webhook about that change. */
  readonly #changedAt = new Map<string, number>();
  readonly #toldAt = new Map<string, number>();
  readonly #listeners: ((change: Change) => void)[] = [];

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#trouble = options.trouble;
    const { time, dice } = options;
    this.engine = new Engine({ clock: time, random: dice.random, processingMs: Number.MAX_SAFE_INTEGER });
    this.#api = new Api(this.engine.state);
    this.#front = simulatedFront(this.engine, KEY, (id) => `http://payments/pay/${id}`);
    this.engine.changed = (change) => this.#tell(change);
  }

  /** From now on nothing happens to calls and webhooks. */
  calm(): void {
    this.#trouble = 0;
  }

  get isAway(): boolean {
    return this.#options.time.now() < this.awayUntilMs;
  }

  /** Told of each change, before its webhooks are made. */
  listen(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  /** When the gateway was told of the newest change of an entity; undefined: not yet. */
  toldAt(id: string): number | undefined {
    return this.#toldAt.get(id);
  }

  changedAt(id: string): number {
    return this.#changedAt.get(id) ?? 0;
  }

  // -- API --

  /** A call from the gateway. Delays take virtual time. */
  call(url: string, init: RequestInit, atEffect: () => void): Promise<ServiceReply> {
    const { time, dice, figures } = this.#options;
    const fault = dice.chance(this.#trouble) ? dice.pick(FAULTS) : undefined;
    const halfMs = dice.chance(0.01) ? dice.between(1, 4) * SECOND_MS : dice.between(20, 400);
    figures.add("payment service: calls");
    return new Promise((resolve, reject) => {
      const fail = (code: string, name = "Error") =>
        reject(Object.assign(new Error(code), { code, ...(name !== "Error" && { name }) }));
      time.after(halfMs, () => {
        if (this.isAway) {
          figures.add("payment service: calls while it was away");
          if (dice.chance(0.7)) return fail("ECONNREFUSED");
          time.after(TIMEOUT_MS, () => fail("timeout", "TimeoutError"));
          return;
        }
        if (fault !== undefined) figures.add(`payment service: ${fault.kind}`);
        const reply = this.#play(url, init, fault);
        if (init.method === "POST") atEffect();
        if (reply === undefined) time.after(TIMEOUT_MS, () => fail("timeout", "TimeoutError"));
        else time.after(halfMs, () => resolve(reply));
      });
    });
  }

  #play(url: string, init: RequestInit, fault: Fault | undefined): ServiceReply | undefined {
    if (fault !== undefined) this.#api.plant(fault);
    const { pathname, searchParams } = new URL(url);
    const headers = new Headers(init.headers);
    const request: ApiRequest = {
      method: init.method ?? "GET",
      path: pathname,
      query: searchParams,
      body: typeof init.body === "string" ? init.body : "",
      header: (name) => headers.get(name) ?? "",
    };
    if (request.method === "POST" && pathname.endsWith("/refunds")) this.#decideRefund();
    if (request.method === "POST" && pathname.endsWith("/confirm")) this.#decideDebit(pathname);
    const { reply } = this.#api.play(this.#front, request);
    if (reply === undefined) return undefined;
    const text = JSON.stringify(reply.body);
    return { status: reply.status, headers: new Headers(reply.headers ?? {}), text: async () => text };
  }

  /** How the next refund begins: most are done at once. */
  #decideRefund(): void {
    const { nextRefunds } = this.engine;
    nextRefunds.length = 0;
    nextRefunds.push(this.#options.dice.weighted({ refunded: 80, pending: 15, failed: 5 }));
  }

  /** How the debit ends for now. */
  #decideDebit(pathname: string): void {
    const { nextDebits, state } = this.engine;
    nextDebits.length = 0;
    const payment = state.get("payments", pathname.split("/").at(-2) ?? "");
    if (payment?.state !== "prepared") return;
    const { dice, figures } = this.#options;
    nextDebits.push(outcomeOf(dice, payment));
    if (!dice.chance(this.#trouble / 3)) return;
    figures.add("banks: take another amount than was asked for");
    this.askedMinor.set(payment.id, payment.amount);
    state.put("payments", Object.assign(payment, { amount: payment.amount - dice.integer(1, 100) }));
  }

  // -- Webhooks --

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
    const { time, dice, figures } = this.#options;
    const id = idOf(change);
    if (change.kind === "dispute" && change.dispute.state === "warning") this.warnings.add(id);
    const version = { id, atMs: time.now() };
    this.#changedAt.set(id, version.atMs);
    this.#toldAt.delete(id);
    this.changed.add(id);
    for (const event of simulatedEvents(change, this.engine.state.newId("sev"))) {
      figures.add("webhooks: made");
      const trouble = this.#trouble;
      const fate = dice.weighted({
        good: 1 - trouble * 6,
        lost: trouble * 2,
        late: trouble * 2,
        twice: trouble * 2,
      });
      if (fate !== "good") figures.add(`webhooks: ${fate}`);
      const copies = fate === "twice" ? dice.integer(2, 4) : 1;
      for (let i = 0; i < copies; i++) this.#later(version, event.body, this.#delayOf(fate), 1);
    }
  }

  /** One that is lost is sent again by hand, days later. */
  #delayOf(fate: "good" | "lost" | "late" | "twice"): number {
    const { dice } = this.#options;
    if (fate === "lost") return dice.between(1, 3) * DAY_MS;
    if (fate === "late") return dice.between(0.05, 30) * HOUR_MS;
    return fate === "twice" ? dice.between(0, 10) * MINUTE_MS : dice.between(0.1, 5) * SECOND_MS;
  }

  #later(version: Version, body: string, delayMs: number, attempt: number): void {
    this.#options.time.after(delayMs, () => void this.#send(version, body, attempt));
  }

  async #send(version: Version, body: string, attempt: number): Promise<void> {
    const { time, dice, figures } = this.#options;
    if (this.isAway && this.isSilent) {
      const backMs = this.awayUntilMs - time.now() + dice.between(0, 30) * MINUTE_MS;
      return this.#later(version, body, backMs, attempt);
    }
    const signature = timedSignature(body, SECRET, time.now());
    const header = (name: string) => (name === "weir-payments-signature" ? signature : "");
    const status = (await this.deliver?.(Buffer.from(body), header)) ?? 0;
    figures.add(status === 200 ? "webhooks: taken" : "webhooks: refused, sent again");
    if (status !== 200) {
      if (attempt < TRIES) this.#later(version, body, dice.between(5, 10) * MINUTE_MS * attempt, attempt + 1);
      return;
    }
    if (this.#changedAt.get(version.id) === version.atMs) this.#toldAt.set(version.id, time.now());
  }
}

interface Version {
  readonly id: string;
  readonly atMs: number;
}

const FAULTS: readonly Fault[] = [
  { match: "", kind: "error_before" },
  { match: "", kind: "error_after" },
  { match: "", kind: "timeout_after" },
  { match: "", kind: "conflict" },
  { match: "", kind: "rate_limit", retryAfterS: 20 },
];

function idOf(change: Change): string {
  if (change.kind === "checkout" || change.kind === "mandate") return change.checkout.id;
  if (change.kind === "payment") return change.payment.id;
  return change.kind === "refund" ? change.refund.id : change.dispute.id;
}
