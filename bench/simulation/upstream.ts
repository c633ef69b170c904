/**
 * Simulated endpoints in virtual time: how fast they answer, how many calls they take, when they slow down, fail, hang
 * and recover, and what they bill. They implement the same port as real upstreams.
 */
import type { Random } from "../../src/base/clock.ts";
import { failure } from "../../src/inference/upstream/failure.ts";
import type { UpstreamHandler, UpstreamRequest, Upstreams } from "../../src/inference/upstream/upstreams.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** From and until: seconds of virtual time. */
export interface Spell {
  readonly fromS: number;
  readonly untilS: number;
  /**
   * `error`: status 500; `refused`: no connection; `silent`: never a byte; `slow`: the first token takes `factor` times as long;
   * `busy`: status 429.
   */
  readonly kind: "error" | "refused" | "silent" | "slow" | "busy";
  readonly factor?: number;
  /** For `busy`; absent: no Retry-After is sent. */
  readonly retryAfterMs?: number;
  /** Share of the calls, 0 to 1; default all. */
  readonly share?: number;
}

export interface Behaviour {
  /** USD per million tokens, input and output alike: micro-USD per token. */
  readonly price: number;
  /** Median time to the first token, and the spread of its logarithm: first tokens are about log-normal. */
  readonly ttftMs: number;
  readonly spread: number;
  readonly tokensPerSecond: number;
  /** Concurrent calls per key; further ones get 429 with a wait of 2 s. */
  readonly maxInFlight?: number;
  /** Calls per key and fixed window; further ones must wait until its end. */
  readonly quota?: { readonly calls: number; readonly perS: number };
  /** Share of calls with this longer time to first token. */
  readonly tail?: { readonly share: number; readonly ttftMs: number };
  readonly spells?: readonly Spell[];
}

const PROMPT_TOKENS = 100;
const OUTPUT_TOKENS = 20;
const BUSY_MS = 2000;
const ROUND_TRIP_MS = 30;

/** One call as it came to an endpoint. */
export interface Sent {
  /** Virtual seconds. */
  readonly atS: number;
  readonly endpointId: string;
  /**
   * What the provider bills: all of an answer; the prompt where it was accepted and then abandoned, as most providers
   * do. Nothing for a refusal or an error.
   */
  costMicroUsd: number;
}

/** Counts of one key at one endpoint. */
interface Counts {
  inFlight: number;
  quotaWindow: number;
  quotaUsed: number;
}

type Fate = "answers" | "silent" | "refused" | { readonly status: number; readonly retryAfterMs?: number };

export class SimulatedUpstreams implements Pick<Upstreams, "call" | "proxiesOf"> {
  readonly sent: Sent[] = [];
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #behaviours: ReadonlyMap<string, Behaviour>;
  readonly #counts = new Map<string, Counts>();

  constructor(time: VirtualTime, random: Random, behaviours: ReadonlyMap<string, Behaviour>) {
    this.#time = time;
    this.#random = random;
    this.#behaviours = behaviours;
  }

