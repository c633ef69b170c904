/** The endpoints of a catalog by their provider, those that this gateway cannot reach among them. */
import type { Endpoint } from "../../base/endpoint.ts";
import type { CatalogSnapshot } from "../models/catalog.ts";

export interface OfProvider {
  readonly endpoint: Endpoint;
  /** Calls can reach it. */
  readonly isReachable: boolean;
}

export function endpointsByProvider(
  snapshot: Pick<CatalogSnapshot, "models" | "unreachable">,
): ReadonlyMap<string, readonly OfProvider[]> {
  const found = new Map<string, OfProvider[]>();
  const add = (endpoint: Endpoint, isReachable: boolean) => {
    const { id } = endpoint.provider;
    const known = found.get(id);
    if (known === undefined) found.set(id, [{ endpoint, isReachable }]);
    else known.push({ endpoint, isReachable });
  };
  for (const model of snapshot.models.values()) {
    for (const endpoint of model.endpoints) add(endpoint, endpoint.status === "active");
    for (const endpoint of snapshot.unreachable(model.id)) add(endpoint, false);
  }
  return found;
}
