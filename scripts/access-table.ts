/**
 * The table of docs/account.md: every route with the scope that a key needs for it and the roles that open it, as its operation
 * says. `node scripts/access-table.ts` writes it anew; test/unit/docs/account-doc.test.ts holds the document against it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mayAs, ROLES } from "../src/account/roles.ts";
import { type Access, needsOf, type PersonSide } from "../src/base/operation/access.ts";
import type { Route } from "../src/edge/routes.ts";
import { readRouteTable } from "./route-table.ts";

const ACCOUNT_DOC = join(import.meta.dirname, "../docs/account.md");
const BEGIN = "<!-- begin: node scripts/access-table.ts -->";
const END = "<!-- end -->";

/** The document with the table of these routes. @throws an Error where its place is not marked */
export function withAccessTable(text: string, routes: readonly Route[]): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`the document needs the lines "${BEGIN}" and "${END}"`);
  return `${text.slice(0, from + BEGIN.length)}\n\n${accessTable(routes)}\n\n${text.slice(to)}`;
}

/** A row for each route, in Markdown. */
export const accessTable = (table: readonly Route[]): string =>
  ["| route | a key needs | a person is |", "|---|---|---|", ...table.map(rowOf)].join("\n");

function rowOf(route: Route): string {
  const [key, person] = sidesOf(route.access);
  const mark = route.isForClosed ? " †" : "";
  return `| \`${route.method} ${route.path}\`${mark} | ${key} | ${person} |`;
}

function sidesOf(access: Access): [key: string, person: string] {
  if (access === "public") return ["nobody is asked", "nobody is asked"];
  if (access === "operator") return ["the operator's secret", "an operator"];
  if (access === "directory") return ["the directory's token", "–"];
  const { key, person } = needsOf(access);
  const keyText = key === undefined ? "–" : key === "key" ? "any scope" : `\`${key}\``;
  return [keyText, person === undefined ? "–" : personText(person)];
}

function personText(person: PersonSide): string {
  if (person === "signed in") return "signed in";
  const open = ROLES.filter((role) => mayAs(role, person));
  return open.length === ROLES.length ? "any member" : open.join(", ");
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(ACCOUNT_DOC, withAccessTable(readFileSync(ACCOUNT_DOC, "utf8"), await readRouteTable()));
}
