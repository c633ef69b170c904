/** One model and its simulated endpoints, in the catalog's types. */

import type { Endpoint, Model, Provider } from "../../src/base/endpoint.ts";
import { platformKey } from "../../src/base/provider-key.ts";
import type { CatalogSnapshot } from "../../src/catalog/models/catalog.ts";
import type { Behaviour } from "./upstream.ts";

export interface SimulatedEndpoint extends Behaviour {
  readonly id: string;
  /** Number of keys in the pool; one by default. */
  readonly keys?: number;
}

export const MODEL = "v/m";

const ABILITIES = ["tools", "parallelTools", "jsonSchema", "vision", "audio", "reasoning", "cache"] as const;
const CONTEXT = { contextLength: 100_000, maxOutput: 4000 };

/** A catalog with only what planning reads. */
export function catalogOf(
  endpoints: readonly SimulatedEndpoint[],
): Pick<CatalogSnapshot, "resolve" | "unreachable"> {
  const model = {
    id: MODEL,
    vendor: "v",
    name: "M",
    aliases: [],
    task: "generate",
    tokenizer: "",
    status: "active",
    markupBps: 0,
    released: "",
    modalitiesIn: ["text"],
    modalitiesOut: ["text"],
    ...CONTEXT,
    endpoints: endpoints.map(endpointOf),
  } as Model;
  return { resolve: (name) => (name === MODEL ? model : undefined), unreachable: () => [] };
}

function endpointOf(given: SimulatedEndpoint): Endpoint {
  // Nano-USD a token.
  const prices = { version: "pv", input: given.price * 1000, output: given.price * 1000 };
  return {
    id: given.id,
    model: MODEL,
    provider: providerOf(given),
    dialects: ["chat"],
    task: "generate",
    upstreamModel: "m",
    region: "here",
    status: "active",
    quantization: "",
    ...CONTEXT,
    imageTokens: 0,
    modalitiesIn: ["text"],
    prices,
    listPrices: prices,
    markupBps: 0,
    dataPolicy: { trains: false, retentionDays: 0, zdr: true },
    capabilities: Object.fromEntries(ABILITIES.map((name) => [name, true])),
  } as unknown as Endpoint;
}

const providerOf = ({ id, keys = 1 }: SimulatedEndpoint): Provider =>
  ({
    id: `provider-of-${id}`,
    status: "active",
    simulated: false,
    keys: Array.from({ length: keys }, (_, at) => platformKey(id, at + 1, undefined)),
    quirks: { streamUsage: true, maxTokensField: "either", billsAfterDisconnect: false },
  }) as unknown as Provider;
