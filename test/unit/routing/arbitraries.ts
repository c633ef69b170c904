/** Random models, calls, healths, policies and routes: every feature of routing is on in some, and off in others. */
import fc from "fast-check";
import { seededRandom } from "../../../src/base/clock.ts";
import type { Endpoint } from "../../../src/base/endpoint.ts";
import { AFFINITIES, type RouteOptions, SORTS } from "../../../src/base/route.ts";
import type { EndpointHealth, HealthView } from "../../../src/routing/health/health.ts";
import { compilePolicy, decideAlone } from "../../../src/routing/language/policy.ts";
import type { PolicyBlock } from "../../../src/routing/language/policy-document.ts";
import type { Decision } from "../../../src/routing/planner/decision.ts";
import type { RouteFacts } from "../../../src/routing/planner/eligibility.ts";
import { type Plan, plan } from "../../../src/routing/planner/planner.ts";
import { endpoint, facts, health, model } from "../../support/routing/fixtures.ts";

const ENDPOINT_IDS = ["e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7"] as const;
const REGIONS = ["eu", "us", "in"] as const;

const endpointId = fc.constantFrom(...ENDPOINT_IDS);
const named = fc.constantFrom(...ENDPOINT_IDS, ...ENDPOINT_IDS.map((id) => `p-${id}`), "unknown");
const percent = fc.constantFrom(0, 1, 50, 100);
const weight = fc.oneof(fc.constantFrom(0, 1, Number.MIN_VALUE, 1_000_000), fc.integer({ min: 0, max: 100 }));
const usd = fc.integer({ min: 0, max: 1_000 }).map((cents) => cents / 100);
/** So that most endpoints may serve most calls, and a plan has something to order. */
const rarely = fc.constantFrom(false, false, false, false, true);
const mostly = rarely.map((is) => !is);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** One to eight endpoints, e0 to e7, by id. */
export const catalogs: fc.Arbitrary<Endpoint[]> = fc
  .array(
    fc.record({
      input: fc.integer({ min: 0, max: 2000 }),
      output: fc.integer({ min: 0, max: 8000 }),
      contextLength: fc.constantFrom(1_000, 20_000, 100_000, 100_000, 100_000),
      region: fc.constantFrom(...REGIONS),
      zdr: mostly,
      trains: rarely,
      tools: mostly,
      vision: mostly,
    }),
    { minLength: 1, maxLength: 8, size: "max" },
  )
  .map((all) =>
    all.map(({ zdr, trains, tools, vision, ...rest }, i) =>
      endpoint(`e${i}`, {
        ...rest,
        capabilities: { tools, vision },
        dataPolicy: { trains, retentionDays: 0, zdr },
      }),
    ),
  );

export const calls: fc.Arbitrary<RouteFacts> = fc
  .record({
    stream: fc.boolean(),
    hasTools: rarely,
    hasImages: rarely,
    promptTokens: fc.nat(12_000),
    maxTokens: maybe(fc.integer({ min: 1, max: 2_000 })),
    preferred: maybe(endpointId),
    affinityKey: fc.constantFrom("", "user-1", "user-2", "user-3"),
    unit: fc.constantFrom("", "unit-1", "unit-2", "unit-3"),
    isCanaryRed: rarely,
    orgPolicy: fc.record({
      zdr: rarely,
      noTrain: rarely,
      regions: fc.oneof(fc.constant([]), fc.constant([]), fc.subarray([...REGIONS])),
    }),
  })
  .map(facts);

const measured: fc.Arbitrary<Partial<EndpointHealth>> = fc.record({
  outForMs: fc.constantFrom(0, 0, 0, 700.2),
  isRefused: fc.boolean(),
  errorRate: fc.double({ min: 0, max: 1, noNaN: true }),
  failing: rarely,
  isFull: rarely,
  isBeingMeasured: fc.boolean(),
  wholeMs: maybe(fc.integer({ min: 0, max: 60_000 })),
  ttftMs: maybe(fc.integer({ min: 0, max: 5_000 })),
  tokensPerSecond: maybe(fc.integer({ min: 1, max: 500 })),
});

