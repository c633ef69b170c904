/**
 * `npm run bench -- planning`: CPU cost of one call's decision and plan. The real policy, planner and health: 8
 * endpoints with two keys each, all of them measured, and a policy of 20 rules, of which only the last matches.
 */
import { type Random, seededRandom, systemClock } from "../src/base/clock.ts";
import type { Model } from "../src/base/endpoint.ts";
import type { RouteOptions } from "../src/base/route.ts";
import { Health } from "../src/routing/health/health.ts";
import { type CompiledPolicy, compilePolicy, type PolicyFacts } from "../src/routing/language/policy.ts";
import type { PolicyBlock, PolicyDocument } from "../src/routing/language/policy-document.ts";
import type { RouteFacts } from "../src/routing/planner/eligibility.ts";
import { type Plan, plan } from "../src/routing/planner/planner.ts";
import { catalogOf, MODEL } from "./simulation/catalog.ts";

const ENDPOINTS = 8;
const RULES = 20;
/** About as many callers as a gateway has in some minutes, so that calls differ. */
const CALLERS = 1_000;
const ROUNDS = 5;
/** Decision and plan together, microseconds of CPU. */
export const GOAL_US = 10;

export interface PlanningCost {
  readonly name: string;
  /** Microseconds of CPU a call, median of the rounds. */
  readonly decideUs: number;
  readonly planUs: number;
}

interface Case {
  readonly name: string;
  readonly block: PolicyBlock;
  readonly route: RouteOptions;
  /** Callers have an affinity. */
  readonly isAffine: boolean;
}

const ENDPOINT = { ttftMs: 200, spread: 0, tokensPerSecond: 80, keys: 2 };
const endpointId = (i: number): string => `ep_provider-${i}_some-model-name_eu-west-${i}`;

const EVERYTHING: PolicyBlock = {
  weights: { [endpointId(0)]: 5, [endpointId(1)]: 3, [endpointId(2)]: 2 },
  canary: { endpoint: endpointId(3), percent: 10, max_error_rate: 0.1, min_samples: 100 },
  shadow: { endpoint: endpointId(4), percent: 10, bill: "platform" },
  experiment: {
    name: "cheaper",
    arms: [
      { arm: "usual", endpoint: endpointId(0), weight: 1 },
      { arm: "new", endpoint: endpointId(5), weight: 1 },
    ],
  },
};

const CASES: readonly Case[] = [
  { name: "balanced", block: {}, route: {}, isAffine: false },
  { name: "balanced, callers stay", block: {}, route: {}, isAffine: true },
  { name: "latency, callers stay", block: { sort: "latency" }, route: {}, isAffine: true },
  { name: "canary, experiment, weights, shadow", block: EVERYTHING, route: {}, isAffine: false },
  { name: "the same, callers stay", block: EVERYTHING, route: {}, isAffine: true },
  {
    name: "the same, and a route of the request's",
    block: EVERYTHING,
    route: { sort: "price", require: { zdr: true, max_price: { output: 100 } } },
    isAffine: true,
  },
];

/** @param calls per round. Below some thousands, uncompiled code is measured. */
export function measurePlanning(calls: number): PlanningCost[] {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, i) => ({
    ...ENDPOINT,
    id: endpointId(i),
    price: 1 + i / 4,
  }));
  const model = catalogOf(endpoints).resolve(MODEL) as Model;
  const health = new Health(systemClock);
  return CASES.map((given) => {
    // Each case starts with fresh measurements: after a minute they would be stale.
    learn(model, health);
    const policy = compilePolicy(documentOf(given.block), { name: "bench", version: 1 });
    const rounds = Array.from({ length: ROUNDS + 1 }, () => round(given, policy, model, health, calls));
    // The first one warms up.
    const counted = rounds.slice(1);
    return {
      name: given.name,
      decideUs: median(counted.map((each) => each.decideUs)),
      planUs: median(counted.map((each) => each.planUs)),
    };
  });
}

