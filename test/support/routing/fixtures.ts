/** Providers, endpoints, models and calls for the routing tests: everything allowed unless a test says otherwise. */
import { seededRandom } from "../../../src/base/clock.ts";
import type { Endpoint, Model, Provider } from "../../../src/base/endpoint.ts";
import { ownKey, platformKey } from "../../../src/base/provider-key.ts";
import type { RouteOptions } from "../../../src/base/route.ts";
import type { EndpointHealth, HealthView, OwnPools } from "../../../src/routing/health/health.ts";
import { decideAlone } from "../../../src/routing/language/policy.ts";
import type { RouteFacts } from "../../../src/routing/planner/eligibility.ts";
import { plan } from "../../../src/routing/planner/planner.ts";

export const provider = (id: string, simulated = false): Provider => ({
  id,
  name: id,
  baseUrl: "http://127.0.0.1:9/v1",
  dialects: ["chat"],
  credentialEnv: [],
  keys: [platformKey(id, 1, undefined)],
  simulated,
  dataPolicy: { trains: false, retentionDays: 0, zdr: true },
  regions: ["eu"],
  status: "active",
  quirks: { streamUsage: true, maxTokensField: "either", billsAfterDisconnect: false },
});

const EVERYTHING = {
  tools: true,
  parallelTools: true,
  jsonSchema: true,
  vision: true,
  audio: true,
  reasoning: true,
  cache: true,
};

export interface Given extends Partial<Omit<Endpoint, "provider" | "capabilities">> {
  provider?: Provider;
  capabilities?: Partial<Endpoint["capabilities"]>;
  input?: number;
  output?: number;
}

export function endpoint(id: string, given: Given = {}): Endpoint {
  const { input = 100, output = 400, capabilities, ...rest } = given;
  const prices = { version: "pv_1", input, output };
  return {
    id,
    model: "v/m",
    provider: provider(`p-${id}`),
    dialects: ["chat"],
    task: "generate",
    upstreamModel: id,
    region: "eu",
    status: "active",
    quantization: "",
    contextLength: 10_000,
    maxOutput: 2_000,
    imageTokens: 3_200,
    modalitiesIn: ["text"],
    prices,
    listPrices: prices,
    markupBps: 0,
    dataPolicy: { trains: false, retentionDays: 0, zdr: true },
    ...rest,
    capabilities: { ...EVERYTHING, ...capabilities },
  };
}

/** An endpoint whose provider has a key for each of these credentials. */
export const pooled = (id: string, ...credentials: string[]): Endpoint => {
  const keys = credentials.map((credential, at) => platformKey(`p-${id}`, at + 1, credential));
  return endpoint(id, { provider: { ...provider(`p-${id}`), keys } });
};

/** An org that brought one credential, for the endpoint's provider. */
export const ownPool = ({ provider: { id } }: Endpoint, keyId: string, credential: string): OwnPools => {
  const keys = [ownKey(keyId, id, credential)];
  return { of: (providerId) => (providerId === id ? keys : []), platformFallback: () => true };
};

export const model = (...endpoints: Endpoint[]): Model => ({
  id: "v/m",
  vendor: "v",
  name: "M",
  aliases: [],
  task: "generate",
  tokenizer: "",
  modalitiesIn: ["text"],
  modalitiesOut: ["text"],
  contextLength: 10_000,
  maxOutput: 2_000,
  status: "active",
  markupBps: 0,
  released: "",
  endpoints,
});

export const facts = (given: Partial<RouteFacts> = {}): RouteFacts => ({
  environment: "live",
  stream: false,
  hasTools: false,
  parallelTools: false,
  hasImages: false,
  hasAudio: false,
  hasSchema: false,
  reasoning: false,
  promptTokens: 100,
  maxTokens: 100,
  affinityKey: "",
  unit: "",
  isCanaryRed: false,
  orgPolicy: { zdr: false, noTrain: false, regions: [] },
  ...given,
});

export const FRESH: HealthView = { of: () => undefined };
const WELL: EndpointHealth = {
  outForMs: 0,
  errorRate: 0,
  failing: false,
  isBeingMeasured: false,
  wholeMs: undefined,
  ttftMs: undefined,
  tokensPerSecond: undefined,
};
export const health = (known: Record<string, Partial<EndpointHealth>>): HealthView => ({
  of: ({ id }) => (known[id] === undefined ? undefined : { ...WELL, ...known[id] }),
});

export const ids = (m: Model, f: RouteFacts, route: RouteOptions = {}, view = FRESH, seed = 1) =>
  plan(f, m, decideAlone(route), view, seededRandom(seed)).attempts.map((e) => e.id);
