/** `weir reconcile` and `weir provider-bill`: books that should match, compared by the running gateway. */
import { readFile, stat } from "node:fs/promises";
import type { Given, Shell } from "./command.ts";
import { ask, needed, type Row, table } from "./operate.ts";

/** The gateway reads a day within that, or says that it could not. */
const WITHIN_MS = 95_000;
/** What the gateway takes. */
const MOST_FILE_BYTES = 8 * 1024 * 1024;

/** @returns 1 where a fault is left */
export async function reconcile({ options }: Given, shell: Shell): Promise<number> {
  const day = typeof options.day === "string" ? options.day : undefined;
  const query = day === undefined ? "" : `&day=${encodeURIComponent(day)}`;
  const report =
    options.heal === true
      ? await ask(shell, "POST", "/reconciliation", { ...(day !== undefined && { day }) }, WITHIN_MS)
      : await ask(shell, "GET", `/reconciliation?fresh=1${query}`, undefined, WITHIN_MS);
  const findings = report.findings as Row[];
  if (findings.length > 0)
    table(shell, findings, [
      "kind",
      "state",
      "org_id",
      "gateway",
      "ref",
      "currency",
      "amount_minor",
      "detail",
    ]);
  const sums = Object.entries(report.totals as Record<string, Row[]>).flatMap(([name, rows]) =>
    rows.map((row): Row => ({ ...row, total: name })),
  );
  if (sums.length > 0) {
    shell.out("\n");
    table(shell, sums, ["total", "currency", "count", "amount_minor", "fee_minor"]);
  }
  const end = report.complete === true ? "" : " Not everything could be looked at.";
  const isBalanced = report.balanced === true;
  shell.out(`\n${report.day}: the books ${isBalanced ? "match" : "do not match"}.${end}\n`);
  return isBalanced && report.complete === true ? 0 : 1;
}

/** @returns 1 where traffic is unbilled, unrecorded, unpriced, or its tokens differ */
export async function checkBill({ operand, options }: Given, shell: Shell): Promise<number> {
  const path = needed(operand, "FILE");
  const provider = needed(options.provider, "--provider");
  if ((await stat(path)).size > MOST_FILE_BYTES)
    throw new Error(`${path} is longer than ${MOST_FILE_BYTES} bytes: send its days in parts`);
  const text = await readFile(path, "utf8");
  const format = typeof options.format === "string" ? options.format : "plain";
  const file = path.endsWith(".json") ? { json: text } : { csv: text };
  const bill = await ask(shell, "POST", "/provider-bills", { provider, format, ...file }, WITHIN_MS);
  const rows = (bill.data as Row[]).filter(({ kind }) => kind !== "matched").map(flat);
  table(shell, rows, ["day", "model", "kind", "input", "output", "cost_micro", "unpriced_requests"]);
  const counts = Object.entries(bill.counts as Record<string, number>);
  shell.out(
    `\n${counts.map(([kind, count]) => `${count} ${kind}`).join(", ")}; figures are billed less recorded\n`,
  );
  if (bill.incomplete_since !== undefined)
    shell.out(
      `Recorded calls that ended from ${bill.incomplete_since} on may be missing: compare again later\n`,
    );
  return rows.length === 0 && bill.unpriced_requests === 0 ? 0 : 1;
}

function flat(row: Row): Row {
  const drift = row.drift as Row;
  return { ...row, input: drift.input_tokens, output: drift.output_tokens, cost_micro: drift.cost_micro };
}