function round(
  { route, isAffine }: Case,
  policy: CompiledPolicy,
  model: Model,
  health: Health,
  calls: number,
): Omit<PlanningCost, "name"> {
  const random: Random = seededRandom(1);
  const call = Array.from({ length: CALLERS }, (_, i) =>
    routeFacts(isAffine ? `session-of-caller-${i}` : ""),
  );
  const decision = policy.decide(FACTS, route);
  let made: Plan | undefined;
  const planUs = cpuUs(calls, (i) => {
    made = plan(call[i % CALLERS] as RouteFacts, model, decision, health, random);
  });
  let decided = decision;
  const decideUs = cpuUs(calls, () => {
    decided = policy.decide(FACTS, route);
  });
  if (made?.attempts.length !== ENDPOINTS || decided.rule !== `rule-${RULES}`) {
    throw new Error("the bench does not measure what it says");
  }
  return { decideUs, planUs };
}

/** User and system time of the whole process: garbage collection is part of an operation's cost. */
function cpuUs(times: number, act: (i: number) => void): number {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) act(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

function learn({ endpoints }: Model, health: Health): void {
  for (const [i, endpoint] of endpoints.entries()) {
    for (let result = 0; result < 5; result++) {
      const lane = health.begin(endpoint, endpoint.provider.keys);
      if (lane === undefined) throw new Error(`${endpoint.id} is out`);
      const seen = { ttftMs: 200 + 20 * i, wholeMs: 2_000, tokensPerSecond: 80 - i };
      health.onResult(lane, { outcome: "ok", errorClass: "", ...seen });
    }
  }
}

/** Rules that all match the model, each rejecting the call by another condition. */
function documentOf(block: PolicyBlock): PolicyDocument {
  const matches = [
    { project: ["search", "mail"] },
    { key: "key_01" },
    { app: ["batch", "nightly"] },
    { tag: ["team=research", "beta"] },
    { tag: { team: "research", env: "prod" } },
    { model: "*/m", images: true },
    { min_input_tokens: 100_000 },
  ];
  const passed = Array.from({ length: RULES - 1 }, (_, i) => ({ match: matches[i % matches.length] ?? {} }));
  return {
    version: 1,
    defaults: { sort: "balanced", require: { no_train: true } },
    // biome-ignore lint/suspicious/noThenProperty: the word of the grammar; nobody awaits a rule
    rules: [...passed, { match: { model: "v/*" }, then: block }],
  };
}

const FACTS: PolicyFacts = {
  modelId: MODEL,
  projectId: "proj_01",
  projectSlug: "shop",
  keyId: "key_02",
  app: "assistant",
  tags: { team: "sales", env: "prod" },
  stream: true,
  hasTools: true,
  hasImages: false,
  inputTokens: 1_000,
};

const routeFacts = (caller: string): RouteFacts => ({
  environment: "live",
  stream: true,
  hasTools: true,
  parallelTools: false,
  hasImages: false,
  hasAudio: false,
  hasSchema: false,
  reasoning: false,
  promptTokens: 1_000,
  maxTokens: 500,
  affinityKey: caller,
  unit: caller,
  isCanaryRed: false,
  orgPolicy: { zdr: false, noTrain: false, regions: [] },
});

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** One line per case, and one on the goal. */
export function planningTable(costs: readonly PlanningCost[]): string {
  const width = Math.max(...costs.map(({ name }) => name.length));
  const cells = [["decide", "plan", "both"], ...costs.map((c) => figures(c).map((us) => us.toFixed(2)))];
  const names = ["CPU µs a call", ...costs.map(({ name }) => name)];
  const lines = names.map((name, i) =>
    [name.padEnd(width), ...(cells[i] ?? []).map((cell) => cell.padStart(6))].join("  "),
  );
  const most = Math.max(...costs.map(({ decideUs, planUs }) => decideUs + planUs));
  const verdict = most <= GOAL_US ? "met" : `missed by ${(most - GOAL_US).toFixed(2)} µs`;
  const about = `${ENDPOINTS} endpoints, health known of all, ${RULES} rules of which the last fits; median of ${ROUNDS} rounds`;
  return [about, "", ...lines, "", `goal, both: ${GOAL_US} µs: ${verdict}`].join("\n");
}

const figures = ({ decideUs, planUs }: PlanningCost): number[] => [decideUs, planUs, decideUs + planUs];
