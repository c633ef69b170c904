/** Attempts over upstreams that the test holds: it says who answers what and when; time passes when it says so. */

import type { OnDisconnect } from "../../../../src/base/call/on-disconnect.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { platformKey } from "../../../../src/base/provider-key.ts";
import { type AttemptDeps, Attempts } from "../../../../src/inference/exchange/attempts.ts";
import { Call, type Incoming, type ReservedCall } from "../../../../src/inference/exchange/call.ts";
import type { Outcome } from "../../../../src/inference/exchange/outcome.ts";
import type { UpstreamHandler, UpstreamRequest } from "../../../../src/inference/upstream/upstreams.ts";
import { Health } from "../../../../src/routing/health/health.ts";
import { DEFAULT_DECISION, type Decision } from "../../../../src/routing/planner/decision.ts";
import { chatFormat } from "../../../../src/wire/chat/format.ts";
import type { Outgoing } from "../../../../src/wire/format.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";
import { giveData } from "../../../support/upstream/give-data.ts";

/** One call to an upstream, and what the test may do with it. */
export interface ControlledUpstream {
  readonly endpointId: string;
  readonly keyId: string;
  isCancelled: boolean;
  /** It has said all that it will say. */
  isOver: boolean;
  hasHead: boolean;
  hasBegun: boolean;
  /** Head and body as the test wants them. */
  readonly handler: UpstreamHandler;
  /** The stream tells its usage before its first content. */
  report(): Promise<void>;
  /** The first content. */
  begin(): Promise<void>;
  /** The rest of the stream, or all of a whole answer. */
  answer(): Promise<void>;
  status(status: number, headers?: Record<string, string>, error?: object): Promise<void>;
  cut(): Promise<void>;
}

export interface Options {
  readonly stream?: boolean;
  readonly decision?: Partial<Decision>;
  /** Keys of each endpoint's provider. */
  readonly keys?: number;
  readonly onDisconnect?: OnDisconnect;
  /** Endpoints whose bodies are written when the test says so. */
  readonly inThread?: readonly string[];
  readonly isFaultExpected?: boolean;
  /** The endpoints that its hold was fitted to; all without. */
  readonly fittedTo?: readonly string[];
  /** Tokens of context, by endpoint; all alike without. */
  readonly contexts?: Readonly<Record<string, number>>;
}

/** Nothing is due before the test says how much time passes. */
class ManualTime {
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
const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const REPORT = chunk({ choices: [], usage: USAGE });
const BEGINNING = chunk({
  choices: [{ index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null }],
});
const REST = `${chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${REPORT}data: [DONE]\n\n`;
const WHOLE = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  usage: USAGE,
  choices: [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }],
});

const WRITTEN: Outgoing = { parts: [], dropped: [] };

/** Three endpoints, `one` to `three`, in this order. */
export function runAttempts({
  stream = true,
  decision = {},
  keys = 1,
  onDisconnect = "cancel",
  inThread = [],
  isFaultExpected = false,
  fittedTo,
  contexts = {},
}: Options = {}) {
  const time = new ManualTime();
  const upstreams: ControlledUpstream[] = [];
  const outcomes: Outcome[] = [];
  const written = new Map<string, PromiseWithResolvers<Outgoing>>();
  let leave = () => {};
  const reply = {
    gone: false,
    openStream() {},
    write: () => true,
    end() {},
    send() {},
    sendJson() {},
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
  const endpoints = ["one", "two", "three"].map((id) => {
    const contextLength = contexts[id];
    return withKeys(endpoint(id, contextLength === undefined ? {} : { contextLength }), keys);
  });
  const plan = { attempts: endpoints, decision: { ...DEFAULT_DECISION, ...decision } };
  const fit = fittedTo && new Map(fittedTo.map((id) => [id, { limit: 100, outputTokens: 100 }]));
  const reservation = { inputTokens: 1e6, outputTokens: 1e6, fit };
  const reserved = Object.assign(call, { plan, request, reservation }) as unknown as ReservedCall;
  const health = new Health(time);
  const drains = { begun: 0, ended: 0, areFull: false };
  const deps = {
    clock: time,
    timers: time,
    health,
    limits: { state: () => ({}) },
    upstreams: {
      proxiesOf: () => [],
      call: (asked: UpstreamRequest, handler: UpstreamHandler) =>
        controlledUpstream(upstreams, asked, handler, stream),
    },
    bodies: {
      write(_format: unknown, _way: unknown, _request: unknown, { id }: Endpoint) {
        if (!inThread.includes(id)) return WRITTEN;
        const writing = Promise.withResolvers<Outgoing>();
        written.set(id, writing);
        return writing.promise;
      },
    },
    bounds: { maxEventBytes: 1e6, maxReplyBytes: 1e6, maxPayloadBytes: 0, extendTokens: 100 },
    beginDrain: () => !drains.areFull && ++drains.begun > 0,
    endDrain: () => drains.ended++,
    firstContent: () => {},
    onFault(error: unknown) {
      if (!isFaultExpected) throw error;
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
    /** The thread has written the body for an endpoint, or found that it cannot be. */
    wrote(id: string, refused?: Error): Promise<void> {
      if (refused === undefined) written.get(id)?.resolve(WRITTEN);
      else written.get(id)?.reject(refused);
      return turn();
    },
    shutDown: () => attempts.shutDown(),
    hasLeft: () => reply.gone,
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

/** A relay reads at the end of the turn in which bytes came. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function controlledUpstream(
  all: ControlledUpstream[],
  { endpoint: at, key }: UpstreamRequest,
  handler: UpstreamHandler,
  stream: boolean,
) {
  const type = { "content-type": stream ? "text/event-stream" : "application/json" };
  const head = () => {
    if (!upstream.hasHead) handler.onHead(200, type);
    upstream.hasHead = true;
  };
  const upstream: ControlledUpstream = {
    endpointId: at.id,
    keyId: key.id,
    isCancelled: false,
    isOver: false,
    hasHead: false,
    hasBegun: false,
    handler,
    report() {
      head();
      giveData(handler, REPORT);
      return turn();
    },
    begin() {
      head();
      if (!upstream.hasBegun) giveData(handler, stream ? BEGINNING : WHOLE.slice(0, 20));
      upstream.hasBegun = true;
      return turn();
    },
    async answer() {
      await upstream.begin();
      upstream.isOver = true;
      giveData(handler, stream ? REST : WHOLE.slice(20));
      handler.onEnd();
      return turn();
    },
    status(status, headers = {}, error = { message: "no" }) {
      upstream.isOver = true;
      handler.onHead(status, { "content-type": "application/json", ...headers });
      giveData(handler, JSON.stringify({ error }));
      handler.onEnd();
      return turn();
    },
    cut() {
      upstream.isOver = true;
      handler.onEnd();
      return turn();
    },
  };
  all.push(upstream);
  return {
    cancel: () => {
      upstream.isCancelled = true;
    },
    pause() {},
    resume() {},
  };
}
