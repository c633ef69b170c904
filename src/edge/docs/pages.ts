/**
 * The reference as HTML pages that need no script and no other host: a first page, and one for each heading. The stylesheets have relative
 * paths, so that they also work behind a proxy's prefix. All text is escaped; empty parts are omitted.
 */
import type { OpenApiDocument } from "../openapi/openapi-types.ts";
import { TAGS } from "../openapi/tags.ts";
import { article } from "./article.ts";
import { entriesOf, slugOf } from "./entries.ts";
import { EXAMPLES, type Example, type Step } from "./examples.ts";
import { AFTER, before } from "./frame.ts";
import { badge, breakable, escaped, inline } from "./markup.ts";
import { indexPieces } from "./search.ts";
import { TASKS, type Task } from "./tasks.ts";

/** Name of the first page, at `/docs`. */
export const HOME = "";
/** Name of what a search looks through; it is no page. */
export const INDEX = "index";

/** A page in pieces, of a route each. */
export type DocsPage = (document: OpenApiDocument) => Iterable<string>;

/** By name, which is what follows `/docs/`. */
export const DOCS_PAGES: ReadonlyMap<string, DocsPage> = new Map<string, DocsPage>([
  [HOME, homePieces],
  [INDEX, indexPieces],
  ...TAGS.map(({ name, description }): [string, DocsPage] => [
    slugOf(name),
    (document) => groupPieces(document, name, description),
  ]),
]);

function* groupPieces(document: OpenApiDocument, group: string, about: string): Generator<string> {
  const { title, version } = document.info;
  const entries = entriesOf(document, group);
  yield before({ title, version, up: "../", group, entries });
  yield `<header><h1>${escaped(group)}</h1>\n<p>${inline(about)}</p></header>\n`;
  for (const entry of entries) yield `${article(entry)}\n`;
  yield AFTER;
}

function* homePieces(document: OpenApiDocument): Generator<string> {
  const { title, version, description } = document.info;
  const places = placesOf(document);
  yield before({ title, version, up: "" });
  yield `<header><h1>${escaped(title)} API</h1>\n<p>${inline(description)}</p>\n${beginning(document)}</header>\n`;
  yield `<section aria-labelledby="tasks"><h2 id="tasks">What do you want to do?</h2>
<div class="tasks">${TASKS.map(({ title: about, tasks }) => `<div><h3>${escaped(about)}</h3><ul>${tasks.map((task) => taskItem(task, places)).join("")}</ul></div>`).join("\n")}</div></section>\n`;
  yield EXAMPLES.map(exampleSection).join("\n");
  yield `<section aria-labelledby="all"><h2 id="all">All routes and events</h2>\n`;
  for (const { name, description: about } of TAGS) yield headingPieces(document, name, about);
  yield `</section>\n${AFTER}`;
}

/** A browser opens it where the address names one of its entries. */
function headingPieces(document: OpenApiDocument, group: string, about: string): string {
  const page = `docs/${slugOf(group)}`;
  const rows = entriesOf(document, group).map(
    ({ method, path, item }) =>
      `<li id="${escaped(item.operationId)}"><a href="${page}#${escaped(item.operationId)}">${badge(method)} <code>${breakable(path)}</code></a> ${inline(item.summary)}</li>`,
  );
  return `<details><summary><strong>${escaped(group)}</strong> ${inline(about)}</summary>
<ul class="all">${rows.join("\n")}</ul></details>\n`;
}

const beginning = ({
  servers,
}: OpenApiDocument): string => `<p>The examples take the gateway's address and a key from the shell:</p>
<pre tabindex="0"><code>export WEIR_URL=${escaped(servers[0]?.url ?? "")}
export WEIR_API_KEY=$(cat data/first-key)</code></pre>
<p>OpenAI's SDKs take <code>$WEIR_URL/v1</code> as base URL, Anthropic's <code>$WEIR_URL</code>. Errors have one shape:
<code>{"error": {"type", "code", "message", "param", "request_id"}}</code>; on messages routes Anthropic's:
<code>{"type": "error", "error": {"type", "message", "code"}, "request_id"}</code>. For machines:
<a href="openapi.json">openapi.json</a>, and for routing policies <a href="schemas/policy.json">policy.json</a>.</p>
`;

/** Address of each entry, by its operation id. */
function placesOf(document: OpenApiDocument): ReadonlyMap<string, string> {
  const all = TAGS.flatMap(({ name }) =>
    entriesOf(document, name).map(({ item }) => [item.operationId, name] as const),
  );
  return new Map(all.map(([id, name]) => [id, `docs/${slugOf(name)}#${id}`]));
}

/** A route that this gateway lacks is left out. */
function taskItem({ want, by }: Task, places: ReadonlyMap<string, string>): string {
  const links = by.flatMap((id) => {
    const place = places.get(id);
    return place === undefined ? [] : [`<a href="${escaped(place)}"><code>${escaped(id)}</code></a>`];
  });
  return `<li>${escaped(want)}<br><small>${links.join(", ")}</small></li>`;
}

const exampleSection = ({ title, about, steps }: Example): string =>
  `<section aria-labelledby="${slugOf(title)}"><h2 id="${slugOf(title)}">${escaped(title)}</h2>
<p>${inline(about)}</p>
${steps.map(step).join("\n")}</section>\n`;

function step({ says, method, path, body }: Step): string {
  const verb = method === "GET" ? "" : `-X ${method} `;
  const data = body && ` \\\n  -H "Content-Type: application/json" -d '${shellBody(body)}'`;
  const command = `curl ${verb}"$WEIR_URL${path}" \\\n  -H "Authorization: Bearer $WEIR_API_KEY"${data ?? ""}`;
  return `${says === "" ? "" : `<p>${inline(says)}</p>\n`}<pre tabindex="0"><code>${escaped(command)}</code></pre>`;
}

/** Indented JSON within single quotes, which are closed around what the shell fills in. */
const shellBody = (body: object): string =>
  JSON.stringify(body, null, 2)
    .replace(/"(\$\w+)"/g, `"'$1'"`)
    .replaceAll("\n", "\n  ");
