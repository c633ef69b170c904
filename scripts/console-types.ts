/**
 * Writes `console/api/operations.ts`: for each operation that the console calls, its route, who may call it, and the types of what goes in
 * and what comes out, from the document that `/openapi.json` serves. `node scripts/console-types.ts` writes it anew;
 * test/unit/console/operations.test.ts compares.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mayAs, ROLES, scopesOf } from "../src/account/roles.ts";
import { LEAST } from "../src/base/operation/access.ts";
import { openApiSteps } from "../src/edge/openapi/openapi.ts";
import type { OpenApiDocument, OperationItem, Schema } from "../src/edge/openapi/openapi-types.ts";
import { readRouteTable } from "./route-table.ts";

const CONSOLE = join(import.meta.dirname, "../console");
export const OPERATIONS = join(CONSOLE, "api/operations.ts");
/** How the console names an operation: `call("getUsage", …)`. */
const USES = /\b(?:call|useAnswer|usePages|mayCall|pathOf|download)\(\s*"(\w+)"/g;

/** What a page cannot do without: `needs: ["getUsage"]`. */
const NEEDS = /\bneeds:\s*\[([^\]]*)\]/g;

/** Names of the operations that the console's sources call, sorted. */
export function usedOperations(): string[] {
  const names = new Set<string>();
  for (const file of readdirSync(CONSOLE, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(file) || file.startsWith("dist") || file === "api/operations.ts") continue;
    const text = readFileSync(join(CONSOLE, file), "utf8");
    for (const [, name = ""] of text.matchAll(USES)) names.add(name);
    for (const [, list = ""] of text.matchAll(NEEDS))
      for (const [, name = ""] of list.matchAll(/"(\w+)"/g)) names.add(name);
  }
  return [...names].sort();
}

/** The file's text. @throws Error where an operation is not in the document */
export async function operationsText(names: readonly string[]): Promise<string> {
  const routes = await readRouteTable();
  const steps = openApiSteps({
    routes,
    pages: [],
    events: [],
    version: "",
    address: "",
  });
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const found = itemsByName(step.value);
  const used = names.map((name) => {
    const place = found.get(name);
    if (place === undefined) throw new Error(`the console calls ${name}, which is no operation`);
    return place;
  });
  return `// Made by scripts/console-types.ts from the API's description: change that, not this.

/** Method, path, and who may call it, as \`x-svc-access\` says. */
export const ROUTES = {
${used.map(({ name, method, path, item }) => `  ${name}: ["${method}", "${path}", "${item["x-svc-access"]}"],`).join("\n")}
} as const;

/** Changes that people of a closed org may still make. */
export const FOR_CLOSED: readonly string[] = [
${used
  .filter(({ method, path }) => isForClosed(routes, method, path))
  .map(({ name }) => `  "${name}",`)
  .join("\n")}
];

/** Which levels of access each role opens. */
export const ROLE_OPENS = {
${ROLES.map(
  (role) =>
    `  ${role}: [${LEAST.filter((least) => mayAs(role, least))
      .map((least) => `"${least}"`)
      .join(", ")}],`,
).join("\n")}
} as const;

/** Scopes that each role holds: a person makes and changes keys of these alone. */
export const ROLE_SCOPES = {
${ROLES.map(
  (role) =>
    `  ${role}: [${scopesOf(role)
      .map((scope) => `"${scope}"`)
      .join(", ")}],`,
).join("\n")}
} as const;

export interface Operations {
${used.map(typesOf).join("\n")}
}
`;
}

const isForClosed = (
  routes: Awaited<ReturnType<typeof readRouteTable>>,
  method: string,
  path: string,
): boolean => routes.some((route) => route.method === method && route.path === path && route.isForClosed);

interface Placed {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly item: OperationItem;
}

function itemsByName({ paths }: OpenApiDocument): Map<string, Placed> {
  const found = new Map<string, Placed>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, item] of Object.entries(methods)) {
      found.set(item.operationId, { name: item.operationId, method: method.toUpperCase(), path, item });
    }
  }
  return found;
}

function typesOf({ name, item }: Placed): string {
  const named = (where: "path" | "query") => {
    const members = (item.parameters ?? []).filter((parameter) => parameter.in === where);
    if (members.length === 0) return "undefined";
    return object(
      members.map((each) => member(each.name, each.schema, each.required, "    ")),
      "    ",
    );
  };
  const sent = item.requestBody?.content["application/json"]?.schema;
  const good = Object.entries(item.responses).find(([status]) => status.startsWith("2"));
  const answered = good?.[1].content?.["application/json"]?.schema;
  const sentEvents = good?.[1].content?.["text/event-stream"]?.schema;
  return [
    `  ${name}: {`,
    `    params: ${named("path")};`,
    `    query: ${named("query")};`,
    `    body: ${sent === undefined ? "undefined" : typeOf(sent, "    ")};`,
    `    answer: ${answered === undefined ? "undefined" : typeOf(answered, "    ")};`,
    ...(isStream(sentEvents) ? [`    event: ${typeOf(sentEvents, "    ")};`] : []),
    "  };",
  ].join("\n");
}

/** Events of several kinds, each with its name and its data. A model call's stream is text to this description. */
const isStream = (schema: Schema | undefined): schema is Schema => schema?.oneOf !== undefined;

const member = (name: string, schema: Schema, isRequired: boolean, indent: string): string =>
  `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}${isRequired ? "" : "?"}: ${typeOf(schema, `${indent}  `)};`;

const object = (members: readonly string[], indent: string): string =>
  `{\n${members.map((each) => `${indent}  ${each}`).join("\n")}\n${indent}}`;

/** The TypeScript type of what a JSON Schema (2020-12) describes, as far as zod writes them. */
function typeOf(schema: Schema | boolean, indent: string): string {
  if (typeof schema === "boolean") return "unknown";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return union(options.map((each) => typeOf(each as Schema, indent)));
  if (schema.allOf !== undefined)
    return schema.allOf.map((each) => typeOf(each as Schema, indent)).join(" & ");
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => typeOf({ ...schema, type } as Schema, indent)));
  return single(schema, indent);
}

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");

function single(schema: Schema, indent: string): string {
  switch (schema.type) {
    case "object":
      return objectType(schema, indent);
    case "array":
      return `readonly (${typeOf((schema.items as Schema | undefined) ?? true, indent)})[]`;
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function objectType(schema: Schema, indent: string): string {
  const members = Object.entries(schema.properties ?? {}).map(([name, value]) =>
    member(name, value as Schema, schema.required?.includes(name) === true, indent),
  );
  if (members.length > 0) return object(members, indent);
  const values = schema.additionalProperties;
  if (values === false) return "Record<string, never>";
  return `Record<string, ${typeOf((values as Schema | undefined) ?? true, indent)}>`;
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(OPERATIONS, await operationsText(usedOperations()));
}
