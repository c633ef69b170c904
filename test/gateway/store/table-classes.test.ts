/** Each table that the gateway opens says how cells share it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLASSED, tableClass } from "../../../src/cluster/cells/replica/table-classes.ts";
import { testGateway } from "../../support/gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-classes-"));
let tables: string[] = [];

/** The store's own: its progress, the ends of its logs, and which process has the folder. */
const STORES_OWN = ["journal", "log_trims", "process"];
/** Opened only by a cell, and where a folder was restored; and those of releases before 0.1.0. */
const RARE = [
  "cells",
  "forgotten",
  "restores",
  "ledger.posted",
  "ledger.posted_references",
  "ledger.posted_kinds",

  "installation",
  "spend_parts",
  "catalog.readings",
  "cell_addresses",
  "ledger.former",
  "ledger.gone",
  "credits.told_falls",
  "credits.uncharged",
];

beforeAll(async () => {
  await (await testGateway({ folder })).stop();
  const file = open({ path: join(folder, "data", "weir.lmdb"), maxDbs: 512, readOnly: true });
  tables = [...file.getKeys()].map(String).filter((name) => !STORES_OWN.includes(name));
  await file.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every table has a class", () => {
  expect(tables.length).toBeGreaterThan(100);
  for (const name of tables) expect(() => tableClass(name), name).not.toThrow();
});

test("no class is of a table that is gone", () => {
  const isUsed = (name: string) => tables.some((table) => table === name || table.startsWith(`${name}.`));
  expect(CLASSED.filter((name) => !RARE.includes(name) && !isUsed(name))).toEqual([]);
});

test("S7: docs/data.md says of every table what bounds an org's rows in it", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/data.md"), "utf8");
  const section = text.slice(text.indexOf("## What bounds it"), text.indexOf("## Who can read it"));
  const named = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name as string),
  );
  expect(new Set(named).size).toBe(named.length);
  expect(tables.filter((name) => !named.includes(name))).toEqual([]);
  // Some tables are opened by cells alone, or once something happened.
  expect(named.filter((name) => !tables.includes(name) && !RARE.includes(name))).toEqual([]);
});

test("a table that nobody classed is refused", () => {
  expect(() => tableClass("novelties")).toThrow("table novelties has no class");
});
