/** docs/account.md shows who may call what as the route table has it, and explains every role and scope. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { accessTable, withAccessTable } from "../../../scripts/access-table.ts";
import { readRouteTable } from "../../../scripts/route-table.ts";
import { ROLES } from "../../../src/account/roles.ts";
import type { Access } from "../../../src/base/operation/access.ts";
import { SCOPES } from "../../../src/base/operation/access.ts";
import type { Route } from "../../../src/edge/routes.ts";

const docs = readFileSync(resolve(import.meta.dirname, "../../../docs/account.md"), "utf8");

test("the table of docs/account.md is the route table's", async () => {
  expect(docs, "run `node scripts/access-table.ts`, and read what it changed").toBe(
    withAccessTable(docs, await readRouteTable()),
  );
});

test("every role and every scope is explained", () => {
  for (const role of ROLES) expect(docs).toMatch(new RegExp(`^\\| \`${role}\` \\| .{20}`, "m"));
  for (const scope of SCOPES) expect(docs).toContain(`\`${scope}\``);
});

const rowFor = (access: Access, isForClosed = false): string | undefined =>
  accessTable([
    { method: "GET", path: "/x", access, isForClosed, group: { heading: "" } } as unknown as Route,
  ]).split("\n")[2];

test.each<[Access, string]>([
  ["public", "| `GET /x` | nobody is asked | nobody is asked |"],
  ["operator", "| `GET /x` | the operator's secret | an operator |"],
  ["directory", "| `GET /x` | the directory's token | – |"],
  ["inference", "| `GET /x` | `inference` | – |"],
  ["key / everyone", "| `GET /x` | any scope | any member |"],
  ["no key / signed in", "| `GET /x` | – | signed in |"],
  ["read:usage / viewer", "| `GET /x` | `read:usage` | owner, admin, member, viewer |"],
  ["write:keys / member", "| `GET /x` | `write:keys` | owner, admin, member |"],
  ["no key / owner", "| `GET /x` | – | owner |"],
])("a row for %s", (access, row) => {
  expect(rowFor(access)).toBe(row);
});

test("a route that is open to people of a closed org is marked", () => {
  expect(rowFor("no key / owner", true)).toBe("| `GET /x` † | – | owner |");
});

test("a document without the place of the table is refused", () => {
  expect(() => withAccessTable("no marks", [])).toThrow(/needs the lines/);
});
