/** docs/billing.md shows the states of top-ups and refunds as the code has them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { movesTable, withBillingTables } from "../../../scripts/billing-tables.ts";
import { moves } from "../../../src/billing/state-moves.ts";

const docs = readFileSync(resolve(import.meta.dirname, "../../../docs/billing.md"), "utf8");

test("the tables of docs/billing.md are the code's", () => {
  expect(docs, "run `node scripts/billing-tables.ts`, and read what it changed").toBe(
    withBillingTables(docs),
  );
});

test("a move is a row with its states, who makes it, and what it puts", () => {
  const table = moves<"on" | "off">()({ end: { from: ["on"], to: "off", by: "time", puts: "nothing" } });
  expect(movesTable(table).split("\n")[2]).toBe("| end | `on` | `off` | time | nothing |");
});

test("a document without the place of a table is refused", () => {
  expect(() => withBillingTables("# Billing")).toThrow(/billing-tables.ts topups/);
});
