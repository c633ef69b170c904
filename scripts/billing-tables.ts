/**
 * The tables of states in docs/billing.md, from the code's own. `node scripts/billing-tables.ts` writes them anew;
 * test/unit/docs/billing-doc.test.ts holds the document against them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MANDATE_MOVES } from "../src/billing/mandates/mandate.ts";
import { REFUND_MOVES } from "../src/billing/refunds/refund.ts";
import type { Moves } from "../src/billing/state-moves.ts";
import { TOPUP_MOVES } from "../src/billing/topups/topup.ts";

const BILLING_DOC = join(import.meta.dirname, "../docs/billing.md");
const TABLES: Readonly<Record<string, Moves<string>>> = {
  topups: TOPUP_MOVES,
  refunds: REFUND_MOVES,
  mandates: MANDATE_MOVES,
};

/** A row for each move, in Markdown. */
export const movesTable = (moves: Moves<string>): string =>
  [
    "| move | from | to | by | puts |",
    "|---|---|---|---|---|",
    ...Object.entries(moves).map(([name, { from, to, by, puts }]) => {
      const states = from.map((state) => `\`${state}\``).join(", ");
      return `| ${name} | ${states} | \`${to}\` | ${by} | ${puts} |`;
    }),
  ].join("\n");

/** The document with the tables of now. @throws an Error where the place of one is not marked */
export function withBillingTables(text: string): string {
  let written = text;
  for (const [name, moves] of Object.entries(TABLES)) {
    const begin = `<!-- begin: node scripts/billing-tables.ts ${name} -->`;
    const from = written.indexOf(begin);
    const to = written.indexOf("<!-- end -->", from);
    if (from < 0 || to < 0) throw new Error(`the document needs the line "${begin}", and an end`);
    written = `${written.slice(0, from + begin.length)}\n\n${movesTable(moves)}\n\n${written.slice(to)}`;
  }
  return written;
}

if (import.meta.filename === process.argv[1])
  writeFileSync(BILLING_DOC, withBillingTables(readFileSync(BILLING_DOC, "utf8")));
