/** A start looks at all tables of money before others: those that the rooms of money open are in its list. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MONEY_TABLES } from "../../../../src/credits/ledger/audit.ts";

const SRC = join(import.meta.dirname, "../../../../src");
const ROOMS = ["billing", "credits/ledger", "billing/invoices", "billing/receipts"];

/** Names of the tables that a room's files open. */
const tablesOf = (room: string): string[] =>
  readdirSync(join(SRC, room), { recursive: true, encoding: "utf8" })
    // What payment gateways said is no book of ours.
    .filter((file) => !file.startsWith("payments/") && file.endsWith(".ts"))
    .flatMap((file) => [
      ...readFileSync(join(SRC, room, file), "utf8").matchAll(/\.table(?:<[^(]*>)?\("([^"]+)"/g),
    ])
    .map(([, name = ""]) => name);

test.each(ROOMS)("tables of %s are in MONEY_TABLES", (room) => {
  const tables = tablesOf(room);
  expect(tables.length).toBeGreaterThan(1);
  const listed: readonly string[] = MONEY_TABLES;
  expect(tables.filter((name) => !listed.includes(name))).toEqual([]);
});

test("MONEY_TABLES has each table once, and those of spend", () => {
  expect(new Set(MONEY_TABLES).size).toBe(MONEY_TABLES.length);
  expect(MONEY_TABLES).toContain("spend");
});
