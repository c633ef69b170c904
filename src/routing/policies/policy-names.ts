/** `GET /v1/policy/names`: what a policy may name, as its check knows it. Editors complete names with it. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import type { CatalogView } from "./catalog-view.ts";

const namesShape = z.object({
  models: z.array(z.string()).describe("Model ids."),
  providers: z.array(z.string()).describe("Provider ids."),
  regions: z.array(z.string()).describe("Where endpoints are."),
  endpoints: z
    .array(
      z.object({
        id: field.endpointId,
        model_id: field.modelId,
        provider: field.providerId,
        region: field.region,
      }),
    )
    .describe("Also those that only a key of the org's own reaches, and those that are switched off."),
});

type Names = z.output<typeof namesShape>;

export interface PolicyNamesDeps {
  readonly catalog: { current(): Pick<CatalogView, "models" | "providers" | "unreachable"> };
}

export function policyNameOperations({ catalog }: PolicyNamesDeps) {
  // A snapshot never changes, so its names are collected once.
  let made: { readonly of: object; readonly names: Names } | undefined;
  return {
    listPolicyNames: operation({
      summary: "List what a routing policy may name: models, providers, endpoints and regions of the catalog",
      method: "GET",
      path: "/v1/policy/names",
      access: "read:policies / viewer",
      group: "Routing policies",
      output: namesShape,
      run: () => {
        const snapshot = catalog.current();
        if (made?.of !== snapshot) made = { of: snapshot, names: namesOf(snapshot) };
        return made.names;
      },
    }),
  };
}

function namesOf({
  models,
  providers,
  unreachable,
}: ReturnType<PolicyNamesDeps["catalog"]["current"]>): Names {
  const endpoints = [...models.values()].flatMap(({ id, endpoints: reached }) =>
    [...reached, ...unreachable(id)].map(({ id: endpointId, provider, region }) => ({
      id: endpointId,
      model_id: id,
      provider: provider.id,
      region,
    })),
  );
  return {
    models: [...models.keys()].sort(),
    providers: [...providers.keys()].sort(),
    regions: [...new Set(endpoints.map(({ region }) => region))].sort(),
    endpoints: endpoints.sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
