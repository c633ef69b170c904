/**
 * Sends webhooks of the simulated services, signed as the real ones sign. By itself each is sent once and again until it is
 * accepted; a script can hold, lose, repeat and reorder them.
 */
import { createHmac } from "node:crypto";
import type { Clock, Timers } from "../../src/base/clock.ts";
import type { Change } from "./engine.ts";
import type { House } from "./state.ts";

export interface HouseEvent {
  readonly id: string;
  readonly body: string;
}

export interface HookTarget {
  readonly url: string;
  readonly secret: string;
}

export interface HookScript {
  /** Kept until {@link Notices.flush}. */
  hold: boolean;
  /** So many of the next ones are never sent. */
  lose: number;
  /** Times that each is sent; usually 1. */
  copies: number;
  delayMs: number;
}

const HOUSE_OF = (change: Change): House => {
  if (change.kind === "checkout" || change.kind === "mandate") return change.checkout.house;
  if (change.kind === "payment") return change.payment.house;
  return change.kind === "refund" ? change.refund.house : change.dispute.house;
};

const TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 500;
const TRIES = 10;
/** Events waiting or held; older ones are lost, and whoever waits for them must poll. */
const MAX_WAITING = 10_000;

export interface NoticesOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly eventsOf: Readonly<Record<House, (change: Change) => readonly HouseEvent[]>>;
}

export class Notices {
  readonly targets = new Map<House, HookTarget>();
  readonly script: HookScript = { hold: false, lose: 0, copies: 1, delayMs: 0 };
  readonly #options: NoticesOptions;
  readonly #held: { house: House; event: HouseEvent }[] = [];
  readonly #cancels = new Set<() => void>();
  readonly #underWay = new Set<Promise<unknown>>();
  #waiting = 0;
  #closed = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#held.length;
  }

  tell(change: Change): void {
    const house = HOUSE_OF(change);
    if (!this.targets.has(house)) return;
    for (const event of this.#options.eventsOf[house](change)) {
      if (this.script.lose > 0) this.script.lose -= 1;
      else if (this.#held.length + this.#waiting >= MAX_WAITING) continue;
      else if (this.script.hold) this.#held.push({ house, event });
      else for (let i = 0; i < this.script.copies; i++) this.#later(house, event, this.script.delayMs, 1);
    }
  }

  /**
   * Sends what was held, one after another, each once, whatever is answered.
   * @param order positions among the held; default: as they happened @returns the status of each answer, 0 for none
   */
  async flush(order: readonly number[] = this.#held.map((_, i) => i)): Promise<number[]> {
    const held = this.#held.splice(0);
    const statuses: number[] = [];
    for (const i of order) {
      const found = held[i];
      if (found !== undefined) statuses.push(await this.#post(found.house, found.event));
    }
    return statuses;
  }

  #later(house: House, event: HouseEvent, delayMs: number, attempt: number): void {
    if (this.#closed) return;
    this.#waiting += 1;
    const cancel = this.#options.timers.after(delayMs, () => {
      this.#cancels.delete(cancel);
      this.#waiting -= 1;
      void this.#try(house, event, attempt);
    });
    this.#cancels.add(cancel);
  }

  async #try(house: House, event: HouseEvent, attempt: number): Promise<void> {
    const status = await this.#post(house, event);
    const isAccepted = status >= 200 && status < 300;
    if (!isAccepted && attempt < TRIES)
      this.#later(house, event, FIRST_RETRY_MS * 2 ** (attempt - 1), attempt + 1);
  }

  #post(house: House, event: HouseEvent): Promise<number> {
    const target = this.targets.get(house);
    if (target === undefined || this.#closed) return Promise.resolve(0);
    const sending = post(target.url, event.body, this.#headers(house, event, target.secret));
    this.#underWay.add(sending);
    return sending.finally(() => this.#underWay.delete(sending));
  }

  #headers(house: House, event: HouseEvent, secret: string): Record<string, string> {
    if (house === "razorpay") return razorpayHeaders(event, secret);
    const name = house === "stripe" ? "stripe-signature" : "weir-payments-signature";
    return { [name]: timedSignature(event.body, secret, this.#options.clock.now()) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
    await Promise.allSettled(this.#underWay);
  }
}

const razorpayHeaders = (event: HouseEvent, secret: string): Record<string, string> => ({
  "x-razorpay-event-id": event.id,
  "x-razorpay-signature": createHmac("sha256", secret).update(event.body).digest("hex"),
});

/** `t=<seconds>,v1=<hex>`, as Stripe signs: HMAC-SHA256 over time, a dot and the body. */
export function timedSignature(body: string, secret: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const digest = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${digest}`;
}

/** @returns the status, 0 for no answer */
async function post(url: string, body: string, headers: Record<string, string>): Promise<number> {
  try {
    const reply = await fetch(url, {
      method: "POST",
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { "content-type": "application/json", ...headers },
    });
    await reply.arrayBuffer();
    return reply.status;
  } catch {
    return 0;
  }
}
