/**
 * Statements for one server as statements for a cluster of ClickHouse (`CLICKHOUSE_CLUSTER`). Rows are in replicated tables
 * called `x_local`; `x` is a distributed table over those of all shards and is what everything reads. Rows are inserted
 * into `x_local` of the server that the gateway is connected to, and views sum up there: so a token and the rows under it
 * stay on one shard. Tables of migrations have all servers of all shards as replicas: a turn is taken once for all.
 */

export interface Cluster {
  /** As in the servers' `remote_servers`. */
  readonly name: string;
  readonly database: string;
}

/** Names of tables that no shard has for itself. */
const COMMON = new Set(["migrations", "migration_turns"]);
/** Where Keeper has the tables, by their names, so that a replica that is added later finds them. */
const PATH = "/clickhouse/weir/{database}";
const LOCAL = "_local";

/** The table with the rows, of a table that everything reads. */
export const localOf = (table: string): string =>
  COMMON.has(table) || table.endsWith(LOCAL) ? table : table + LOCAL;

const quotedName = (name: string): string => `\`${name}\``;
const FROM = /^FROM (\w+)$/m;

type Rewrite = (match: RegExpExecArray, on: string, cluster: Cluster) => string[];

/** Each is for statements that begin so; the first that fits is taken. */
const REWRITES: readonly (readonly [RegExp, Rewrite])[] = [
  [/^CREATE DATABASE IF NOT EXISTS (\S+)$/, ([sql], on) => [`${sql} ${on}`]],
  [/^CREATE TABLE IF NOT EXISTS (\w+)(\s*\([\s\S]*\)\s*)ENGINE = (\w*)MergeTree\b([\s\S]*)$/, tables],
  [
    /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS\s([\s\S]*)$/,
    ([, view = "", to = "", query = ""], on) => [
      `CREATE MATERIALIZED VIEW IF NOT EXISTS ${view} ${on} TO ${localOf(to)} AS\n${ofLocal(query)}`,
    ],
  ],
  [
    /^(CREATE VIEW IF NOT EXISTS|CREATE OR REPLACE VIEW) (\w+) AS\s([\s\S]*)$/,
    ([, create, view, query], on) => [`${create} ${view} ${on} AS\n${query}`],
  ],
  [
    /^ALTER TABLE (\w+) MODIFY QUERY\s([\s\S]*)$/,
    ([, view, query = ""], on) => [`ALTER TABLE ${view} ${on} MODIFY QUERY\n${ofLocal(query)}`],
  ],
  [/^ALTER TABLE (\w+)\s([\s\S]*)$/, altered],
  [/^DROP VIEW IF EXISTS (\w+)$/, ([sql], on) => [`${sql} ${on} SYNC`]],
  [
    /^DROP TABLE IF EXISTS (\w+)$/,
    ([, table = ""], on) =>
      [...new Set([table, localOf(table)])].map((name) => `DROP TABLE IF EXISTS ${name} ${on} SYNC`),
  ],
  [/^INSERT INTO (\w+)([\s\S]*)$/, ([, table = "", rest]) => [`INSERT INTO ${localOf(table)}${rest}`]],
  [/^SYSTEM START CLEANUP (\w+)$/, ([, table = ""], on) => [`SYSTEM START CLEANUP ${on} ${localOf(table)}`]],
];

/** @throws Error for a statement of a kind that is not known here: nothing is then run on one server alone */
export function forCluster(sql: string, cluster: Cluster): string[] {
  const bare = sql.replace(/^(?:\s*--[^\n]*\n)+/, "").trim();
  for (const [pattern, rewrite] of REWRITES) {
    const match = pattern.exec(bare);
    if (match !== null) return rewrite(match, `ON CLUSTER ${quotedName(cluster.name)}`, cluster);
  }
  throw new Error(`no form for a cluster: ${bare.slice(0, 80)}`);
}

/** A question about what servers do asks all of them; one about how much is stored, one replica of each shard. */
export function questionForCluster(sql: string, { name, database }: Cluster): string {
  if (!DOING.test(sql) && !STORED.test(sql)) return sql;
  return sql
    .replace(DOING, (_, table) => `FROM clusterAllReplicas('${name}', system.${table})`)
    .replace(STORED, `$1FROM cluster('${name}', system.tables)`)
    .replaceAll("currentDatabase()", `'${database}'`);
}

const DOING = /\bFROM system\.(mutations|parts|processes)\b/;
const STORED = /(\btotal_rows\b[^;]*?)\bFROM system\.tables\b/;

/** An alias, as columns may be named with their table's name. */
const ofLocal = (query: string): string =>
  query.replace(FROM, (_, table: string) => `FROM ${localOf(table)} AS ${table}`);

const distributed = (table: string, { name, database }: Cluster): string =>
  `AS ${localOf(table)} ENGINE = Distributed(${quotedName(name)}, ${quotedName(database)}, ${localOf(table)}, rand())`;

function tables(match: RegExpExecArray, on: string, cluster: Cluster): string[] {
  const [, table = "", columns = "", kind = "", rest = ""] = match;
  const [place, replica] = COMMON.has(table)
    ? [`${PATH}/${table}`, "{shard}-{replica}"]
    : [`${PATH}/${table}/{shard}`, "{replica}"];
  const options = rest.replace(
    /\bnon_replicated_deduplication_window = (\d+)/,
    "replicated_deduplication_window = $1, replicated_deduplication_window_seconds = 604800",
  );
  const made = `CREATE TABLE IF NOT EXISTS ${localOf(table)} ${on}${columns}ENGINE = Replicated${kind}MergeTree('${place}', '${replica}')${options}`;
  if (COMMON.has(table)) return [made];
  return [made, `CREATE TABLE IF NOT EXISTS ${table} ${on} ${distributed(table, cluster)}`];
}

/** Columns are those of both tables; everything else is of the one with the rows. */
function altered([, table = "", change = ""]: RegExpExecArray, on: string, cluster: Cluster): string[] {
  const local = `ALTER TABLE ${localOf(table)} ${on} ${change}`;
  if (!/^ADD (?:COLUMN|INDEX)\b/.test(change.trim()) || COMMON.has(table)) return [local];
  return [local, `CREATE OR REPLACE TABLE ${table} ${on} ${distributed(table, cluster)}`];
}
