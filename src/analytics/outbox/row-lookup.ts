/** Finds by id which rows of a batch a table contains. */
import type { ClickHouse } from "../clickhouse/client.ts";
import { quoted } from "../statements/literal.ts";

/** Values by which a row is found quickly: its table is sorted by org and time. */
export interface RowIdentity {
  readonly orgId: string;
  readonly tsMs: number;
  readonly id: string;
}

/** Ids in one statement: about 60 KB of text. */
const IDS = 2000;
const RETENTION_MS = 399 * 86_400_000;

/**
 * The rows that can be looked up: tables delete rows after 400 days, so an older row that is missing may have been
 * inserted.
 */
export const withinRetention = <T extends RowIdentity>(rows: readonly T[], nowMs: number): T[] =>
  rows.filter(({ tsMs }) => tsMs > nowMs - RETENTION_MS);

/**
 * The rows that the table does not contain.
 * @param idColumn the column of {@link RowIdentity.id}
 */
export async function rowsNotIn<T extends RowIdentity>(
  clickhouse: Pick<ClickHouse, "rows">,
  table: string,
  idColumn: string,
  rows: readonly T[],
): Promise<T[]> {
  const missing: T[] = [];
  for (let at = 0; at < rows.length; at += IDS) {
    const asked = rows.slice(at, at + IDS);
    const found = await clickhouse.rows<{ id: string }>(
      `SELECT ${idColumn} AS id FROM ${table} WHERE ${orgAndTimeCondition(asked)} AND ${idColumn} IN (${list(asked.map(({ id }) => id))})`,
    );
    const ids = new Set(found.map(({ id }) => id));
    missing.push(...asked.filter(({ id }) => !ids.has(id)));
  }
  return missing;
}

/** Condition on the orgs and the time range of some rows: the primary key finds them by it. */
export function orgAndTimeCondition(rows: readonly RowIdentity[]): string {
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  const orgs = new Set<string>();
  for (const { orgId, tsMs } of rows) {
    orgs.add(orgId);
    from = Math.min(from, tsMs);
    to = Math.max(to, tsMs);
  }
  return `org_id IN (${list([...orgs])})
    AND ts BETWEEN fromUnixTimestamp64Milli(${from}) AND fromUnixTimestamp64Milli(${to})`;
}

const list = (values: readonly string[]): string => values.map(quoted).join(", ");
