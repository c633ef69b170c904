/** The API description has every route of the specification, with the parameters and fields that it names. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { SPECIFIED } from "./specification.contract.ts";

type Json = Readonly<Record<string, unknown>>;

let gateway: TestGateway;
let document: Json;
let operations: ReadonlyMap<string, Json>;
beforeAll(async () => {
  gateway = await testGateway();
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  operations = new Map(
    Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) =>
      Object.entries(item).map(
        ([method, operation]) =>
          [`${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "{}")}`, operation as Json] as const,
      ),
    ),
  );
});
afterAll(() => gateway.stop());

/** What a reference stands for. */
function resolved(schema: Json): Json {
  const { $ref: reference } = schema;
  if (typeof reference !== "string") return schema;
  const place = reference.slice(2).split("/");
  return resolved(place.reduce((at, name) => at[name] as Json, document));
}

/** Schemas of a member, in whichever alternative has it; those of a list are of its items. */
function membersOf(given: Json, name: string): Json[] {
  const schema = resolved(given);
  const alternatives = ["anyOf", "oneOf", "allOf"].flatMap((kind) => (schema[kind] ?? []) as Json[]);
  const found = [...alternatives, ...(schema.items === undefined ? [] : [schema.items as Json])].flatMap(
    (one) => membersOf(one, name),
  );
  const own = (schema.properties as Record<string, Json> | undefined)?.[name];
  return own === undefined ? found : [own, ...found];
}

const has = (schema: Json | undefined, path: string): boolean =>
  schema !== undefined &&
  path.split(".").reduce<Json[]>((at, name) => at.flatMap((one) => membersOf(one, name)), [schema]).length >
    0;

const missing = (schema: Json | undefined, paths = ""): string[] =>
  paths.split(" ").filter((path) => path !== "" && !has(schema, path));

const jsonOf = (content: unknown): Json | undefined =>
  ((content as Json | undefined)?.["application/json"] as Json | undefined)?.schema as Json | undefined;

describe("the specification's routes", () => {
  test.each(Object.entries(SPECIFIED))("%s", (name, { query = "", body, answer }) => {
    const operation = operations.get(name) as Json;
    expect(operation).toBeDefined();
    const parameters = ((operation.parameters ?? []) as Json[]).map(resolved);
    const names = parameters.filter((one) => one.in === "query").map((one) => one.name);
    expect(query.split(" ").filter((one) => one !== "" && !names.includes(one))).toEqual([]);
    const sent = resolved((operation.requestBody ?? {}) as Json);
    expect(missing(jsonOf(sent.content), body)).toEqual([]);
    const [good] = Object.entries(operation.responses as Record<string, Json>).filter(([status]) =>
      /^2/.test(status),
    );
    expect(missing(jsonOf(resolved(good?.[1] ?? {}).content), answer)).toEqual([]);
  });
});
