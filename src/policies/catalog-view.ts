/**
 * The part of the catalog that this room reads: names that a policy may use, and models to plan for.
 */
import type { Endpoint, Model } from "../endpoint.ts";
import type { KnownNames } from "../routing/policy-reading.ts";

/** The catalog's snapshot satisfies this interface. */
export interface CatalogView {
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, unknown>;
  resolve(name: string): Model | undefined;
  unreachable(modelId: string): readonly Endpoint[];
}

const known = new WeakMap<CatalogView, KnownNames>();

/** Computed once per snapshot of the catalog. */
export function knownNames(catalog: CatalogView): KnownNames {
  let names = known.get(catalog);
  if (names === undefined) {
    const endpoints = new Set<string>();
    for (const model of catalog.models.values()) {
      for (const { id } of model.endpoints) endpoints.add(id);
      for (const { id } of catalog.unreachable(model.id)) endpoints.add(id);
    }
    names = {
      models: new Set(catalog.models.keys()),
      providers: new Set(catalog.providers.keys()),
      endpoints,
    };
    known.set(catalog, names);
  }
  return names;
}
