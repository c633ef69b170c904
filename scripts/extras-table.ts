/**
 * Writes the table of what changes a provider's bill into docs/money.md, from the rows that bodies are read by
 * (`src/wire/extras`). `node scripts/extras-table.ts`
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { extrasTable } from "../src/wire/extras/document.ts";

const FILE = join(import.meta.dirname, "../docs/money.md");
const [START, END] = ["<!-- extras -->", "<!-- /extras -->"] as const;

const text = readFileSync(FILE, "utf8");
const from = text.indexOf(START) + START.length;
const to = text.indexOf(END);
if (from < START.length || to < from) throw new Error(`docs/money.md has no ${START} … ${END}`);
writeFileSync(FILE, `${text.slice(0, from)}\n\n${extrasTable()}\n\n${text.slice(to)}`);
