/** Generates statements that an analyst may try: good ones, and attacks, combined at random. The same for the same seed. */

export interface Targets {
  readonly port: number;
  readonly readable: string;
  readonly written: string;
}

type Pick = <T>(values: readonly T[]) => T;

/** @param random from 0 to below 1 */
export function generated(count: number, random: () => number, targets: Targets): string[] {
  const pick: Pick = (values) => values[Math.floor(random() * values.length)] as never;
  return Array.from({ length: count }, () => statement(pick, targets));
}

const statement = (pick: Pick, targets: Targets): string => {
  const inner = pick([select, select, fromSystem, fromFunction, attack, leak])(pick, targets);
  return pick([
    (sql: string) => sql,
    (sql: string) => sql,
    (sql: string) => sql,
    (sql: string) => `SELECT * FROM (${sql})`,
    (sql: string) => `WITH c AS (${sql}) SELECT * FROM c`,
    (sql: string) => `SELECT count() FROM (${sql})`,
    (sql: string) => `SELECT (SELECT count() FROM (${sql})) AS n`,
    (sql: string) => `${sql} UNION ALL ${sql}`,
    (sql: string) => `SELECT 1 WHERE 1 IN (SELECT length(toString(tuple(*))) FROM (${sql}))`,
    (sql: string) => `/* ; */ ${sql} -- ;`,
    (sql: string) => `${sql} SETTINGS ${pick(SETTINGS)}`,
    (sql: string) => `${sql} FORMAT ${pick(FORMATS)}`,
    (sql: string) => `${sql}; ${sql}`,
    (sql: string) => `SELECT 1; ${sql}`,
    (sql: string) => `${sql} INTO OUTFILE '${targets.written}'`,
    (sql: string) => `EXPLAIN ${pick(["", "PLAN indexes = 1", "ESTIMATE", "QUERY TREE", "PIPELINE"])} ${sql}`,
    (sql: string) => `DESCRIBE TABLE (${sql})`,
    (sql: string) => `INSERT INTO requests (org_id) ${sql}`,
    (sql: string) => `INSERT INTO FUNCTION file('${targets.written}', 'CSV') ${sql}`,
    (sql: string) => `CREATE TABLE t${Math.floor(1)} ENGINE = Memory AS ${sql}`,
    (sql: string) => `CREATE TEMPORARY TABLE t AS ${sql}`,
    (sql: string) => `CREATE VIEW v AS ${sql}`,
  ])(inner);
};

const SUMS = ["usage_hourly", "usage_tags_daily"];
const TABLES = [
  "requests",
  "weir.requests",
  "payloads",
  "attempts",
  "shadow_runs",
  "ledger",
  "ledger FINAL",
  ...SUMS,
];
const SETTINGS = [
  "log_comment = ''",
  "log_comment = 'org_b'",
  "log_comment = '*'",
  "readonly = 0",
  "additional_table_filters = {}",
  "max_execution_time = 9999",
  "allow_introspection_functions = 1",
  "enable_analyzer = 0",
  "optimize_trivial_count_query = 1",
  "force_primary_key = 0, max_threads = 1",
  "use_query_cache = 1",
];
const FORMATS = ["CSV", "JSON", "JSONEachRow", "TSVWithNames", "Pretty", "Values", "Null", "Vertical"];
const WHERES = [
  "",
  " WHERE org_id = 'org_b'",
  " WHERE org_id != 'org_a'",
  " WHERE 1 OR org_id = 'org_a'",
  " PREWHERE org_id IN ('org_a', 'org_b')",
  " WHERE request_id LIKE 'B%'",
  " WHERE request_id IN (SELECT request_id FROM payloads)",
  " WHERE NOT ignore(*)",
];

function select(pick: Pick): string {
  const table = pick(TABLES);
  const where = SUMS.includes(table) ? pick(WHERES.slice(0, 4)) : pick(WHERES);
  return pick([
    () => `SELECT count() FROM ${table}${where}`,
    () => `SELECT org_id, count() AS n FROM ${table}${where} GROUP BY org_id WITH TOTALS ORDER BY org_id`,
    () => `SELECT DISTINCT org_id FROM ${table}${where} ORDER BY org_id`,
    () => `SELECT min(org_id), max(org_id), uniqExact(org_id) FROM ${table}${where}`,
    () =>
      `SELECT a.org_id, b.org_id, count() FROM ${table} AS a CROSS JOIN payloads AS b GROUP BY ALL ORDER BY ALL`,
    () => `SELECT a.request_id FROM requests AS a RIGHT JOIN payloads AS b USING (request_id) ORDER BY ALL`,
    () =>
      `SELECT a.n FROM (SELECT 1 AS n) AS a ASOF JOIN (SELECT 1 AS n, 1 AS m) AS b ON a.n = b.n AND a.n >= b.m`,
    () => `SELECT groupUniqArray(project_id) FROM requests${where.includes("request_id IN") ? "" : where}`,
    () => `SELECT * EXCEPT (ttft, duration, batches) FROM usage_hourly ORDER BY ALL`,
    () => `SELECT * EXCEPT (batches) FROM ${pick(SUMS.slice(1))} ORDER BY ALL`,
    () =>
      `SELECT org_id, hour, sum(requests) OVER (PARTITION BY org_id ORDER BY hour) FROM usage_hourly ORDER BY ALL`,
    () => `SELECT count() FROM ${table} FINAL`,
    () => `SELECT count() FROM ${table} SAMPLE 0.5`,
    () => `SELECT _part, _partition_id FROM ${table}${where} ORDER BY ALL LIMIT 1 BY 1`,
    () => `SELECT org_id FROM requests ORDER BY org_id DESC LIMIT 3 WITH TIES`,
    () => `SELECT any(user_agent), argMax(user_agent, org_id), topK(3)(org_id) FROM requests`,
    () => `SELECT tags['team'] AS t, count() FROM requests GROUP BY t ORDER BY t`,
  ])();
}

