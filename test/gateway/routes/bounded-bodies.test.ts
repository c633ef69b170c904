/** What a tenant writes is bounded, field by field: the API description says how long each text and each list of a body may be. */
import { expect, test } from "vitest";
import { sharedGateway } from "../../support/shared-gateway.ts";

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly pattern?: string;
}
interface Operation {
  readonly tags?: readonly string[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

const gateway = sharedGateway();

/** Model calls, whose texts are the point; what operators send; SCIM, whose values `src/account/scim/attribute.ts` bounds as it reads them. */
const ELSEWHERE = ["Inference", "Native inference", "Operator", "Directory"];
/** Policies are refused above 64 KB by what reads them, whose answer names the line; `validate` answers 200 whatever it gets. */
const POLICIES = /^post \/v1\/policies\S* \/yaml$/;

function unbounded(schema: Schema, at: string): string[] {
  const { type, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema;
  const isFixed = schema.enum !== undefined || schema.const !== undefined || schema.pattern !== undefined;
  const own: string[] = [];
  if (type === "string" && schema.maxLength === undefined && !isFixed) own.push(at);
  if (type === "array" && schema.maxItems === undefined) own.push(`${at}[]`);
  return [
    ...own,
    ...Object.entries(properties).flatMap(([name, member]) => unbounded(member, `${at}/${name}`)),
    ...(items === undefined ? [] : unbounded(items, `${at}/-`)),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((one) => unbounded(one, at)),
  ];
}

test("S7: every text and list of a body has a longest form", async () => {
  const document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  const found: string[] = [];
  let bodies = 0;
  for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Operation>>))
    for (const [method, { tags, requestBody }] of Object.entries(item)) {
      if (requestBody === undefined || ELSEWHERE.includes(tags?.[0] ?? "")) continue;
      for (const { schema } of Object.values(requestBody.content)) {
        bodies++;
        found.push(...unbounded(schema, `${method} ${path} `));
      }
    }
  expect(bodies).toBeGreaterThan(25);
  expect(found.filter((field) => !POLICIES.test(field))).toEqual([]);
});
