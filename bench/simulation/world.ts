/**
 * A world of one model: its endpoints live in virtual time, everything between them and the caller is the product's own: planner,
 * health, lanes, attempts, relays. Thousands of calls arrive at random; what became of each is kept.
 */
import type { KeyContext } from "../../src/account/keyring.ts";
import { type Random, seededRandom } from "../../src/clock.ts";
import type { Endpoint, Model, Provider } from "../../src/endpoint.ts";
import { type AttemptDeps, Attempts } from "../../src/exchange/attempts.ts";
import { Call, type ClientReply, type Incoming, type Reserved } from "../../src/exchange/call.ts";
import type { Outcome } from "../../src/exchange/outcome.ts";
import { openLimits } from "../../src/limits/limits.ts";
import { platformKey } from "../../src/provider-key.ts";
import { type Decision, USUAL } from "../../src/routing/decision.ts";
import { Health } from "../../src/routing/health.ts";
import { plan } from "../../src/routing/planner.ts";
import { chatFormat } from "../../src/wire/chat/format.ts";
import { type Behaviour, type Served, SimulatedUpstreams } from "./upstream.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface SimulatedEndpoint extends Behaviour {
  readonly id: string;
  /** USD per million tokens, input and output alike. */
  readonly price: number;
  /** Size of the credential pool; one unless given. */
  readonly keys?: number;
}

export interface World {
  readonly seed: number;
  readonly endpoints: readonly SimulatedEndpoint[];
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly decision: Partial<Decision>;
}

export interface Called {
  /** Virtual seconds at its arrival. */
  readonly atS: number;
  readonly isOk: boolean;
  /** Who answered; empty where nobody did. */
  readonly endpointId: string;
  /** 0 where no content came. */
  readonly ttftMs: number;
  readonly attempts: number;
}

export interface Seen {
  readonly calls: readonly Called[];
  readonly served: ReadonlyMap<string, Served>;
}

const TICK_MS = 1000;
const TIMEOUTS = { firstByteMs: 20_000, stallMs: 10_000, totalMs: 60_000, drainMs: 1, keepAliveMs: 0 };
const BOUNDS = { maxEventBytes: 1e6, maxReplyBytes: 1e6, maxPayloadBytes: 0, extendTokens: 1000 };

/** Runs all calls to their end. */
export async function run(world: World): Promise<Seen> {
  const time = new VirtualTime();
  const random = seededRandom(world.seed);
  const upstreams = new SimulatedUpstreams(time, random, new Map(world.endpoints.map((e) => [e.id, e])));
  const health = new Health(time);
  const model = modelOf(world.endpoints);
  const deps = {
    clock: time,
    timers: time,
    health,
    upstreams,
    limits: openLimits({ clock: time }),
    bodies: { write: () => ({ parts: [], dropped: [] }) },
    bounds: BOUNDS,
    timeouts: TIMEOUTS,
    beginDrain: () => false,
    endDrain() {},
    onFault(error: unknown) {
      throw error;
    },
  } as unknown as AttemptDeps;
  const live = new Set<Attempts>();
  const calls: Called[] = [];
  const call = (number: number) => {
    const { call, reserved } = begin(time, random, health, model, world.decision, number);
    const done = (outcome: Outcome) => {
      live.delete(attempts);
      calls.push(seenOf(call, outcome));
    };
    const attempts = new Attempts(deps, reserved, done);
    live.add(attempts);
    attempts.run();
  };
  arrivals(world, random, time, call);
  const tick = () => {
    for (const attempts of [...live]) attempts.tick(time.monotonic());
    if (live.size > 0 || calls.length < world.requests) time.after(TICK_MS, tick);
  };
  tick();
  await time.run();
  return { calls: calls.sort((a, b) => a.atS - b.atS), served: upstreams.served };
}

/** A Poisson process: gaps between arrivals are exponential. */
function arrivals(world: World, random: Random, time: VirtualTime, call: (number: number) => void): void {
  let atMs = 0;
  for (let number = 0; number < world.requests; number++) {
    atMs += (-Math.log(1 - random()) * 1000) / world.requestsPerSecond;
    time.after(atMs, () => call(number));
  }
}

