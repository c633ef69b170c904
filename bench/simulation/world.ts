/**
 * A simulated world with one model: its endpoints live in virtual time, everything between them and the client is the
 * product's own code: policy, planner, health, lanes, attempts, relays, metering, canary judge. Thousands of calls
 * arrive at random; their results are recorded.
 */
import type { KeyContext } from "../../src/account/keyring.ts";
import { type Random, seededRandom } from "../../src/base/clock.ts";
import { WeirError } from "../../src/base/errors.ts";
import { openLimits } from "../../src/credits/limits/limits.ts";
import { type AttemptDeps, Attempts } from "../../src/inference/exchange/attempts.ts";
import { Call, type Incoming, type ReadCall } from "../../src/inference/exchange/call.ts";
import { meter } from "../../src/inference/exchange/meter.ts";
import type { Outcome } from "../../src/inference/exchange/outcome.ts";
import { type PlanDeps, planCall, reportCanaryResult } from "../../src/inference/exchange/plan.ts";
import { NO_CLIENT } from "../../src/inference/exchange/shadow/shadow-copy.ts";
import { Health } from "../../src/routing/health/health.ts";
import { type ActivePolicy, compilePolicy } from "../../src/routing/language/policy.ts";
import type { PolicyBlock } from "../../src/routing/language/policy-document.ts";
import { Canaries } from "../../src/routing/policies/canary/canary.ts";
import type { PolicyTables } from "../../src/routing/policies/policy-tables.ts";
import { chatFormat } from "../../src/wire/chat/format.ts";
import type { ClientRequest } from "../../src/wire/format.ts";
import { catalogOf, MODEL, type SimulatedEndpoint } from "./catalog.ts";
import { type Sent, SimulatedUpstreams } from "./upstream.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface World {
  readonly seed: number;
  readonly endpoints: readonly SimulatedEndpoint[];
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** The policy for every call. */
  readonly policy: PolicyBlock;
  /** Calls are not streamed. */
  readonly isWhole?: boolean;
  /** Number of sessions among which calls are divided at random; default: calls without session. */
  readonly sessions?: number;
  /** Number of calls that arrive at once, before all others. */
  readonly atOnce?: number;
}

export interface Called {
  /** Virtual seconds at its arrival. */
  readonly atS: number;
  readonly isOk: boolean;
  /** The endpoint that answered; empty without an answer. */
  readonly endpointId: string;
  readonly keyId: string;
  /** To the first token, of a whole answer to its end; 0 where nothing came. */
  readonly ttftMs: number;
  readonly session: number;
  /** It was in a canary's share. */
  readonly isCanary: boolean;
  /** The charge to the caller. */
  readonly costMicroUsd: number;
}

export interface Seen {
  /** In order of arrival. */
  readonly calls: readonly Called[];
  readonly sent: readonly Sent[];
  /** Virtual seconds at which a canary turned red. */
  readonly redAtS: number | undefined;
}

const TICK_MS = 1000;
/** The gateway's defaults. */
const TIMEOUTS = { firstByteMs: 300_000, stallMs: 30_000, totalMs: 900_000, drainMs: 1, keepAliveMs: 0 };
const BOUNDS = { maxEventBytes: 1e6, maxReplyBytes: 1e6, maxPayloadBytes: 0, extendTokens: 1000 };

/** Runs all calls to their end. */
export async function run(world: World): Promise<Seen> {
  const time = new VirtualTime();
  // A separate generator, so that every policy gets the same calls.
  const arriving = seededRandom(world.seed);
  const upstreams = new SimulatedUpstreams(
    time,
    seededRandom(world.seed + 1),
    new Map(world.endpoints.map((e) => [e.id, e])),
  );
  const trial = trialIn(time, world.policy);
  const health = new Health(time);
  const planning = planDeps(world, health, trial.policy, seededRandom(world.seed + 2));
  const attempting = attemptDeps(time, health, upstreams);
  const live = new Set<Attempts>();
  const calls: Called[] = [];
  const begin = (session: number) => {
    const call = newCall(time, world.isWhole === true, session);
    const done = (outcome: Outcome) => {
      reportCanaryResult(call);
      calls.push(seenOf(call, outcome, time.monotonic(), session));
    };
    let attempts: Attempts;
    try {
      const planned = planCall(planning, call.withAdmission(ADMITTED));
      if (planned instanceof Promise) throw new Error("a prompt of this size is not counted");
      attempts = new Attempts(attempting, planned.withReservation(UNHELD), (outcome) => {
        live.delete(attempts);
        done(outcome);
      });
    } catch (error) {
      if (!(error instanceof WeirError)) throw error;
      done({ kind: "refused", error });
      return;
    }
    live.add(attempts);
    attempts.run();
  };
  arrivals(world, arriving, time, begin);
  const tick = () => {
    for (const attempts of [...live]) attempts.tick(time.monotonic());
    if (live.size > 0 || calls.length < world.requests) time.after(TICK_MS, tick);
  };
  tick();
  await time.run();
  return { calls: calls.sort((a, b) => a.atS - b.atS), sent: upstreams.sent, redAtS: trial.redAtS() };
}