  call({ endpoint, key, stream }: UpstreamRequest, handler: UpstreamHandler) {
    const behaviour = this.#behaviours.get(endpoint.id);
    if (behaviour === undefined) throw new Error(`nothing is known of ${endpoint.id}`);
    const sent: Sent = { atS: this.#time.monotonic() / 1000, endpointId: endpoint.id, costMicroUsd: 0 };
    this.sent.push(sent);
    const counts = this.#countsOf(`${endpoint.id} ${key.id}`);
    counts.inFlight++;
    let isOver = false;
    const over = (): boolean => {
      if (isOver) return false;
      isOver = true;
      counts.inFlight--;
      return true;
    };
    const later = (delayMs: number, act: () => void) => this.#time.after(delayMs, () => !isOver && act());
    const spell = this.#spellOf(behaviour);
    const fate = this.#fateOf(behaviour, counts, spell);
    if (typeof fate === "object") {
      later(ROUND_TRIP_MS, () => over() && refuse(handler, fate));
    } else if (fate === "refused") {
      later(1, () => over() && handler.onFailure(failure("connect_error", "network")));
    } else {
      sent.costMicroUsd = PROMPT_TOKENS * behaviour.price;
      if (fate === "answers") {
        const answering = { behaviour, sent, later, over };
        this.#answer(handler, stream, this.#ttftMs(behaviour) * (spell?.factor ?? 1), answering);
      }
    }
    return { cancel: () => void over(), pause() {}, resume() {} };
  }

  proxiesOf() {
    return [];
  }

  #answer(
    handler: UpstreamHandler,
    isStream: boolean,
    ttftMs: number,
    {
      behaviour: { price, tokensPerSecond },
      sent,
      later,
      over,
    }: {
      readonly behaviour: Behaviour;
      readonly sent: Sent;
      readonly later: (delayMs: number, act: () => void) => void;
      readonly over: () => boolean;
    },
  ): void {
    const generatingMs = (OUTPUT_TOKENS * 1000) / tokensPerSecond;
    const finish = (last: Buffer) => {
      sent.costMicroUsd = (PROMPT_TOKENS + OUTPUT_TOKENS) * price;
      handler.onData(last, 0, last.length);
      if (over()) handler.onEnd();
    };
    if (!isStream) {
      later(ttftMs + generatingMs, () => {
        handler.onHead(200, { "content-type": "application/json" });
        finish(WHOLE);
      });
      return;
    }
    later(ttftMs, () => {
      handler.onHead(200, { "content-type": "text/event-stream" });
      tell(handler, BEGINNING);
      later(generatingMs, () => finish(REST));
    });
  }

  #countsOf(lane: string): Counts {
    let counts = this.#counts.get(lane);
    if (counts === undefined) {
      counts = { inFlight: 0, quotaWindow: 0, quotaUsed: 0 };
      this.#counts.set(lane, counts);
    }
    return counts;
  }

  /** The outcome of a call that has just arrived and is already counted. */
  #fateOf({ maxInFlight, quota }: Behaviour, counts: Counts, spell: Spell | undefined): Fate {
    if (maxInFlight !== undefined && counts.inFlight > maxInFlight) {
      return { status: 429, retryAfterMs: BUSY_MS };
    }
    if (quota !== undefined) {
      const nowS = this.#time.monotonic() / 1000;
      const window = Math.floor(nowS / quota.perS);
      if (window > counts.quotaWindow) {
        counts.quotaWindow = window;
        counts.quotaUsed = 0;
      }
      if (counts.quotaUsed >= quota.calls) {
        return { status: 429, retryAfterMs: Math.ceil(((window + 1) * quota.perS - nowS) * 1000) };
      }
      counts.quotaUsed++;
    }
    if (spell?.kind === "error") return { status: 500 };
    if (spell?.kind === "busy") {
      return { status: 429, ...(spell.retryAfterMs && { retryAfterMs: spell.retryAfterMs }) };
    }
    return spell?.kind === "refused" || spell?.kind === "silent" ? spell.kind : "answers";
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

function tell(handler: UpstreamHandler, bytes: Buffer): void {
  handler.onData(bytes, 0, bytes.length);
  handler.onReadOver?.();
}

function refuse(handler: UpstreamHandler, { status, retryAfterMs }: Exclude<Fate, string>): void {
  const wait = retryAfterMs === undefined ? {} : { "retry-after-ms": String(retryAfterMs) };
  handler.onHead(status, { "content-type": "application/json", ...wait });
  tell(handler, Buffer.from(JSON.stringify({ error: { message: "no" } })));
  handler.onEnd();
}

const USAGE = {
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: OUTPUT_TOKENS,
  total_tokens: PROMPT_TOKENS + OUTPUT_TOKENS,
};

const event = (fields: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...fields })}\n\n`;

const choice = (delta: object, finishReason: string | null = null) =>
  event({ choices: [{ index: 0, delta, finish_reason: finishReason }] });

const BEGINNING = Buffer.from(choice({ role: "assistant", content: "" }) + choice({ content: "a" }));
const REST = Buffer.from(
  `${choice({ content: "b" })}${choice({}, "stop")}${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`,
);
const WHOLE = Buffer.from(
  JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "ab" }, finish_reason: "stop" }],
    usage: USAGE,
  }),
);
