/**
 * Replays: runs a policy version over an org's recorded requests, newest first, page by page, in a worker thread.
 * Bounded in number, rows and time; whatever happens, the thread ends with the replay.
 */

import { type Clock, nextTurn } from "../../../base/clock.ts";
import type { Endpoint, Model } from "../../../base/endpoint.ts";
import { fail } from "../../../base/errors.ts";
import { incompleteSince, type MayLackCalls } from "../../../base/operation/incomplete-since.ts";
import { HOUR_MS } from "../../../base/time.ts";
import type { PolicyDocument } from "../../language/policy-document.ts";
import type { PolicyReading, ReadingOptions } from "../../language/policy-reading.ts";
import type { RouteFacts } from "../../planner/eligibility.ts";
import { REPLAY_COLUMNS } from "./replay-calls.ts";
import type { ReplayReport } from "./replay-report.ts";
import type { EndpointFigures } from "./replay-run.ts";
import { ReplayThread } from "./replay-worker.ts";

/** Requests of an org, or of one of its projects: `fromMs` to before `untilMs`, milliseconds since 1970. */
interface TrafficWindow {
  readonly orgId: string;
  readonly projectId: string | undefined;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface TrafficSummary extends MayLackCalls {
  readonly requests: number;
  readonly figures: readonly EndpointFigures[];
}

/** Port: the recorded requests. @throws WeirError `analytics_unavailable` */
interface Traffic {
  /** Waits for what was recorded so far, for a moment. */
  summary(window: TrafficWindow): Promise<TrafficSummary>;
  /**
   * Columns of `requests` as RowBinary, newest first and after the given position, in buffers that can be transferred.
   */
  page(
    window: TrafficWindow,
    columns: readonly string[],
    after: { readonly tsMs: number; readonly requestId: string } | undefined,
    limit: number,
  ): Promise<readonly Uint8Array<ArrayBuffer>[]>;
}

export interface ReplayDeps {
  readonly traffic: Traffic;
  /** Port: reads a version's text. Not in a replay's thread, which would load the reader's libraries each time. */
  readonly readPolicy: (text: string, options: ReadingOptions) => Promise<PolicyReading>;
  /** Models that the org's calls may name, with the endpoints they may reach. */
  readonly modelsOf: (orgId: string) => Iterable<Model>;
  /** Project id → slug: rules may name either. */
  readonly projectSlugs: (orgId: string) => Iterable<readonly [projectId: string, slug: string]>;
  readonly clock: Clock;
  /** Set by tests. */
  readonly bounds?: Partial<ReplayBounds>;
}

interface ReplayBounds {
  readonly maxCalls: number;
  readonly pageCalls: number;
  readonly timeoutMs: number;
  /** Concurrent replays over all orgs; an org has at most one. */
  readonly maxReplays: number;
}

export interface ReplayRequest {
  readonly orgId: string;
  readonly dataPolicy: RouteFacts["orgPolicy"];
  readonly yaml: string;
  readonly name: string;
  readonly version: number;
  readonly hours: number;
  readonly projectId?: string | undefined;
}

export interface Replays {
  /**
   * @throws WeirError `concurrency` while a replay of the org, or the maximum number of replays, is running; `state`
   *   where the version is not valid any more; `analytics_unavailable`, also on a timeout; `shutting_down`.
   */
  replay(request: ReplayRequest): Promise<ReplayReport>;
  /** Ends running replays. */
  close(): Promise<void>;
}

const USUAL_BOUNDS: ReplayBounds = {
  maxCalls: 1_000_000,
  pageCalls: 50_000,
  timeoutMs: 60_000,
  maxReplays: 2,
};
const RETRY_AFTER_MS = 2000;
/** Models cloned per turn of the event loop. */
const MODELS_A_TURN = 8;

export function openReplays(deps: ReplayDeps): Replays {
  const bounds = { ...USUAL_BOUNDS, ...deps.bounds };
  const underWay = new Map<string, ReplayThread>();
  let closed = false;

  async function replay(request: ReplayRequest): Promise<ReplayReport> {
    if (closed) throw fail("shutting_down", "The gateway is stopping.");
    if (underWay.has(request.orgId)) throw busy("A replay of this organization is under way.");
    if (underWay.size >= bounds.maxReplays) throw busy("As many replays as may run at once are under way.");
    // No await between the check and the entry.
    const thread = new ReplayThread();
    underWay.set(request.orgId, thread);
    const deadline = setTimeout(() => thread.end(tooLong(bounds.timeoutMs)), bounds.timeoutMs);
    try {
      return await Promise.race([run(deps, bounds, thread, request), thread.failure]);
    } finally {
      clearTimeout(deadline);
      await thread.end();
      underWay.delete(request.orgId);
    }
  }

  return {
    replay,
    async close() {
      closed = true;
      const stopping = fail("shutting_down", "The gateway is stopping.");
      await Promise.all([...underWay.values()].map((thread) => thread.end(stopping)));
    },
  };
}

const busy = (message: string) => fail("concurrency", message, { retryAfterMs: RETRY_AFTER_MS });

const tooLong = (timeoutMs: number) =>
  fail(
    "analytics_unavailable",
    `The replay took longer than ${timeoutMs / 1000} s and was given up. Ask for fewer hours.`,
    { param: "/replay/hours" },
  );

async function run(
  { traffic, readPolicy, modelsOf, projectSlugs, clock }: ReplayDeps,
  { maxCalls, pageCalls }: ReplayBounds,
  thread: ReplayThread,
  request: ReplayRequest,
): Promise<ReplayReport> {
  const { orgId, projectId, hours, name, version, dataPolicy } = request;
  const untilMs = clock.now();
  const window: TrafficWindow = { orgId, projectId, fromMs: untilMs - hours * HOUR_MS, untilMs };
  const [{ requests, figures, missingSinceMs }, document] = await Promise.all([
    traffic.summary(window),
    documentOf(request, readPolicy),
    sendModels(thread, modelsOf(orgId)),
  ]);
  await thread.ask({
    kind: "begin",
    document,
    name,
    version,
    figures,
    dataPolicy: { zdr: dataPolicy.zdr, noTrain: dataPolicy.noTrain, regions: [...dataPolicy.regions] },
    slugs: [...projectSlugs(orgId)],
  });
  let after: { tsMs: number; requestId: string } | undefined;
  let left = maxCalls;
  while (left > 0) {
    const limit = Math.min(left, pageCalls);
    const pieces = await traffic.page(window, REPLAY_COLUMNS, after, limit);
    const read = await thread.ask(
      { kind: "calls", pieces },
      pieces.map(({ buffer }) => buffer),
    );
    if (read.kind !== "read") throw new Error(`the thread answered ${read.kind}`);
    left -= read.calls;
    after = read.last;
    if (read.calls < limit) break;
  }
  const last = await thread.ask({ kind: "report" });
  if (last.kind !== "report") throw new Error(`the thread answered ${last.kind}`);
  const truncated = left === 0 && requests > maxCalls;
  const missing = incompleteSince(missingSinceMs);
  return { hours, version, ...last.report, truncated, ...missing, assumptions: ASSUMPTIONS };
}

/** @throws WeirError `state` where the version is not valid any more */
async function documentOf(
  { yaml, name, version }: ReplayRequest,
  readPolicy: ReplayDeps["readPolicy"],
): Promise<PolicyDocument> {
  const read = await readPolicy(yaml, { name });
  if (read.ok) return read.document;
  const [problem] = read.problems;
  const where = `line ${problem?.line ?? 1}: ${problem?.message ?? "it is empty"}`;
  throw fail("state", `Version ${version} of ${name} cannot be read: ${where}`);
}

/** A few at a time, so that no turn of the event loop is long. */
async function sendModels(thread: ReplayThread, models: Iterable<Model>): Promise<void> {
  let part: Model[] = [];
  for (const model of models) {
    part.push(withoutSecrets(model));
    if (part.length < MODELS_A_TURN) continue;
    await thread.ask({ kind: "models", models: part });
    part = [];
    await nextTurn();
  }
  if (part.length > 0) await thread.ask({ kind: "models", models: part });
}

/** Only what planning and pricing need: a provider's address, headers and keys are not sent to the thread. */
const withoutSecrets = (model: Model): Model => ({ ...model, endpoints: model.endpoints.map(bareEndpoint) });

const bareEndpoint = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  provider: {
    id: endpoint.provider.id,
    name: endpoint.provider.name,
    status: endpoint.provider.status,
    simulated: endpoint.provider.simulated,
    dataPolicy: endpoint.provider.dataPolicy,
    regions: endpoint.provider.regions,
    quirks: endpoint.provider.quirks,
    baseUrl: "",
    dialects: [],
    credentialEnv: [],
    keys: [],
  },
});

