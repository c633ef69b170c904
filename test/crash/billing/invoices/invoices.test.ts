/** Numbers of documents under kill -9: what was issued is there once, and no number is missing or given twice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { InvoiceRow } from "../../../../src/billing/invoices/invoice.ts";
import { numberText } from "../../../../src/billing/invoices/series.ts";
import { InvoiceTables } from "../../../../src/billing/invoices/tables.ts";
import { openStore } from "../../../../src/store/store.ts";
import { tempFolder } from "../../../support/credits/fixtures.ts";
import { amount } from "../../../support/effort.ts";

const KILLS = amount(3, 2);
const ISSUER = fileURLToPath(new URL("issuer.ts", import.meta.url));
const folder = tempFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the issuer and kills it -9 once it has said so many documents. Returns what it said. */
async function issueUntilKilled(seed: number, documents: number): Promise<string[]> {
  const child = spawn(process.execPath, [ISSUER, folder, String(seed)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > documents) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [code, signal] = await once(child, "close");
  expect([code, signal, errors]).toEqual([null, "SIGKILL", ""]);
  // A line without its newline was cut off by the kill.
  return said.split("\n").slice(0, -1);
}

test(`kill -9 while issuing, ${KILLS} times: each series is consecutive, and what was said is there`, async () => {
  const random = seededRandom(20260504);
  const said: string[] = [];
  for (let round = 1; round <= KILLS; round++) {
    said.push(...(await issueUntilKilled(round, 50 + Math.floor(random() * 400))));
    const store = openStore(folder);
    const tables = new InvoiceTables(store);
    const rows = ["org_a", "org_b"].flatMap((orgId) => [...tables.of(orgId)]);
    const known = new Set(rows.map(({ orgId, id, number }) => `${orgId} ${id} ${number}`));
    expect(said.filter((line) => !known.has(line))).toEqual([]);
    for (const prefix of ["TI", "CN"]) {
      const numbers = rows.flatMap(({ series, number }) => (series === prefix ? [number] : [])).sort();
      expect(numbers).toEqual(numbers.map((_, at) => numberText(prefix, "2026-27", at + 1)));
      expect(store.table("invoices.series").get([prefix, "2026-27"]) ?? 0).toBe(numbers.length);
    }
    expect(rows.filter((row) => !isWhole(tables, rows, row)).map(({ number }) => number)).toEqual([]);
    await store.close();
  }
});

/** What finds it is there, and an invoice knows its credit note. */
function isWhole(tables: InvoiceTables, rows: readonly InvoiceRow[], row: InvoiceRow): boolean {
  if (tables.byReference(row.orgId, row.reference)?.id !== row.id) return false;
  if (row.kind === "credit_note")
    return tables.get(row.orgId, row.originalId ?? "")?.creditedMinor === row.totalMinor;
  const hasNote = rows.some(({ originalId }) => originalId === row.id);
  return row.status === (hasNote ? "partially_credited" : "paid");
}