function begin(
  time: VirtualTime,
  random: Random,
  health: Health,
  model: Model,
  decision: Partial<Decision>,
  number: number,
): { call: Call; reserved: Reserved } {
  const incoming = {
    requestId: String(number),
    tsMs: time.now(),
    startMs: time.monotonic(),
    format: chatFormat,
    key: KEY,
    body: REQUEST.bytes,
    passing: {},
    reply: NOBODY,
  } as unknown as Incoming;
  const call = new Call(incoming);
  call.request = REQUEST;
  call.model = model;
  const made = plan(FACTS, model, { ...USUAL, ...decision }, health, random);
  call.plan = made;
  const reservation = { credit: undefined, budget: undefined, inputTokens: 1e9, outputTokens: 1e9 };
  return { call, reserved: { call, request: REQUEST, model, plan: made, reservation } };
}

const seenOf = (call: Call, { kind }: Outcome): Called => ({
  atS: call.incoming.startMs / 1000,
  isOk: kind === "streamed",
  endpointId: kind === "streamed" ? (call.endpoint?.id ?? "") : "",
  ttftMs: call.firstSentMs === 0 ? 0 : call.firstSentMs - call.incoming.startMs,
  attempts: call.attempts.length,
});

const REQUEST = chatFormat.read(
  Buffer.from(
    JSON.stringify({
      model: "v/m",
      stream: true,
      max_tokens: 100,
      messages: [{ role: "user", content: "Hello" }],
    }),
  ),
);

const FACTS = {
  ...REQUEST.facts,
  promptTokens: 100,
  environment: "live" as const,
  orgPolicy: { zdr: false, noTrain: false, regions: [] },
  reasoning: false,
  stickTo: "",
  unit: "",
  isCanaryRed: false,
};

const KEY = {
  keyId: "key",
  limits: { rpm: 0, tpm: 0, concurrency: 0 },
  onDisconnect: "cancel",
} as unknown as KeyContext;

/** Takes everything at once and never leaves. */
const NOBODY: ClientReply = {
  gone: false,
  send() {},
  openStream() {},
  write: () => true,
  end() {},
  abort() {},
  onDrain() {},
  onGone() {},
};

const ABILITIES = ["tools", "parallelTools", "jsonSchema", "vision", "audio", "reasoning", "cache"] as const;

function modelOf(endpoints: readonly SimulatedEndpoint[]): Model {
  const context = { contextLength: 100_000, maxOutput: 4000 };
  return {
    ...{ id: "v/m", vendor: "v", name: "M", task: "generate", tokenizer: "", status: "active" },
    ...{ markupBps: 0, released: "", modalitiesIn: ["text"], modalitiesOut: ["text"], ...context },
    endpoints: endpoints.map((given) => {
      const prices = { version: "pv", input: given.price * 1000, output: given.price * 1000 };
      const dataPolicy = { trains: false, retentionDays: 0, zdr: true };
      return {
        ...{ id: given.id, model: "v/m", provider: providerOf(given), dialects: ["chat"], task: "generate" },
        ...{
          upstreamModel: "m",
          region: "here",
          status: "active",
          quantization: "",
          ...context,
          imageTokens: 0,
        },
        ...{ modalitiesIn: ["text"], prices, listPrices: prices, markupBps: 0, dataPolicy },
        capabilities: Object.fromEntries(ABILITIES.map((name) => [name, true])),
      } as unknown as Endpoint;
    }),
  } as Model;
}

const providerOf = ({ id, keys = 1 }: SimulatedEndpoint): Provider =>
  ({
    id: `provider-of-${id}`,
    status: "active",
    simulated: false,
    keys: Array.from({ length: keys }, (_, at) => platformKey(id, at + 1, undefined)),
    quirks: { streamUsage: true, maxTokensField: "either", billsAfterDisconnect: false },
  }) as unknown as Provider;
