/**
 * Analysts as users of a ClickHouse server: its own users, grants, row policies and limits. Passwords reach it as digests.
 * Users begin with the name of the database, so that two installations on one server leave each other's alone.
 */

import type { ClickHouse } from "../clickhouse/client.ts";
import {
  ANALYST_AT_ONCE,
  ANALYST_LIMITS,
  ANALYST_MEMORY_BYTES,
  ANALYST_RESULT_BYTES,
  ANALYST_RESULT_ROWS,
  ANALYST_ROWS_READ,
  ANALYST_SECONDS,
} from "../statements/analyst-settings.ts";
import { COMMON_TABLES, ORG_TABLES, ORG_VIEWS } from "../statements/engine-access.ts";
import { quoted } from "../statements/literal.ts";
import type { AnalystRow } from "./analysts.ts";

export const usernameOf = (database: string, id: string): string =>
  `${database}_analyst_${id.replace(/^\w+_/, "").toLowerCase()}`;

const name = (text: string): string => `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;

/**
 * Statements that make the user; they may be repeated. `readonly = 2`, as drivers send settings of their own: none beyond the
 * constraints, and no grant but SELECT on the documented tables.
 */
export function makingOf(database: string, row: AnalystRow): string[] {
  const user = name(row.username);
  const table = (of: string) => `${name(database)}.${name(of)}`;
  const isOfAll = row.orgId === "";
  const tables = [...ORG_TABLES, ...ORG_VIEWS, ...(isOfAll ? COMMON_TABLES : [])];
  const rows = isOfAll ? "1" : `org_id = ${quoted(row.orgId)}`;
  const until = new Date(row.expiresAtMs).toISOString().slice(0, 19).replace("T", " ");
  const bounded = Object.entries(CONSTRAINTS).map(
    ([setting, most]) => `${setting} = ${most} MIN 1 MAX ${most}`,
  );
  const fixed = ANALYST_LIMITS.filter(([setting]) => /_overflow_mode$/.test(setting));
  const constants = fixed.map(([setting, value]) => `${setting} = ${quoted(value)} CONST`);
  const settings = [
    ...bounded,
    ...constants,
    `max_concurrent_queries_for_user = ${ANALYST_AT_ONCE} CONST, readonly = 2 CONST`,
  ].join(", ");
  const quota = "KEYED BY user_name FOR INTERVAL 1 hour MAX queries = 3600, execution_time = 3600";
  return [
    `CREATE USER IF NOT EXISTS ${user} IDENTIFIED WITH sha256_hash BY ${quoted(row.digest)} DEFAULT ROLE NONE DEFAULT DATABASE ${name(database)}`,
    // Limits of today, also where the user was made by an earlier release.
    `ALTER USER ${user} VALID UNTIL ${quoted(`${until} UTC`)} SETTINGS ${settings}`,
    `CREATE QUOTA IF NOT EXISTS ${user} ${quota} TO ${user}`,
    `ALTER QUOTA ${user} ${quota}`,
    // Before the grants: a user whom no policy names would read every row of the table.
    ...ORG_TABLES.flatMap((of) => [
      `CREATE ROW POLICY IF NOT EXISTS ${user} ON ${table(of)} USING ${rows} TO ${user}`,
      `ALTER ROW POLICY ${user} ON ${table(of)} USING ${rows} TO ${user}`,
    ]),
    ...tables.map((of) => `GRANT SELECT ON ${table(of)} TO ${user}`),
  ];
}

/** The name of the policy that keeps everybody else's reading as it is. */
const OTHERS = "weir_all";

/**
 * A table's first policy takes the rows from all users of the server who have none, unless the server's
 * `users_without_row_policies_can_read_rows` is on. So others get one that lets them read on. It tells analysts by their
 * names: `TO ALL EXCEPT` a role would let in an analyst who leaves the role (`SET ROLE NONE`). A table with policies of the
 * server's operator is left to these, as a further permissive policy would show more than they do.
 * https://clickhouse.com/docs/sql-reference/statements/create/row-policy
 * @param governed tables of the database with policies of others
 */
export function othersOf(database: string, governed: ReadonlySet<string>): string[] {
  const isNoAnalyst = `NOT startsWith(currentUser(), ${quoted(usernameOf(database, ""))})`;
  return ORG_TABLES.map((of) => {
    const whom =
      governed.has(of) || governed.has("") ? "USING 1 TO CURRENT_USER" : `USING ${isNoAnalyst} TO ALL`;
    return `CREATE ROW POLICY OR REPLACE ${OTHERS} ON ${name(database)}.${name(of)} ${whom}`;
  });
}

/** Each with its greatest value, which is also the default. */
const CONSTRAINTS = {
  max_execution_time: ANALYST_SECONDS,
  max_memory_usage: ANALYST_MEMORY_BYTES,
  max_rows_to_read: ANALYST_ROWS_READ,
  max_result_rows: ANALYST_RESULT_ROWS,
  max_result_bytes: ANALYST_RESULT_BYTES,
  max_threads: 2,
} as const;

export function droppingOf(database: string, username: string): string[] {
  const user = name(username);
  return [
    `DROP USER IF EXISTS ${user}`,
    `DROP QUOTA IF EXISTS ${user}`,
    ...ORG_TABLES.map((of) => `DROP ROW POLICY IF EXISTS ${user} ON ${name(database)}.${name(of)}`),
  ];
}

/**
 * Makes the server's users those of the rows: those that lack are made, those that are too many dropped.
 * @param made names of users whose statements this process has run; kept up to date
 */
export async function reconcile(
  clickhouse: Pick<ClickHouse, "rows" | "command">,
  database: string,
  rows: readonly AnalystRow[],
  made: Set<string>,
): Promise<void> {
  const prefix = usernameOf(database, "");
  const there = (
    await clickhouse.rows<{ name: string }>(
      "SELECT name FROM system.users WHERE startsWith(name, {prefix:String})",
      { prefix },
    )
  ).map((user) => user.name);
  const wanted = new Map(rows.map((row) => [row.username, row]));
  for (const username of there) {
    if (wanted.has(username)) continue;
    for (const sql of droppingOf(database, username)) await clickhouse.command(sql);
    made.delete(username);
  }
  // Also those that are there: a start that died half way may have left one without its policies or grants.
  const lacking = rows.filter(({ username }) => !made.has(username) || !there.includes(username));
  if (lacking.length === 0) return;
  // Before the first policy that names an analyst.
  const governed = await clickhouse.rows<{ table: string }>(
    `SELECT DISTINCT table FROM system.row_policies WHERE database IN ('', {database:String})
      AND NOT startsWith(short_name, {prefix:String}) AND short_name != '${OTHERS}'`,
    { database, prefix },
  );
  for (const sql of othersOf(database, new Set(governed.map(({ table }) => table))))
    await clickhouse.command(sql);
  for (const row of lacking) {
    for (const sql of makingOf(database, row)) await clickhouse.command(sql);
    made.add(row.username);
  }
}
