/**
 * `/docs`: the OpenAPI document as one HTML page that needs no script and no other host. The stylesheets have relative
 * paths, so that they also work behind a proxy's prefix. All text is escaped; empty parts are omitted.
 */

import { itemsOf, schemaOrNone } from "./example.ts";
import type { Content, OpenApiDocument, OperationItem, Schema } from "./openapi-types.ts";

/** The reference page of an API, in pieces of a route each. */
export function* docsPieces(document: OpenApiDocument): Generator<string> {
  const groups = Object.entries(groupsOf(document));
  const { title, version, description } = document.info;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} API reference</title>
<link rel="stylesheet" href="assets/tokens.css">
<link rel="stylesheet" href="assets/docs.css">
</head>
<body>
<a class="skip" href="#reference">Skip to the reference</a>
<nav aria-label="Routes">
<p class="brand"><a href="#top">${escaped(title)}</a> <small>${escaped(version)}</small></p>
${groups.map(([name, entries]) => navGroup(name, entries)).join("\n")}
</nav>
<main id="reference">
<header id="top">
<h1>${escaped(title)} API</h1>
<p>${inline(description)}</p>
<p>The examples take the gateway's address and a key from the shell:</p>
<pre><code>export WEIR_URL=${escaped(document.servers[0]?.url ?? "")}
export WEIR_API_KEY=$(cat data/first-key)</code></pre>
<p>Errors have one shape: <code>{"error": {"type", "code", "message", "param", "request_id"}}</code>; on messages routes Anthropic's:
<code>{"type": "error", "error": {"type", "message", "code"}, "request_id"}</code>. Machine-readable:
<a href="/openapi.json">openapi.json</a>, and for routing policies <a href="/schemas/policy.json">policy.json</a>.</p>
</header>
`;
  for (const [name, entries] of groups) {
    yield `<section aria-labelledby="${slug(name)}">
<h2 id="${slug(name)}">${escaped(name)}</h2>
`;
    for (const entry of entries) yield `${article(entry)}\n`;
    yield "</section>\n";
  }
  yield "</main>\n</body>\n</html>\n";
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly item: OperationItem;
}

function groupsOf({ paths }: OpenApiDocument): Record<string, Entry[]> {
  const groups: Record<string, Entry[]> = {};
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, item] of Object.entries(methods)) {
      const name = item.tags[0] ?? "Other";
      groups[name] = [...(groups[name] ?? []), { method: method.toUpperCase(), path, item }];
    }
  }
  return groups;
}

const slug = (name: string) => `group-${name.toLowerCase().replace(/\W+/g, "-")}`;

const navGroup = (name: string, entries: readonly Entry[]): string =>
  `<h2><a href="#${slug(name)}">${escaped(name)}</a></h2>
<ul>${entries
    .map(
      ({ method, path, item }) =>
        `<li><a href="#${escaped(item.operationId)}">${badge(method)} <span>${breakable(path)}</span></a></li>`,
    )
    .join("")}</ul>`;

function article(entry: Entry): string {
  const { method, path, item } = entry;
  const { parameters = [], requestBody } = item;
  const rows = (where: string) =>
    parameters
      .filter((p) => p.in === where)
      .map((p) => ({ name: p.name, schema: p.schema, required: p.required, depth: 0 }));
  const body = jsonOf(requestBody?.content)?.schema;
  return `<article aria-labelledby="${escaped(item.operationId)}">
<h3 id="${escaped(item.operationId)}">${badge(method)} <code>${breakable(path)}</code></h3>
<p>${inline(item.summary.replace(/\.$/, ""))}. <em>${inline(item.description)}</em></p>
${table("Path", rows("path"))}${table("Query", rows("query"))}${body ? table("Body", fields(body)) : ""}
<h4>Example</h4>
<pre><code>${escaped(curl(entry))}</code></pre>
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
  return `<h4>Answers</h4>
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

const badge = (method: string) => `<span class="method ${method.toLowerCase()}">${method}</span>`;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => ENTITIES[c] ?? c);

/** Text with `code`. */
const inline = (text: string): string => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/** A long path or name may be broken after a separator. */
const breakable = (text: string): string => escaped(text).replace(/[/_]/g, "$&<wbr>");
