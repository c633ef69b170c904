/** Every field of the API description says what it means: in requests, answers, errors, and events that webhooks get. */
import { beforeAll, expect, test } from "vitest";
import type { OpenApiDocument, OperationItem, Schema } from "../../../src/edge/openapi/openapi-types.ts";
import { PAGE_ITEMS } from "../../../src/edge/openapi/page-items.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

interface Field {
  readonly place: string;
  readonly description: string | undefined;
}

let document: OpenApiDocument;
beforeAll(async () => {
  const gateway: TestGateway = await testGateway({ engine: true });
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  await gateway.stop();
});

function fieldsBelow(schema: Schema, place: string): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (typeof field !== "object") return [];
    const at = `${place}.${name}`;
    return [{ place: at, description: field.description }, ...fieldsBelow(field, at)];
  });
  const { anyOf = [], oneOf = [], allOf = [], prefixItems = [], items, additionalProperties } = schema;
  const inner = [anyOf, oneOf, allOf, prefixItems, items, additionalProperties].flat();
  return [...own, ...inner.flatMap((s) => (typeof s === "object" ? fieldsBelow(s as Schema, place) : []))];
}

function fieldsOf({ operationId, parameters = [], requestBody, responses }: OperationItem): Field[] {
  const contents = [requestBody, ...Object.values(responses)].flatMap((c) => Object.values(c?.content ?? {}));
  return [
    ...parameters.map(({ name, description }) => ({ place: `${operationId}?${name}`, description })),
    ...contents.flatMap(({ schema }) => fieldsBelow(schema, operationId)),
  ];
}

test("O30: every field has a meaning", () => {
  const { paths, webhooks, components } = document;
  const items = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) => Object.values(item));
  const errors = Object.entries(components.schemas as Record<string, Schema>);
  const fields = [
    ...items.flatMap(fieldsOf),
    ...errors.flatMap(([name, schema]) => fieldsBelow(schema, name)),
  ];
  expect(fields.length).toBeGreaterThan(5000);
  const silent = fields.filter(({ description = "" }) => !/\S/.test(description)).map(({ place }) => place);
  const mend = "Say what these fields mean: .describe() at each one's schema, beside its operation or event";
  expect(silent, mend).toEqual([]);
});

test("O30: pages that machines read are described", () => {
  expect(PAGE_ITEMS.map(({ path }) => path)).toEqual(["/healthz", "/readyz", "/metrics"]);
});
