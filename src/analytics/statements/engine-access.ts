/**
 * What sessions of the embedded engine may do. The engine has one user. Its role `engine` may do everything; without the
 * role (`SET ROLE NONE`) it may only read the documented tables, and of them only rows of the org that the setting
 * `log_comment` names. Grants and row policies are the engine's own: no text of a query decides about them.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Value of `log_comment` for a session that reads the rows of all orgs. No org has this id. */
export const ALL_ORGS = "*";

/** Tables that analysts read, each with a column `org_id`. */
export const ORG_TABLES = [
  "requests",
  "payloads",
  "shadow_runs",
  "usage_hourly",
  "usage_tags_daily",
  "ledger",
] as const;
/** A view that runs with the rights and the policies of whoever reads it. */
export const ORG_VIEWS = ["attempts"] as const;
/** Figures over all orgs: only for analysts of all orgs. */
export const COMMON_TABLES = ["attempts_hourly"] as const;

/** Tables of `system` that tell of other sessions, or how much is stored. */
const HIDDEN = [
  "processes",
  "user_processes",
  "query_cache",
  "asynchronous_inserts",
  "stack_trace",
  "dns_cache",
  "parts",
  "parts_columns",
  "projection_parts",
  "projection_parts_columns",
  "detached_parts",
  "dropped_tables",
  "dropped_tables_parts",
  "merges",
  "moves",
  "mutations",
  "schema_inference_cache",
];

const ORG_ROWS = `getSetting('log_comment') IN ('', '${ALL_ORGS}') OR org_id = getSetting('log_comment')`;
const COMMON_ROWS = `getSetting('log_comment') IN ('', '${ALL_ORGS}')`;
const OWN_ROWS = "getSetting('log_comment') = ''";

/**
 * Writes the engine's configuration of access into its folder.
 * @param more further elements of its configuration
 * @returns arguments of the engine's sessions
 */
export function writeAccess(dataDir: string, more = ""): string[] {
  const folder = join(dataDir, "access");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const users = join(folder, "users.xml");
  const config = join(folder, "config.xml");
  writeFileSync(users, usersXml(), { mode: 0o600 });
  writeFileSync(config, configXml(inside(users), more), { mode: 0o600 });
  for (const file of [users, config]) chmodSync(file, 0o600);
  return [`--config-file=${inside(config)}`];
}

/** From the working folder: neither the engine's arguments nor its configuration take every name that a data folder may have. */
const inside = (path: string): string => relative(process.cwd(), path);

const configXml = (users: string, more: string): string =>
  `<clickhouse><user_directories><users_xml><path>${escaped(users)}</path></users_xml></user_directories>${more}</clickhouse>\n`;

/** Format: https://clickhouse.com/docs/operations/settings/settings-users */
function usersXml(): string {
  const readable = [...ORG_TABLES, ...ORG_VIEWS, ...COMMON_TABLES];
  const grants = [...readable.map((table) => `GRANT SELECT ON weir.${table}`), "GRANT engine"];
  const filter = (tables: readonly string[], condition: string) =>
    tables.map((table) => `<${table}><filter>${escaped(condition)}</filter></${table}>`).join("");
  return `<clickhouse>
<profiles><default/></profiles>
<quotas><default/></quotas>
<roles><engine><grants><query>GRANT ALL ON *.*</query></grants></engine></roles>
<users><default>
<password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
<grants>${grants.map((grant) => `<query>${grant}</query>`).join("")}</grants>
<databases>
<weir>${filter(ORG_TABLES, ORG_ROWS)}${filter(COMMON_TABLES, COMMON_ROWS)}</weir>
<system>${filter(HIDDEN, OWN_ROWS)}</system>
</databases>
</default></users>
</clickhouse>
`;
}

/** As text of an element of XML. */
export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