const ASSUMPTIONS: readonly string[] & string[] = [
  "Prices, endpoints and the data policy are today's. A request that stays where it was costs what it cost, unless its endpoint's prices changed since: how many did is told.",
  "A request that moves costs its recorded usage at the new endpoint, as charged by the platform. Tokens that were read from or written to a cache are priced as plain input there, since the new endpoint's cache does not know the prompt; images that were not billed one by one then are not now.",
  "Another endpoint answers with as many tokens. A request that failed, or was refused, used nothing and costs nothing. Money counts live requests that were charged, as usage does.",
  "The first token of a request that moves is expected after the median of that endpoint over the same hours, of streamed or of whole answers as the request was; where there is none, after its median of 30 days (streams only). A request that stays keeps what was recorded.",
  "Endpoints are as healthy as over these hours on the whole: none is saturated, none that was not measured is tried to find out, and canaries have not been judged. An endpoint that failed a request then fails it again, and the next one serves it.",
  "Draws (balanced, weights, canary and experiment shares) are made from the request's id, so that a replay can be repeated; a single request may be drawn differently from a live one. Conversations are not held at the endpoint that began them, and affinity by prompt is drawn like none.",
  "The prompt's size is the recorded count of tokens; where nothing was counted, a quarter of the body's bytes.",
];
