/**
 * `weir check --data DIR`: checks a whole data folder and reports what it found. It never writes, and opens no
 * database.
 */
import { existsSync } from "node:fs";
import { LedgerAudit, MONEY_TABLES } from "../../credits/ledger/audit.ts";
import { inspect } from "../../store/recovery/inspection.ts";

/** Lines printed per kind of damage; a folder may have thousands. */
const FINDINGS = 50;

/** Resolves with the exit code: 0 where all is well, 1 where something was found. */
export async function checkData(
  { dataDir }: { dataDir: string },
  out: (line: string) => void,
): Promise<number> {
  if (!existsSync(dataDir)) {
    out(`${dataDir} does not exist`);
    return 1;
  }
  const audit = new LedgerAudit();
  const { findings, rows, frames } = inspect(dataDir, MONEY_TABLES, ({ table, key, value }) => {
    if (value !== undefined) audit.see(table, key, value);
  });
  // Gaps in a ledger with unreadable rows are no findings of their own.
  const all = [...findings, ...audit.findings()];
  const tables = [...rows].filter(([table]) => !table.startsWith("("));
  out(
    `${dataDir}: ${tables.reduce((sum, [, n]) => sum + n, 0)} rows in ${tables.length} tables, ${frames} frames beyond them`,
  );
  out(`ledger: ${audit.entries} entries of ${audit.orgs} orgs`);
  for (const line of all.slice(0, FINDINGS)) out(line);
  if (all.length > FINDINGS) out(`and ${all.length - FINDINGS} more`);
  out(all.length === 0 ? "Everything is as it should be." : `${all.length} findings.`);
  return all.length === 0 ? 0 : 1;
}
