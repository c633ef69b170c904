/**
 * Calls to URLs that tenants give, and the one guard against what such a URL may reach. Each call is checked anew, goes to an
 * address that was checked, and ends at its time limit; no redirect is followed, no proxy asked, no content decoded.
 */
import { type Clock, systemTimers, type Timers } from "../base/clock.ts";
import type { Address } from "./address.ts";
import { CheckedAgent, type Dial } from "./agent.ts";
import { type Answer, type AttemptRequest, attempt, type Outcome, type SinkOf } from "./attempt.ts";
import { OutboundError, unshown } from "./failure.ts";
import { dnsResolve, type Names, openNames, type Resolve } from "./resolve.ts";
import { isAllowed, isOwn, type OutboundRules } from "./rules.ts";
import { Slots } from "./slots.ts";
import { readTarget, type Target } from "./target.ts";

export interface OutboundRequest {
  readonly url: string;
  readonly method: string;
  /** Those for URLs of the org that gave this one. Default: those for URLs of everybody. */
  readonly rules?: OutboundRules;
  /** Without those that say where a message ends or what becomes of the connection: they are set here. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** From the look-up of the name to the end of the answer; default 10 s. A call waits as long for its turn at most. */
  readonly timeoutMs?: number;
  /** Whether the receiver may get it twice: it is then sent again if a kept connection turns out to be closed. */
  readonly repeatable?: boolean;
  /** Ends the call with `cancelled`. */
  readonly signal?: AbortSignal;
  /** Takes the answer's body as it comes. The answer is asked for without a content coding. */
  readonly sinkOf?: SinkOf;
  /** Whether `http://` may be called beyond this machine: what is sent is no secret, and what comes is not trusted. */
  readonly mayBePlain?: boolean;
}

export interface OutboundAnswer extends Answer {
  /** Whether the tenant may see more than its status: it came from a public address of another machine. */
  readonly isShown: boolean;
  /** From the look-up of the name; without the wait for a turn. */
  readonly durationMs: number;
}

export interface Outbound {
  /**
   * Resolves with any answer, those of redirects and errors included, and with the first 64 KB of its body.
   * @throws OutboundError
   * @throws TypeError for a method or header that cannot be sent; its message has no value of a header
   */
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Number of connections, idle ones included. */
  readonly connections: number;
  /** Fails the calls under way with `closed`, and closes every connection. */
  close(): void;
}

export interface OutboundOptions {
  /** For URLs of everybody. */
  readonly rules: OutboundRules;
  readonly clock: Clock;
  readonly timers?: Timers;
  /** Default: `dnsResolve`. */
  readonly resolve?: Resolve;
  /** Certificates of authorities (PEM) that are trusted beside the list that Node carries. */
  readonly ca?: readonly string[];
  /** Calls under way at once in all, and to one origin; each has a connection. Defaults: 256 and 64. */
  readonly maxCalls?: number;
  readonly maxCallsPerOrigin?: number;
  /** Calls that wait for their turn; more are `busy`. Default: 4096. */
  readonly maxWaiting?: number;
  /** Connections that are kept without a call; default 256. */
  readonly maxIdle?: number;
  /** For how long they are kept; default 15 s. */
  readonly idleMs?: number;
}

const TIMEOUT_MS = 10_000;
/** Addresses of one name that a call tries. */
const MAX_DIALS = 4;
/** For one address, if there is another one. */
const CONNECT_MS = 3_000;

