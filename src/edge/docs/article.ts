/** One route, or one event that webhooks send, as the reference shows it: what it takes, an example to paste, what it answers. */
import { itemsOf, schemaOrNone } from "../openapi/example.ts";
import type { Content, OperationItem, Schema } from "../openapi/openapi-types.ts";
import { type Entry, EVENT } from "./entries.ts";
import { badge, breakable, escaped, inline } from "./markup.ts";

export function article(entry: Entry): string {
  const { method, path, item } = entry;
  const { parameters = [], requestBody } = item;
  const rows = (where: string) =>
    parameters
      .filter((p) => p.in === where)
      .map((p) => ({ name: p.name, schema: p.schema, required: p.required, depth: 0 }));
  const body = jsonOf(requestBody?.content)?.schema;
  return `<article aria-labelledby="${escaped(item.operationId)}">
<h2 id="${escaped(item.operationId)}">${badge(method)} <code>${breakable(path)}</code></h2>
<p>${inline(item.summary.replace(/\.$/, ""))}. <em>${inline(item.description)}</em></p>
${table("Path", rows("path"))}${table("Query", rows("query"))}${body ? table("Body", fields(body)) : ""}
${
  method === EVENT
    ? ""
    : `<h3>Example</h3>
<pre tabindex="0"><code>${escaped(curl(entry))}</code></pre>`
}
${answers(item)}
</article>`;
}

function answers({ responses }: OperationItem): string {
  const entries = Object.entries(responses);
  const good = entries.filter(([status]) => status < "400");
  const bad = entries.filter(([status]) => status >= "400");
  const shapes = good.map(([status, { description, content }]) => {
    const schema = jsonOf(content)?.schema;
    const text = `<strong>${status}</strong> ${inline(description)}`;
    if (schema === undefined) return `<p>${text}</p>`;
    return `<details><summary>${text}</summary>${table("Fields", fields(schema))}</details>`;
  });
  const errors = bad.map(
    ([status, { description }]) => `<li><strong>${status}</strong> ${inline(description)}</li>`,
  );
  return `<h3>Answers</h3>
${shapes.join("\n")}
<details><summary>Errors</summary><ul class="errors">${errors.join("")}</ul></details>`;
}

/** Fields further inside are indented no more: the stylesheet has a class for each depth. */
const MAX_DEPTH = 8;

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly depth: number;
}

function table(caption: string, rows: readonly Field[]): string {
  if (rows.length === 0) return "";
  const lines = rows.map(
    ({ name, schema, required, depth }) =>
      `<tr><th scope="row" class="depth-${Math.min(depth, MAX_DEPTH)}"><code>${breakable(name)}</code>${required ? '<abbr title="required">*</abbr>' : ""}</th>` +
      `<td>${escaped(typeOf(schema))}</td><td>${inline(remarks(schema))}</td></tr>`,
  );
  return `<table><caption>${caption}</caption><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${lines.join("\n")}</tbody></table>\n`;
}

/** All fields of a schema, nested ones after their parent; empty for a schema that is not an object. */
function fields(schema: Schema, depth = 0): Field[] {
  const object = variants(schema).find((v) => v.properties !== undefined);
  return Object.entries(object?.properties ?? {}).flatMap(([name, value]) => {
    if (typeof value === "boolean") return [];
    const required = object?.required?.includes(name) === true;
    return [{ name, schema: value, required, depth }, ...fields(inner(value), depth + 1)];
  });
}

/** The element schema of a list or map, else the schema itself. */
function inner(schema: Schema): Schema {
  for (const variant of variants(schema)) {
    const held = itemsOf(variant) ?? schemaOrNone(variant.additionalProperties);
    if (held !== undefined) return inner(held);
  }
  return schema;
}

const variants = (schema: Schema): Schema[] => [
  schema,
  ...(schema.anyOf ?? schema.oneOf ?? []).flatMap((v) => (typeof v === "object" ? variants(v) : [])),
];

function typeOf(schema: Schema): string {
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) {
    const names = options.map((v) => (typeof v === "object" ? typeOf(v) : "any"));
    return [...new Set(names)].join(" or ");
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(itemsOf(schema) ?? {})}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

/** Description, allowed values, bounds and default, as sentences. */
function remarks(schema: Schema): string {
  const { minimum, maximum, maxLength, pattern } = schema;
  const allowed = [schema, itemsOf(schema) ?? {}, ...variants(schema)].find(
    (s) => s.enum !== undefined,
  )?.enum;
  const text = schema.description ?? "";
  // Without a bound, zod writes the limits of safe integers.
  const bounds = [
    minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER && `at least ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    pattern !== undefined && pattern.length < 60 && `matches \`${pattern}\``,
    allowed !== undefined && `one of ${allowed.map((v) => `\`${String(v)}\``).join(", ")}`,
    schema.default !== undefined && `default \`${JSON.stringify(schema.default)}\``,
  ].filter((bound) => bound !== false);
  const said = bounds.join("; ");
  return [text.replace(/\.$/, ""), said.charAt(0).toUpperCase() + said.slice(1)].filter(Boolean).join(". ");
}

/** Finds the first media type that is JSON, or has the suffix `+json` (RFC 6839 section 3.1). @returns its content; undefined where there is none */
function jsonOf(content: Content = {}): (Content[string] & { readonly type: string }) | undefined {
  const [type, json] =
    Object.entries(content).find(([name]) => /^application\/(?:\w+\+)?json$/.test(name)) ?? [];
  return type === undefined || json === undefined ? undefined : { type, ...json };
}

/** A curl command that works when pasted, once the variables in capitals are set. */
function curl({ method, path, item }: Entry): string {
  const url = `"$WEIR_URL${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}"`;
  const verb = method === "GET" ? "" : `-X ${method} `;
  const body = jsonOf(item.requestBody?.content);
  const data = body && ` \\\n  -H "Content-Type: ${body.type}" -d '${JSON.stringify(body.example)}'`;
  return `curl ${verb}${url}${credential(item)}${data ?? ""}`;
}

/** Headers with the credentials of the first alternative. */
function credential({ security: [first = {}] }: OperationItem): string {
  const variable = { key: "WEIR_API_KEY", operator: "WEIR_OPERATOR_KEY", directory: "WEIR_DIRECTORY_TOKEN" };
  const bearer = Object.entries(variable).find(([scheme]) => scheme in first)?.[1];
  const headers = [
    ...(bearer === undefined ? [] : [`Authorization: Bearer $${bearer}`]),
    ...("session" in first ? ["Cookie: svc_session=$WEIR_SESSION"] : []),
    ...("csrf" in first ? ["x-svc-csrf: $WEIR_CSRF"] : []),
  ];
  return headers.map((header) => ` \\\n  -H "${header}"`).join("");
}