/** Expressions that would tell of a row by failing on it. */
function leak(pick: Pick): string {
  const test = pick([
    "throwIf(user_agent != 'plain', 'found another')",
    "toUInt64(substring(user_agent, 6))",
    "if(org_id = 'org_b', toUInt8(user_agent), 0)",
    "CAST(user_agent AS Enum8('plain' = 1))",
    "assumeNotNull(toDateTime(nullIf(org_id, 'org_a')))",
    "JSONExtract(concat('{', project_id), 'Int8')",
    "intDiv(1, org_id = 'org_a')",
    "parseDateTime(org_id, '%Y')",
    "arrayElement([1], if(org_id = 'org_a', 1, 0))",
  ]);
  return pick([
    `SELECT count() FROM requests WHERE ${test} = 1`,
    `SELECT ${test} AS x FROM requests ORDER BY x LIMIT 2`,
    `SELECT count() FROM requests PREWHERE ${test} = 0`,
    `SELECT request_id FROM requests ORDER BY ${test}, request_id LIMIT 1`,
    `SELECT count() FROM requests GROUP BY ${test} HAVING ${test} = 0`,
    `SELECT count() FROM requests AS a INNER JOIN payloads AS b ON a.request_id = b.request_id AND ${test.replaceAll("org_id", "a.org_id")} = 0`,
  ]);
}

function fromSystem(pick: Pick): string {
  const table = pick([
    "tables",
    "columns",
    "databases",
    "processes",
    "parts",
    "parts_columns",
    "query_log",
    "settings",
    "users",
    "row_policies",
    "grants",
    "roles",
    "merges",
    "mutations",
    "stack_trace",
    "disks",
    "server_settings",

    "named_collections",
    "query_cache",
    "user_processes",
    "detached_parts",
    "metrics",
    "events",
    "errors",
    "projection_parts",
    "dictionaries",
    "clusters",
    "data_skipping_indices",
    "build_options",
    "warnings",
  ]);
  const database = pick([
    "system",
    "`system`",
    "system",
    "information_schema",
    "INFORMATION_SCHEMA",
    "default",
  ]);
  const columns = pick([
    "*",
    "count()",
    "name",
    "total_rows",
    "query",
    "rows",
    "data_compressed_bytes",
    "columns('.*')",
    "t.*",
    "sum(total_bytes)",
    "table_rows",
    "table_name",
    "COLUMNS(total_rows)",
    "toString(tuple(t.*))",
  ]);
  return `SELECT ${columns} FROM ${database}.${table} AS t WHERE ${pick(["1", "database = 'weir'", "table = 'requests'"])}`;
}

function fromFunction(pick: Pick, { port, readable, written }: Targets): string {
  const source = pick([
    `file('${readable}', 'CSV', 'a String')`,
    `file('${readable}')`,
    `url('http://127.0.0.1:${port}/', 'CSV', 'a String')`,
    `urlCluster('default', 'http://127.0.0.1:${port}/', 'CSV', 'a String')`,
    `remote('127.0.0.1:${port}', 'weir', 'requests')`,
    `remoteSecure('127.0.0.1:${port}', weir.requests)`,
    `s3('http://127.0.0.1:${port}/bucket/x.csv', 'NOSIGN', 'CSV', 'a String')`,
    `azureBlobStorage('http://127.0.0.1:${port}/', 'c', 'x', 'CSV')`,
    `mysql('127.0.0.1:${port}', 'd', 't', 'u', 'p')`,
    `postgresql('127.0.0.1:${port}', 'd', 't', 'u', 'p')`,
    `mongodb('127.0.0.1:${port}', 'd', 't', 'u', 'p', 'a String')`,
    `redis('127.0.0.1:${port}', 'a', 'a String')`,
    `sqlite('${written}', 't')`,
    `deltaLakeLocal('${readable}')`,
    `icebergLocal('${readable}')`,
    `filesystem('${readable}')`,
    "merge('weir', '.*')",
    "merge(REGEXP('.*'), 'requests')",
    "mergeTreeIndex('weir', 'requests')",
    "mergeTreeProjection('weir', 'requests', 'p')",
    "mergeTreeAnalyzeIndexes('weir', 'requests')",
    "loop(weir.requests)",
    "cluster('default', 'weir', 'requests')",
    "clusterAllReplicas('default', system.processes)",
    "dictionary('d')",
    "view(SELECT org_id FROM weir.requests ORDER BY org_id)",
    "viewIfPermitted(SELECT * FROM system.processes ELSE null('a String'))",
    "executable('cat', 'CSV', 'a String')",
    "input('a String')",
    "numbers(3)",
    "generateSeries(1, 3)",
    "values('a String', 'x')",
    "format('CSV', 'x')",
    "eval('SELECT 1')",
    "arrowstream(1)",
  ]);
  return pick([
    `SELECT * FROM ${source}`,
    `SELECT count() FROM ${source}`,
    `SELECT 1 IN ${source}`,
    `SELECT * FROM requests WHERE org_id IN (SELECT * FROM ${source})`,
    `SELECT * FROM (SELECT 1 AS a) AS x JOIN ${source} AS y ON 1 = 1`,
    `DESCRIBE TABLE ${source}`,
  ]);
}

