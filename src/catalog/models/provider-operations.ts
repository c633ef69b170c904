/** `GET /v1/providers`: who serves the models, what they do with data, and a digest by which a change of the catalog is seen. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Endpoint, Model, Provider } from "../../base/endpoint.ts";
import { operation } from "../../base/operation/operation.ts";
import { NOT_MODIFIED, type PublicBody, publicAnswer, publicJson } from "../public-answer.ts";
import type { CatalogSnapshot } from "./catalog.ts";
import type { CatalogOperationsDeps } from "./operations.ts";

const providerShape = z.object({
  id: z.string().describe("Provider id, as routing policies name it."),
  name: z.string().describe("Display name."),
  trains: z.boolean().describe("Whether it trains on prompts, unless an endpoint says otherwise."),
  retention_days: z.int().describe("For how long it keeps prompts; 36500: it names no limit."),
  zdr: z.boolean().describe("Whether it keeps nothing of a call."),
  regions: z.array(z.string()).describe("Where it serves; `global`: it promises no place."),
  status: z.enum(["active", "inactive"]).describe("`inactive`: this gateway cannot reach it."),
  terms_url: z.string().describe("Its terms; empty where the catalog names none."),
  endpoints: z.int().describe("How many endpoints of it calls can reach."),
  verified_at: z
    .string()
    .nullable()
    .describe("Day on which the operator last checked what stands here, YYYY-MM-DD; null: not said."),
});

const providersShape = z.object({
  object: z.literal("list").describe("What kind of object this is."),
  data: z.array(providerShape).describe("In the order of the operator's file."),
  snapshot: z
    .string()
    .describe(
      "Digest of providers, models, endpoints and prices: it changes when one of them does, and only then.",
    ),
});

export function providerOperations({ catalog }: Pick<CatalogOperationsDeps, "catalog">) {
  // A snapshot never changes, so its answer is made once.
  let made: { readonly of: CatalogSnapshot; readonly body: PublicBody } | undefined;
  return {
    listProviders: operation({
      summary: "Providers of the catalog, with what each does with data",
      method: "GET",
      path: "/v1/providers",
      access: "public",
      group: "Catalog",
      output: providersShape,
      otherStatuses: NOT_MODIFIED,
      run(_input, _caller, head) {
        const snapshot = catalog.current();
        if (made?.of !== snapshot)
          made = { of: snapshot, body: publicJson(providersShape, listOf(snapshot)) };
        return publicAnswer(made.body, head);
      },
    }),
  };
}

function listOf(snapshot: CatalogSnapshot): z.output<typeof providersShape> {
  const endpoints = new Map<Provider, number>();
  for (const model of snapshot.models.values())
    for (const { provider, status } of model.endpoints)
      if (status === "active") endpoints.set(provider, (endpoints.get(provider) ?? 0) + 1);
  const data = [...snapshot.providers.values()].map((p) => providerWire(p, endpoints.get(p) ?? 0));
  return { object: "list", data, snapshot: digestOf(data, snapshot) };
}

const providerWire = (provider: Provider, endpoints: number): z.output<typeof providerShape> => ({
  id: provider.id,
  name: provider.name,
  trains: provider.dataPolicy.trains,
  retention_days: provider.dataPolicy.retentionDays,
  zdr: provider.dataPolicy.zdr,
  regions: [...provider.regions],
  status: provider.status,
  terms_url: provider.termsUrl ?? "",
  endpoints,
  verified_at: provider.verifiedAt ?? null,
});

/** The same on every gateway with the same files and reachable providers: no price version, which each assigns itself. */
function digestOf(providers: readonly object[], snapshot: CatalogSnapshot): string {
  const hash = createHash("sha256").update(JSON.stringify(providers));
  for (const model of snapshot.models.values()) {
    hash.update(JSON.stringify(contentOf(model)));
    for (const endpoint of [...model.endpoints, ...snapshot.unreachable(model.id)])
      hash.update(JSON.stringify(endpointContentOf(endpoint)));
  }
  return hash.digest("hex").slice(0, 32);
}

function contentOf({ id, name, status, released, task, modalitiesIn, modalitiesOut }: Model) {
  return [id, name, status, released, task, modalitiesIn, modalitiesOut];
}

function endpointContentOf(endpoint: Endpoint) {
  const { version: _, ...prices } = endpoint.listPrices;
  const { id, provider, status, contextLength, maxOutput, quantization } = endpoint;
  const { capabilities, modalitiesIn, dataPolicy, markupBps } = endpoint;
  return [
    id,
    provider.status,
    status,
    contextLength,
    maxOutput,
    quantization,
    capabilities,
    modalitiesIn,
    dataPolicy,
    markupBps,
    prices,
  ];
}
