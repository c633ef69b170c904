/** What the changelog compares of a draft of the catalog: of each model by id, as of an instant. */
import type { CatalogDraft, EndpointDraft, ModelDraft } from "./build.ts";
import type { KnownEndpoint, KnownModel } from "./changes.ts";
import { futurePrices, pricedAt } from "./schedule.ts";

export const knownModels = ({ models }: CatalogDraft, nowMs: number): ReadonlyMap<string, KnownModel> =>
  new Map(models.map((model) => [model.entry.id, knownModel(model, nowMs)]));

const knownModel = ({ entry, endpoints }: ModelDraft, nowMs: number): KnownModel => ({
  name: entry.name,
  isDeprecated: entry.status === "deprecated",
  isListed: true,
  endpoints: Object.fromEntries(endpoints.map((draft) => [draft.endpoint.id, knownEndpoint(draft, nowMs)])),
});

function knownEndpoint(draft: EndpointDraft, nowMs: number): KnownEndpoint {
  const { provider, region, contextLength, maxOutput } = draft.endpoint;
  return {
    place: `${provider.name}, ${region}`,
    contextLength,
    maxOutput,
    priced: pricedAt(draft, nowMs),
    scheduled: futurePrices(draft, nowMs),
  };
}
