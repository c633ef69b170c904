/**
 * The part of the catalog that this room reads: names that a policy may use, and models to plan for.
 */
import type { Endpoint, Model } from "../../base/endpoint.ts";
import type { KnownNames } from "../language/policy-reading.ts";
import type { Judged } from "../planner/eligibility.ts";

/** The catalog's snapshot satisfies this interface. */
export interface CatalogView {
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, unknown>;
  resolve(name: string): Model | undefined;
  /** What another name means. @throws WeirError `model_not_found` */
  meant(name: string, param?: string): Model;
  unreachable(modelId: string): readonly Endpoint[];
}

/** What requirements look at, without what cannot go to another thread. */
const judgedOf = (endpoint: Endpoint): Judged => ({
  id: endpoint.id,
  status: endpoint.status,
  region: endpoint.region,
  capabilities: endpoint.capabilities,
  maxOutput: endpoint.maxOutput,
  contextLength: endpoint.contextLength,
  dataPolicy: endpoint.dataPolicy,
  provider: { id: endpoint.provider.id, status: "active", simulated: endpoint.provider.simulated },
  prices: { input: endpoint.prices.input, output: endpoint.prices.output },
});

const known = new WeakMap<CatalogView, KnownNames>();

/** Computed once per snapshot of the catalog. */
export function knownNames(catalog: CatalogView): KnownNames {
  let names = known.get(catalog);
  if (names === undefined) {
    const all = [...catalog.models.values()].flatMap(({ id, endpoints }) => [
      ...endpoints,
      ...catalog.unreachable(id),
    ]);
    names = {
      models: new Set(catalog.models.keys()),
      providers: new Set(catalog.providers.keys()),
      endpoints: new Set(all.map(({ id }) => id)),
      regions: new Set(all.map(({ region }) => region)),
      judged: all
        .filter(({ status, provider }) => status === "active" && !provider.isSwitchedOff)
        .map(judgedOf),
    };
    known.set(catalog, names);
  }
  return names;
}
