/** Proves that a data folder is whole: every row readable, and a ledger whose entries follow each other and add up. */
import { LedgerAudit, MONEY_TABLES } from "../../credits/ledger/audit.ts";
import { inspect } from "../../store/recovery/inspection.ts";
import { LaterRelease, withPath } from "../../store/tables/later-release.ts";
import type { Manifest } from "./manifest.ts";

type LedgerSum = Manifest["ledger"];

const MOST_TOLD = 20;

/**
 * Reads every row. Writes nothing, and opens no database.
 * @param named the folder that the operator knows, where the proven one is a copy of it
 * @throws Error with a line for each finding
 */
export function prove(dataDir: string, named = dataDir): LedgerSum {
  const audit = new LedgerAudit();
  let later: LaterRelease | undefined;
  const { findings } = inspect(dataDir, MONEY_TABLES, ({ table, key, value }) => {
    try {
      if (value !== undefined) audit.see(table, key, value);
    } catch (error) {
      if (!(error instanceof LaterRelease)) throw error;
      later ??= error;
    }
  });
  // An entry that cannot be read proves no sum.
  if (later !== undefined) throw withPath(named, later);
  const all = [...findings, ...audit.findings()];
  if (all.length > 0) {
    const more = all.length > MOST_TOLD ? [`and ${all.length - MOST_TOLD} more`] : [];
    throw new Error([`${named} is not whole:`, ...all.slice(0, MOST_TOLD), ...more].join("\n"));
  }
  return { orgs: audit.orgs, entries: audit.entries, sum_micro_usd: audit.sumMicroUsd };
}

/** Proves each of several copies of folders. @returns what they have together. @throws Error with a line for each finding */
export const proveAll = (copies: readonly { readonly copy: string; readonly of: string }[]): LedgerSum =>
  copies
    .map(({ copy, of }) => prove(copy, of))
    .reduce((sum, one) => ({
      orgs: sum.orgs + one.orgs,
      entries: sum.entries + one.entries,
      sum_micro_usd: sum.sum_micro_usd + one.sum_micro_usd,
    }));