function attack(pick: Pick, { port, readable, written }: Targets): string {
  return pick([
    `SELECT file('${readable}')`,
    `SELECT file('${readable}', 'x')`,
    `SELECT * FROM '${readable}'`,

    `SELECT * FROM \`${readable}\``,
    `SELECT * FROM "file('${readable}')"`,
    "SHOW GRANTS",
    "SHOW PROCESSLIST",
    "SET log_comment = 'org_b'",
    "SET ROLE engine",
    "SET ROLE ALL",
    "SET DEFAULT ROLE NONE TO default",

    "EXECUTE AS default SELECT 1",
    "SELECT getSetting('log_comment')",
    "SELECT currentUser(), currentRoles()",
    "KILL QUERY WHERE 1",
    "SYSTEM FLUSH LOGS",
    "SYSTEM RELOAD CONFIG",
    "SYSTEM SHUTDOWN",
    "USE system",
    "DROP TABLE weir.requests",
    "TRUNCATE TABLE weir.requests",
    "OPTIMIZE TABLE weir.requests FINAL",

    "ALTER TABLE weir.requests DELETE WHERE 1",
    "DELETE FROM weir.requests WHERE 1",
    "DETACH TABLE weir.requests",

    "UPDATE weir.requests SET user_agent = 'x' WHERE 1",
    "INSERT INTO weir.requests (org_id) VALUES ('org_a')",

    "CREATE DATABASE d",
    "CREATE FUNCTION f AS x -> file(x)",
    "CREATE USER u",
    "DROP ROW POLICY p ON weir.requests",

    "GRANT ALL ON *.* TO default",
    `CREATE DICTIONARY d (a String) PRIMARY KEY a SOURCE(FILE(PATH '${readable}'))`,

    `BACKUP TABLE weir.requests TO File('${written}')`,
    `SELECT * FROM requests INTO OUTFILE '${written}'`,

    `SELECT 1 INTO OUTFILE '${written}' AND STDOUT FORMAT CSV`,
    `SELECT 1 FORMAT CSV INTO OUTFILE '${written}'`,
    "SELECT dictGet('d', 'a', 1)",
    "SELECT joinGet('weir.requests', 'org_id', 'x')",
    "SELECT sleep(3)",

    "SELECT hasColumnInTable('weir', 'requests', 'org_id')",
    "SELECT hostName(), getServerSetting('tmp_path')",
    `SELECT catboostEvaluate('${readable}', 1)`,
    "SELECT aiGenerate('c', 'x')",
    "SELECT demangle('x')",
    "WITH x -> file(x) AS f SELECT f('/etc/passwd')",
    `SELECT arrayMap(x -> file(x), ['${readable}'])`,
    "SELECT 1 IN weir.migrations",
    "SELECT * FROM migrations",
    "SELECT * FROM weir.usage_hourly_view",

    "SELECT count() FROM attempts_hourly",
    "SELECT max(endpoint_id) FROM attempts_hourly",
    "SHOW CREATE TABLE requests",

    "SELECT {p:Identifier}.org_id FROM requests",
    "SELECT * FROM {t:Identifier}",
    "SHOW TABLES",
    "SHOW DATABASES",

    "DESCRIBE TABLE requests",
    "EXISTS TABLE requests",
    "SHOW TABLES FROM system",
    "CHECK TABLE requests",

    `CREATE TABLE u (a String) ENGINE = URL('http://127.0.0.1:${port}/', CSV)`,
    "WATCH v",
    "(SELECT 1)",
    "SELECT",
    "",

    "SELECT '\n-- ', count() FROM requests",
    "SELECT $$;$$, count() FROM requests",
    "FROM requests SELECT count()",
  ]);
}