/** A Poisson process: gaps between arrivals are exponential. */
function arrivals(
  { requests, requestsPerSecond, atOnce = 0, sessions = 0 }: World,
  random: Random,
  time: VirtualTime,
  begin: (session: number) => void,
): void {
  let atMs = 0;
  for (let number = 0; number < requests; number++) {
    if (number >= atOnce) atMs += (-Math.log(1 - random()) * 1000) / requestsPerSecond;
    const session = sessions === 0 ? NO_SESSION : Math.floor(random() * sessions);
    time.after(atMs, () => begin(session));
  }
}

/** The active policy, with the product's canary judge; results are not stored. */
function trialIn(time: VirtualTime, block: PolicyBlock) {
  let redAtS: number | undefined;
  const canaries = new Canaries({
    tables: { canary: () => undefined, addToCanary: async () => {} } as unknown as PolicyTables,
    clock: time,
    onCanaryRed: () => {
      redAtS = time.monotonic() / 1000;
    },
    putCanaryRed() {},
    onFailure(error) {
      throw error;
    },
  });
  const version = { name: "simulated", version: 1 };
  const compiled = compilePolicy({ version: 1, defaults: block }, version);
  const { canary } = compiled.decide(NOBODYS_FACTS, {});
  const trial = canary && canaries.trial({ orgId: "org", policy: version.name, version: 1 }, canary);
  const policy: ActivePolicy = {
    compiled,
    canaryState: () => trial?.state ?? "warming",
    canaryResult: (_endpointId, failed) => trial?.result(failed),
  };
  return { policy, redAtS: () => redAtS };
}

function planDeps(world: World, health: Health, policy: ActivePolicy, random: Random): PlanDeps {
  const catalog = catalogOf(world.endpoints);
  return {
    health,
    random,
    catalog: { current: () => catalog },
    policies: { of: () => policy },
    ownKeys: { of: () => undefined },
    bodies: {},
  } as unknown as PlanDeps;
}

const attemptDeps = (time: VirtualTime, health: Health, upstreams: SimulatedUpstreams): AttemptDeps =>
  ({
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
    firstContent() {},
    onFault(error: unknown) {
      throw error;
    },
  }) as unknown as AttemptDeps;

function newCall(time: VirtualTime, isWhole: boolean, session: number): ReadCall {
  const request = requestOf(isWhole, session);
  const call = new Call({
    requestId: "",
    tsMs: time.now(),
    startMs: time.monotonic(),
    format: chatFormat,
    key: KEY,
    body: request.bytes,
    passing: {},
    reply: NO_CLIENT,
  } as unknown as Incoming);
  return call.withRequest(request);
}

function seenOf(call: Call, outcome: Outcome, nowMs: number, session: number): Called {
  const { startMs } = call.incoming;
  const stream = outcome.kind === "streamed" ? outcome.stream.facts : undefined;
  const facts = outcome.kind === "whole" ? outcome.answer.facts : stream;
  const firstMs = stream === undefined ? nowMs : call.firstSentMs;
  const isOk = facts !== undefined;
  return {
    atS: startMs / 1000,
    isOk,
    endpointId: isOk ? (call.endpoint?.id ?? "") : "",
    keyId: isOk ? (call.lane?.key.id ?? "") : "",
    ttftMs: isOk ? firstMs - startMs : 0,
    session,
    isCanary: (call.plan?.canary ?? "") !== "",
    costMicroUsd: meter(call.request?.facts, call.endpoint, facts).cost.total_micro_usd,
  };
}

const NO_SESSION = -1;
const requests = new Map<string, ClientRequest>();

/** Parsed once per session, as the product would parse it. */
function requestOf(isWhole: boolean, session: number): ClientRequest {
  const id = `${isWhole} ${session}`;
  let request = requests.get(id);
  if (request === undefined) {
    const body = {
      model: MODEL,
      stream: !isWhole,
      max_tokens: 100,
      messages: [{ role: "user", content: "Hello. ".repeat(55) }],
      ...(session !== NO_SESSION && { svc: { metadata: { session_id: `session-${session}` } } }),
    };
    request = chatFormat.read(Buffer.from(JSON.stringify(body)));
    requests.set(id, request);
  }
  return request;
}

/** No limits in this world, and no credit. */
const ADMITTED = { admitted: true, release() {} } as const;
const UNHELD = { holds: undefined, inputTokens: 1e9, outputTokens: 1e9 };

const NOBODYS_FACTS = {
  modelId: MODEL,
  projectId: "",
  projectSlug: "",
  keyId: "",
  app: "",
  tags: {},
  stream: true,
  hasTools: false,
  hasImages: false,
  inputTokens: 0,
};

const KEY = {
  keyId: "key",
  orgId: "org",
  projectId: "project",
  projectSlug: "project",
  environment: "live",
  dataPolicy: { zdr: false, noTrain: false, regions: [] },
  limits: { rpm: 0, tpm: 0, concurrency: 0 },
  onDisconnect: "cancel",
} as unknown as KeyContext;
