/** Attempts over upstreams that the test holds: it says who answers what and when; time passes when it says so. */
import type { Endpoint } from "../src/endpoint.ts";
import { type AttemptDeps, Attempts } from "../src/exchange/attempts.ts";
import { Call, type Incoming, type Reserved } from "../src/exchange/call.ts";
import type { Outcome } from "../src/exchange/outcome.ts";
import { platformKey } from "../src/provider-key.ts";
import { type Decision, USUAL } from "../src/routing/decision.ts";
import { Health } from "../src/routing/health.ts";
import type { UpstreamHandler, UpstreamRequest } from "../src/upstream/upstreams.ts";
import { chatFormat } from "../src/wire/chat/format.ts";
import { endpoint } from "./routing.fixtures.ts";

/** One call to an upstream, and what the test may do with it. */
export interface Held {
  readonly endpointId: string;
  readonly keyId: string;
  isCancelled: boolean;
  /** The stream's first content. */
  begin(): Promise<void>;
  /** The rest of the stream, or all of a whole answer. */
  answer(): Promise<void>;
  status(status: number, headers?: Record<string, string>): Promise<void>;
  cut(): Promise<void>;
}

export interface Options {
  readonly stream?: boolean;
  readonly decision?: Partial<Decision>;
  /** Keys of each endpoint's provider. */
  readonly keys?: number;
  readonly onDisconnect?: "cancel" | "drain";
}

/** Nothing is due before the test says how much time passes. */
class HeldTime {
  nowMs = 1000;
  readonly #due: { atMs: number; act: () => void }[] = [];
  now = () => this.nowMs;
  monotonic = () => this.nowMs;

  after(delayMs: number, act: () => void): () => void {
    const due = { atMs: this.nowMs + delayMs, act };
    this.#due.push(due);
    return () => void this.#due.splice(this.#due.indexOf(due), this.#due.includes(due) ? 1 : 0);
  }

  pass(ms: number): void {
    const end = this.nowMs + ms;
    for (;;) {
      const [next] = this.#due.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#due.splice(this.#due.indexOf(next), 1);
      this.nowMs = next.atMs;
      next.act();
    }
    this.nowMs = end;
  }

  get waiting(): number {
    return this.#due.length;
  }
}

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...fields })}\n\n`;
const BEGINNING = chunk({
  choices: [{ index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null }],
});
const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const REST = `${chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${chunk({ choices: [], usage: USAGE })}data: [DONE]\n\n`;
const WHOLE = JSON.stringify({
  ...{ id: "c", object: "chat.completion", created: 1, model: "m", usage: USAGE },
  choices: [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }],
});

/** Three endpoints, `one` to `three`, in this order. */
export function held({ stream = true, decision = {}, keys = 1, onDisconnect = "cancel" }: Options = {}) {
  const time = new HeldTime();
  const upstreams: Held[] = [];
  const outcomes: Outcome[] = [];
  let leave = () => {};
  const reply = {
    gone: false,
    openStream() {},
    write: () => true,
    end() {},
    send() {},
    onGone: (gone: () => void) => (leave = gone),
  };
  const body = { model: "v/m", stream, messages: [{ role: "user", content: "Hello" }] };
  const request = chatFormat.read(Buffer.from(JSON.stringify(body)));
  const key = { onDisconnect, limits: { rpm: 0, tpm: 0, concurrency: 0 } };
  const call = new Call({
    format: chatFormat,
    reply,
    key,
    requestId: "r",
    tsMs: 1,
    startMs: time.nowMs,
  } as unknown as Incoming);
  const endpoints = ["one", "two", "three"].map((id) => withKeys(endpoint(id), keys));
  const plan = { attempts: endpoints, decision: { ...USUAL, ...decision } };
  const reserved = {
    call,
    plan,
    request,
    reservation: { inputTokens: 1e6, outputTokens: 1e6 },
  } as unknown as Reserved;
  const health = new Health(time);
  const drains = { begun: 0, ended: 0 };
  const deps = {
    clock: time,
    timers: time,
    health,
    limits: { state: () => ({}) },
    upstreams: {
      call: (asked: UpstreamRequest, handler: UpstreamHandler) => hold(upstreams, asked, handler, stream),
    },
    bodies: { write: () => ({ parts: [], dropped: [] }) },
    bounds: { maxEventBytes: 1e6, maxReplyBytes: 1e6, maxPayloadBytes: 0, extendTokens: 100 },
    beginDrain: () => ++drains.begun > 0,
    endDrain: () => drains.ended++,
    onFault(error: unknown) {
      throw error;
    },
    timeouts: { firstByteMs: 100_000, stallMs: 10_000, totalMs: 1e6, drainMs: 5000, keepAliveMs: 0 },
  } as unknown as AttemptDeps;
  const attempts = new Attempts(deps, reserved, (outcome) => outcomes.push(outcome));
  attempts.run();
  return {
    call,
    health,
    endpoints,
    upstreams,
    outcomes,
    drains,
    time,
    asked: () => upstreams.map(({ endpointId }) => endpointId),
    ended: () => call.attempts.map((a) => `${a.attempt} ${a.endpointId} ${a.outcome}`),
    kinds: () => outcomes.map(({ kind }) => kind),
    tick: () => attempts.tick(time.nowMs),
    leave: () => {
      reply.gone = true;
      leave();
    },
    /** Slots taken at all endpoints. */
    inFlight: () =>
      endpoints.reduce((sum, e) => sum + e.provider.keys.reduce((n, k) => n + health.inFlight(e, k), 0), 0),
  };
}

const withKeys = (given: Endpoint, count: number): Endpoint => {
  const { id } = given.provider;
  const keys = Array.from({ length: count }, (_, at) => platformKey(id, at + 1, `secret-${id}-${at + 1}`));
  return { ...given, provider: { ...given.provider, keys } };
};

function hold(
  all: Held[],
  { endpoint: at, key }: UpstreamRequest,
  handler: UpstreamHandler,
  stream: boolean,
) {
  let begun = false;
  const type = { "content-type": stream ? "text/event-stream" : "application/json" };
  // A relay reads at the end of the turn in which bytes came.
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const held: Held = {
    endpointId: at.id,
    keyId: key.id,
    isCancelled: false,
    begin() {
      if (!begun) handler.head(200, type);
      if (!begun) handler.data(Buffer.from(BEGINNING));
      begun = true;
      return settled();
    },
    async answer() {
      if (stream) await held.begin();
      else handler.head(200, type);
      handler.data(Buffer.from(stream ? REST : WHOLE));
      handler.end();
      return settled();
    },
    status(status, headers = {}) {
      handler.head(status, { "content-type": "application/json", ...headers });
      handler.data(Buffer.from('{"error":{"message":"no"}}'));
      handler.end();
      return settled();
    },
    cut() {
      handler.end();
      return settled();
    },
  };
  all.push(held);
  return {
    cancel: () => {
      held.isCancelled = true;
    },
    pause() {},
    resume() {},
  };
}