/** Nothing is known of some endpoints. */
export const views: fc.Arbitrary<HealthView> = fc
  .dictionary(endpointId, measured, { noNullPrototype: true })
  .map(health);

export const requirements = fc.record(
  {
    zdr: fc.boolean(),
    no_train: fc.boolean(),
    regions: fc.subarray([...REGIONS], { minLength: 1 }),
    max_price: fc.record({ input: usd, output: usd }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

const order = fc.uniqueArray(named, { maxLength: 4 });

/** What only says where a call goes first, and what is copied: it never leaves an endpoint out. */
export const preferences: fc.Arbitrary<PolicyBlock> = fc.record(
  {
    order,
    weights: fc.dictionary(endpointId, weight, { noNullPrototype: true }),
    canary: fc.record({
      endpoint: endpointId,
      percent,
      max_error_rate: fc.constant(0.1),
      min_samples: fc.constant(10),
    }),
    shadow: fc.record({ endpoint: endpointId, percent, bill: fc.constantFrom("platform", "org") }),
    experiment: fc.record({
      name: fc.constantFrom("x", "y"),
      arms: fc
        .array(fc.record({ endpoint: endpointId, weight }), { minLength: 2, maxLength: 4 })
        .map((arms) => arms.map((arm, i) => ({ arm: `arm-${i}`, ...arm }))),
    }),
  },
  { requiredKeys: [] },
);

const manners = fc.record(
  {
    sort: fc.constantFrom(...SORTS),
    affinity: fc.constantFrom(...AFFINITIES),
    fallbacks: mostly,
    max_attempts: fc.integer({ min: 1, max: 8 }),
  },
  { requiredKeys: [] },
);

const limits = fc.record(
  {
    only: fc.uniqueArray(named, { minLength: 8, maxLength: 17 }),
    ignore: fc.uniqueArray(named, { maxLength: 3 }),
    require: requirements,
  },
  { requiredKeys: [] },
);
const someLimits = fc.oneof(fc.constant({}), fc.constant({}), fc.constant({}), limits);

export const blocks: fc.Arbitrary<PolicyBlock> = fc
  .tuple(preferences, manners, someLimits)
  .map(([wishes, manner, limit]) => ({ ...wishes, ...manner, ...limit }));

export const routes: fc.Arbitrary<RouteOptions> = fc
  .tuple(manners, someLimits, fc.option(order, { freq: 2 }))
  .map(([manner, limit, asked]) => ({ ...manner, ...limit, ...(asked && { order: asked }) }));

/** Everything that a plan is made of. */
export interface Case {
  readonly all: readonly Endpoint[];
  readonly call: RouteFacts;
  /** Undefined: no policy is in force. */
  readonly block: PolicyBlock | undefined;
  readonly route: RouteOptions;
  readonly view: HealthView;
  readonly seed: number;
}

export const cases: fc.Arbitrary<Case> = fc.record({
  all: catalogs,
  call: calls,
  block: maybe(blocks),
  route: fc.oneof(fc.constant({}), fc.constant({}), routes),
  view: views,
  seed: fc.integer(),
});

const ANY_CALL = {
  modelId: "v/m",
  projectId: "",
  projectSlug: "",
  keyId: "",
  app: "",
  tags: {},
  stream: false,
  hasTools: false,
  hasImages: false,
  inputTokens: 0,
};

/** As a policy with these defaults decides, together with a request. */
export function decided(block: PolicyBlock | undefined, route: RouteOptions = {}): Decision {
  if (block === undefined) return decideAlone(route);
  return compilePolicy({ version: 1, defaults: block }, { name: "p", version: 1 }).decide(ANY_CALL, route);
}

export const planned = ({ all, call, block, route, view, seed }: Case): Plan =>
  plan(call, model(...all), decided(block, route), view, seededRandom(seed));

export const attemptIds = (made: Plan): string[] => made.attempts.map((e) => e.id);
