/**
 * Endpoints that exist only in virtual time: how fast they answer, how many calls they take, when they slow down, fail, hang and
 * recover. They speak to the real relays through the port that real upstreams fill.
 */
import type { Random } from "../../src/clock.ts";
import { failure } from "../../src/upstream/failure.ts";
import type { UpstreamHandler, UpstreamRequest, Upstreams } from "../../src/upstream/upstreams.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** From and until: seconds of virtual time. */
export interface Spell {
  readonly fromS: number;
  readonly untilS: number;
  /**
   * `error`: status 500; `refused`: no connection; `silent`: never a byte; `slow`: the first token takes `factor` times as long.
   */
  readonly kind: "error" | "refused" | "silent" | "slow";
  readonly factor?: number;
  /** Of the calls, 0 to 1; all unless given. */
  readonly share?: number;
}

export interface Behaviour {
  /** Median time to the first token, and the spread of its logarithm: first tokens are about log-normal. */
  readonly ttftMs: number;
  readonly spread: number;
  readonly tokensPerSecond: number;
  /** Calls at once for each key; further ones are answered 429. */
  readonly maxInFlight?: number;
  /** A share of the calls whose first token takes this long. */
  readonly tail?: { readonly share: number; readonly ttftMs: number };
  readonly spells?: readonly Spell[];
}

const OUTPUT_TOKENS = 20;
const RETRY_AFTER_MS = 2000;

/** How many calls each endpoint was sent, and how many of them it answered to the end. */
export interface Served {
  asked: number;
  answered: number;
}

export class SimulatedUpstreams implements Pick<Upstreams, "call"> {
  readonly served = new Map<string, Served>();
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #behaviours: ReadonlyMap<string, Behaviour>;
  readonly #inFlight = new Map<string, number>();

  constructor(time: VirtualTime, random: Random, behaviours: ReadonlyMap<string, Behaviour>) {
    this.#time = time;
    this.#random = random;
    this.#behaviours = behaviours;
  }

  call({ endpoint, key }: UpstreamRequest, handler: UpstreamHandler) {
    const behaviour = this.#behaviours.get(endpoint.id);
    if (behaviour === undefined) throw new Error(`nothing is known of ${endpoint.id}`);
    const served = this.#servedBy(endpoint.id);
    served.asked++;
    const lane = `${endpoint.id} ${key.id}`;
    const inFlight = (this.#inFlight.get(lane) ?? 0) + 1;
    this.#inFlight.set(lane, inFlight);
    let isOver = false;
    const over = (): boolean => {
      if (isOver) return false;
      isOver = true;
      this.#inFlight.set(lane, (this.#inFlight.get(lane) ?? 1) - 1);
      return true;
    };
    const later = (delayMs: number, act: () => void) => this.#time.after(delayMs, () => !isOver && act());
    const refuse = (status: number, headers: Record<string, string>, body: object) =>
      later(ROUND_TRIP_MS, () => {
        handler.head(status, { "content-type": "application/json", ...headers });
        handler.data(Buffer.from(JSON.stringify({ error: body })));
        if (over()) handler.end();
      });
    const spell = this.#spellOf(behaviour);
    if (behaviour.maxInFlight !== undefined && inFlight > behaviour.maxInFlight) {
      refuse(429, { "retry-after-ms": String(RETRY_AFTER_MS) }, { message: "busy", code: "rate_limit" });
    } else if (spell?.kind === "error") {
      refuse(500, {}, { message: "broken" });
    } else if (spell?.kind === "refused") {
      later(1, () => over() && handler.failed(failure("connect_error", "network")));
    } else if (spell?.kind !== "silent") {
      const ttftMs = this.#ttftMs(behaviour) * (spell?.factor ?? 1);
      later(ttftMs, () => {
        handler.head(200, { "content-type": "text/event-stream" });
        handler.data(BEGINNING);
        later((OUTPUT_TOKENS * 1000) / behaviour.tokensPerSecond, () => {
          served.answered++;
          handler.data(REST);
          if (over()) handler.end();
        });
      });
    }
    return { cancel: () => void over(), pause() {}, resume() {} };
  }

  #servedBy(endpointId: string): Served {
    let served = this.served.get(endpointId);
    if (served === undefined) {
      served = { asked: 0, answered: 0 };
      this.served.set(endpointId, served);
    }
    return served;
  }

  #spellOf({ spells = [] }: Behaviour): Spell | undefined {
    const nowS = this.#time.monotonic() / 1000;
    return spells.find(
      ({ fromS, untilS, share = 1 }) =>
        nowS >= fromS && nowS < untilS && (share === 1 || this.#random() < share),
    );
  }

  /** Log-normal; the normal number by Box and Muller. */
  #ttftMs({ ttftMs, spread, tail }: Behaviour): number {
    if (tail !== undefined && this.#random() < tail.share) return tail.ttftMs;
    const normal = Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
    return ttftMs * Math.exp(spread * normal);
  }
}

const ROUND_TRIP_MS = 30;

const event = (fields: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...fields })}\n\n`;

const delta = (content: string) =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const BEGINNING = Buffer.from(
  event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }) +
    delta("a"),
);
const REST = Buffer.from(
  `${delta("b")}${event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${event({
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: OUTPUT_TOKENS, total_tokens: 100 + OUTPUT_TOKENS },
  })}data: [DONE]\n\n`,
);