export function openOutbound(options: OutboundOptions): Outbound {
  const { rules: ofAll, clock, timers = systemTimers } = options;
  const names = openNames({ rules: ofAll, clock, timers, resolve: options.resolve ?? dnsResolve(clock) });
  const slots = new Slots({
    total: options.maxCalls ?? 256,
    perOrigin: options.maxCallsPerOrigin ?? 64,
    waiting: options.maxWaiting ?? 4096,
  });
  const agent = new CheckedAgent({
    timers,
    ca: options.ca ?? [],
    maxIdle: options.maxIdle ?? 256,
    idleMs: options.idleMs ?? 15_000,
  });
  const live = new Set<AbortController>();
  let isClosed = false;

  /** Runs what ends with `kind` after a time, with `closed`, or with `cancelled` by the caller's signal. */
  async function within<T>(
    ms: number,
    kind: "busy" | "timeout",
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ) {
    const limit = new AbortController();
    const cancel = timers.after(ms, () => limit.abort(new OutboundError(kind)));
    const onAbort = () => limit.abort(new OutboundError("cancelled"));
    signal?.addEventListener("abort", onAbort);
    live.add(limit);
    try {
      if (signal?.aborted === true) throw new OutboundError("cancelled");
      return await run(limit.signal);
    } finally {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      live.delete(limit);
    }
  }

  return {
    async send(request) {
      const timeoutMs = request.timeoutMs ?? TIMEOUT_MS;
      if (isClosed) throw new OutboundError("closed");
      const { rules = ofAll, signal } = request;
      const target = readTarget(request.url, rules, request.mayBePlain);
      if (typeof target === "string") throw new OutboundError("refused_address", { message: target });
      const sent = attemptRequest(target, request);
      const call: Call = { agent, names, rules, target, sent, isRepeatable: request.repeatable ?? false };
      if (!slots.take(target.origin)) {
        await within(timeoutMs, "busy", signal, (ended) => slots.wait(target.origin, ended));
      }
      const startMs = clock.monotonic();
      try {
        if (isClosed) throw new OutboundError("closed");
        const answer = await within(timeoutMs, "timeout", signal, (ended) => answerTo(call, ended));
        return { ...answer, durationMs: clock.monotonic() - startMs };
      } finally {
        slots.release(target.origin);
      }
    },
    get connections() {
      return agent.connections;
    },
    close() {
      isClosed = true;
      for (const limit of live) limit.abort(new OutboundError("closed"));
      agent.destroy();
    },
  };
}

/** What only this file writes: the framing, and what would ask for something that is not understood here. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function attemptRequest(
  target: Target,
  { method, headers = {}, body = "", sinkOf }: OutboundRequest,
): AttemptRequest {
  const bytes = Buffer.byteLength(body);
  const fields = ["host", target.host];
  for (const [name, value] of Object.entries(headers)) {
    if (OWN_FIELDS.has(name.toLowerCase())) throw new TypeError(`The header ${name} is set by the gateway.`);
    fields.push(name, value);
  }
  // CONNECT asks for a tunnel, and the answer to HEAD has no content though it has a length.
  if (method === "CONNECT" || method === "HEAD") throw new TypeError(`The method ${method} is not sent.`);
  if (bytes > 0 || method !== "GET") fields.push("content-length", String(bytes));
  if (sinkOf !== undefined) fields.push("accept-encoding", "identity");
  return { method, path: target.path, headers: fields, body, sinkOf };
}

/** One call, and what it needs. */
interface Call {
  readonly agent: CheckedAgent;
  readonly names: Names;
  readonly rules: OutboundRules;
  readonly target: Target;
  readonly sent: AttemptRequest;
  readonly isRepeatable: boolean;
}

/** Tries the addresses of a target in turn until one can be connected to: until then nothing is sent. */
async function answerTo(call: Call, signal: AbortSignal): Promise<Answer & { readonly isShown: boolean }> {
  const { names, target, rules } = call;
  const all = await orAborted(names.addressesOf(target, rules), signal);
  const isShown = all.every((address) => address.class === "public" && !isOwn(address, rules));
  try {
    return { ...(await firstAnswer(call, all.slice(0, MAX_DIALS), signal)), isShown };
  } catch (error) {
    throw isShown || !(error instanceof OutboundError) ? error : unshown(error);
  }
}

async function firstAnswer(call: Call, addresses: readonly Address[], signal: AbortSignal): Promise<Answer> {
  const { names, target } = call;
  for (const [i, address] of addresses.entries()) {
    const isLast = i === addresses.length - 1;
    const outcome = await dialled(call, address, isLast ? undefined : CONNECT_MS, signal);
    if ("answer" in outcome) return outcome.answer;
    if (outcome.failure.kind !== "connect" || isLast) throw outcome.failure;
    names.demote(target.name, address);
  }
  throw new OutboundError("dns");
}

async function dialled(
  { agent, rules, target, sent, isRepeatable }: Call,
  address: Address,
  connectMs: number | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const { origin, port, isTls, name } = target;
  const dial = (): Dial => ({
    origin,
    address,
    port,
    connectMs,
    phase: "connecting",
    serverName: isTls ? name : undefined,
    isAllowed: () => isAllowed(address, port, rules),
  });
  const first = await attempt(agent, dial(), sent, signal);
  if ("answer" in first || !first.isStale || !isRepeatable) return first;
  // The others that were kept as long are probably closed too: without them this one gets a new connection.
  agent.closeIdle(dial());
  return attempt(agent, dial(), sent, signal);
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
