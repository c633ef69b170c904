/**
 * The row of one ledger entry on its way into ClickHouse. In the queue it is JSON behind its sum: org, number, and the entry as the
 * ledger of one gateway stores it. It is money: a row with a wrong sum, or a value that no entry can have, is damaged, and is never
 * made to fit. An earlier release wrote no sum.
 */
import { entryOf, type LedgerEntry, type StoredEntry, storedEntry } from "../../credits/ledger/entry.ts";
import { RowBinaryWriter } from "../../record/row-binary.ts";
import { contentOf, SUM_BYTES, withSum } from "../../store/journal/row-sum.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import { quoted } from "../statements/literal.ts";

export type OrgEntry = LedgerEntry & { readonly orgId: string };

type Column = readonly [name: string, write: (out: RowBinaryWriter, entry: OrgEntry) => void];

const COLUMNS: readonly Column[] = [
  ["org_id", (out, entry) => out.text(entry.orgId)],
  ["seq", (out, entry) => out.u64(entry.seq)],
  ["kind", (out, entry) => out.text(entry.kind)],
  ["amount_micro", (out, entry) => out.i64(entry.amountMicroUsd)],
  ["balance_micro", (out, entry) => out.i64(entry.balanceMicroUsd)],
  ["ts", (out, entry) => out.time(entry.createdAtMs)],
  ["request_id", (out, entry) => out.text(entry.kind === "settle" ? entry.requestId : "")],
  ["ref_type", (out, entry) => out.text(entry.kind === "settle" ? "" : entry.refType)],
  ["ref_id", (out, entry) => out.text(entry.kind === "settle" ? "" : entry.refId)],
];
export const LEDGER_COLUMNS: readonly string[] = COLUMNS.map(([name]) => name);

const SPACE = "\0".repeat(SUM_BYTES);

/** @throws RangeError for a number that is no safe integer, or an entry without an org: it could not be read again */
export function encodeEntry(entry: OrgEntry): Uint8Array {
  const { orgId, seq, amountMicroUsd, balanceMicroUsd } = entry;
  if (orgId === "" || seq < 1 || ![seq, amountMicroUsd, balanceMicroUsd].every(Number.isSafeInteger))
    throw new RangeError(`entry ${seq} of org ${JSON.stringify(orgId)} is no ledger entry`);
  return withSum(Buffer.from(SPACE + JSON.stringify([orgId, seq, storedEntry(entry)])));
}

/** @returns undefined for a row that cannot be read */
export function decodedEntry(bytes: Uint8Array): OrgEntry | undefined {
  const content = contentOf(bytes);
  if (content === undefined) return undefined;
  try {
    const [orgId, seq, stored]: unknown[] = JSON.parse(Buffer.from(content).toString("utf8"));
    if (typeof orgId !== "string" || orgId === "" || !Array.isArray(stored)) return undefined;
    const [, amount, balance, atMs, ...names]: unknown[] = stored;
    if (![seq, amount, balance].every(Number.isSafeInteger) || Number(seq) < 1) return undefined;
    if (typeof atMs !== "number") return undefined;
    if (names.length === 0 || !names.every((name) => typeof name === "string")) return undefined;
    return { ...entryOf(seq as number, stored as unknown as StoredEntry), orgId };
  } catch {
    return undefined;
  }
}

/** The entries as `INSERT INTO ledger (…) FORMAT RowBinary` takes them. */
export function insertable(entries: readonly OrgEntry[]): Uint8Array {
  const out = new RowBinaryWriter(entries.length * BYTES_A_ROW);
  for (const entry of entries) for (const [, write] of COLUMNS) write(out, entry);
  return out.take();
}

const BYTES_A_ROW = 128;
/** Entries in one statement: about 100 KB of text. */
const AT_ONCE = 2000;

/** Those that the table does not contain. */
export async function entriesNotIn(
  clickhouse: Pick<ClickHouse, "rows">,
  entries: readonly OrgEntry[],
): Promise<OrgEntry[]> {
  const missing: OrgEntry[] = [];
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const asked = entries.slice(at, at + AT_ONCE);
    const keys = asked.map(({ orgId, seq }) => `(${quoted(orgId)}, ${seq})`).join(", ");
    const found = await clickhouse.rows<{ org_id: string; seq: number }>(
      `SELECT org_id, seq FROM ledger WHERE (org_id, seq) IN (${keys})`,
    );
    const there = new Set(found.map(({ org_id, seq }) => `${org_id} ${seq}`));
    missing.push(...asked.filter(({ orgId, seq }) => !there.has(`${orgId} ${seq}`)));
  }
  return missing;
}
