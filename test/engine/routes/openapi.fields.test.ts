/** Every field of the API description says what it means, and every word that is kept for it is used. */
import { beforeAll, expect, test } from "vitest";
import { DESCRIBED_FIELDS } from "../../../src/edge/openapi/field-descriptions.ts";
import type { OpenApiDocument, OperationItem, Schema } from "../../../src/edge/openapi/openapi-types.ts";
import { PAGE_ITEMS } from "../../../src/edge/openapi/pages.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

interface Field {
  readonly name: string;
  readonly parent: string;
  readonly operation: string;
  readonly tag: string;
  readonly description: string | undefined;
}

let fields: Field[];
beforeAll(async () => {
  const gateway: TestGateway = await testGateway({ engine: true });
  const { json } = await gateway.call("GET", "/openapi.json", { key: null });
  await gateway.stop();
  const items = Object.values(json.paths as OpenApiDocument["paths"]);
  fields = items.flatMap((item) => Object.values(item)).flatMap(fieldsOf);
});

function fieldsOf(item: OperationItem): Field[] {
  const { operationId: operation, tags, parameters = [], requestBody, responses } = item;
  const tag = tags[0] ?? "";
  const below = (schema: Schema, parent: string): Field[] => {
    const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      typeof field === "object"
        ? [{ name, parent, operation, tag, description: field.description }, ...below(field, name)]
        : [],
    );
    const { anyOf = [], oneOf = [], allOf = [], items, additionalProperties } = schema;
    const inner = [anyOf, oneOf, allOf, items, additionalProperties].flat();
    return [...own, ...inner.flatMap((s) => (typeof s === "object" ? below(s as Schema, parent) : []))];
  };
  const contents = [requestBody, ...Object.values(responses)].flatMap((c) => Object.values(c?.content ?? {}));
  return [
    ...parameters.map(({ name, description }) => ({ name, parent: "", operation, tag, description })),
    ...contents.flatMap(({ schema }) => below(schema, "")),
  ];
}

test("O30: every field has a meaning", () => {
  expect(fields.length).toBeGreaterThan(1000);
  const silent = fields.filter(({ description }) => !description);
  expect(silent.map(({ operation, parent, name }) => `${operation} ${parent}.${name}`)).toEqual([]);
});

test("O30: every word is a field's, at the place that it names", () => {
  const stands = (word: string) => {
    const [, place = "", mark = "", name = word] = /^(.+)([./])(\w+)$/.exec(word) ?? [];
    return fields.some(
      (field) =>
        field.name === name &&
        (mark === "" ||
          (mark === "." ? field.parent === place : field.operation === place || field.tag === place)),
    );
  };
  expect(DESCRIBED_FIELDS.filter((word) => !stands(word))).toEqual([]);
});

test("O30: pages that machines read are described", () => {
  expect(PAGE_ITEMS.map(({ path }) => path)).toEqual(["/healthz", "/readyz", "/metrics"]);
});
