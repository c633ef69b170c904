/** What every page of the reference has around it: the search, the headings, and the routes of the one that is shown. */
import { TAGS } from "../openapi/tags.ts";
import { type Entry, slugOf } from "./entries.ts";
import { badge, breakable, escaped } from "./markup.ts";

export interface Frame {
  readonly title: string;
  readonly version: string;
  /** From the page to the gateway's root, so that links also work behind a proxy's prefix: empty, or `../`. */
  readonly up: string;
  /** Heading whose page it is; undefined on a page of its own. */
  readonly group?: string | undefined;
  /** Entries of that heading. */
  readonly entries?: readonly Entry[];
  /** What is searched for. */
  readonly query?: string;
}

/** Characters of a search; what is longer is cut. */
export const MOST_CHARACTERS = 100;

/** Up to the content of `main`. */
export function before({ title, version, up, group, entries = [], query = "" }: Frame): string {
  const name = group === undefined ? title : `${group} – ${title}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(name)} API reference</title>
<link rel="stylesheet" href="${up}assets/tokens.css">
<link rel="stylesheet" href="${up}assets/docs.css">
</head>
<body>
<a class="skip" href="#reference">Skip to the reference</a>
<nav aria-label="Reference">
<p class="brand"><a href="${up}docs">${escaped(title)}</a> <small>${escaped(version)}</small></p>
<form action="${up}docs/search" role="search">
<label for="q">Search routes, fields, errors</label>
<input id="q" name="q" type="search" maxlength="${MOST_CHARACTERS}" value="${escaped(query)}" autocomplete="off">
<button>Search</button>
</form>
<ul class="groups">
${TAGS.map((tag) => groupLink(tag.name, up, group, entries)).join("\n")}
</ul>
</nav>
<main id="reference">
`;
}

function groupLink(name: string, up: string, current: string | undefined, entries: readonly Entry[]): string {
  const isCurrent = name === current;
  const link = `<a href="${up}docs/${slugOf(name)}"${isCurrent ? ' aria-current="page"' : ""}>${escaped(name)}</a>`;
  if (!isCurrent) return `<li>${link}</li>`;
  const routes = entries.map(
    ({ method, path, item }) =>
      `<li><a href="#${escaped(item.operationId)}">${badge(method)} <span>${breakable(path)}</span></a></li>`,
  );
  return `<li>${link}<ul class="routes">${routes.join("")}</ul></li>`;
}

export const AFTER = "</main>\n</body>\n</html>\n";
