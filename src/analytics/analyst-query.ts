/**
 * Which statements of an analyst the embedded engine runs: one SELECT over tables, or a description of a table. The engine's
 * own parser reads the statement and writes it anew, so that what is checked and what is run are the same. Grants and row
 * policies (`engine-access.ts`) keep tables and rows apart; this check refuses what they do not cover: files of the machine,
 * statements of other kinds, and functions that look behind the policies.
 */
import { EngineError } from "./engine-error.ts";

/** Runs a statement with full rights; `q` binds `{q:String}`. Resolves to the first column of its rows. */
export type Ask = (sql: string, q?: string) => Promise<(string | null)[]>;

export const MAX_ANALYST_SQL_BYTES = 256 * 1024;

/**
 * @param sql as the analyst sent it
 * @returns the statement to run
 * @throws EngineError where it is refused
 */
export async function checkedQuery(ask: Ask, sql: string): Promise<string> {
  if (Buffer.byteLength(sql) > MAX_ANALYST_SQL_BYTES) throw refusal(62, "the statement is too long");
  // The error of a statement that cannot be parsed is the engine's own: it says where.
  const [query] = await ask("SELECT formatQuerySingleLine({q:String})", sql);
  const text = query ?? "";
  if (DESCRIPTIONS.some((shape) => shape.test(text))) return text;
  if (!/^(?:\(*SELECT|\(*WITH)\s/.test(text))
    throw refusal(164, "only SELECT, DESCRIBE, EXISTS and SHOW TABLES");
  const { select } = splitFormat(text);
  // Within brackets only a SELECT can stand: neither INTO OUTFILE nor a second statement.
  const [whole] = await ask("SELECT formatQuerySingleLineOrNull({q:String})", `SELECT * FROM (${select})`);
  if (typeof whole !== "string")
    throw refusal(164, "INTO OUTFILE and other clauses of clients are not allowed");
  // What a parameter names is not in the tree in every place; also text that only looks like one is refused.
  if (/\{\w+:\s*Identifier\}/.test(text)) throw refusal(164, "parameters that are names");
  checkTree(await ask(`EXPLAIN AST ${select}`));
  return text;
}

const refusal = (code: number, why: string): EngineError =>
  new EngineError(code, `Code: ${code}. DB::Exception: An analyst's statement is refused: ${why}.`);

const FORMAT = "(?: FORMAT \\w+)?";
const NAME = "(?:(?:weir|system|information_schema|INFORMATION_SCHEMA)\\.)?\\w+";
/** As the engine writes them. */
const DESCRIPTIONS = [
  new RegExp(`^DESCRIBE TABLE ${NAME}${FORMAT}$`),
  new RegExp(`^EXISTS TABLE ${NAME}${FORMAT}$`),
  new RegExp(`^SHOW CREATE TABLE (?:weir\\.)?\\w+${FORMAT}$`),
  new RegExp(`^SHOW TABLES(?: FROM \\w+)?(?: (?:NOT )?I?LIKE '[\\w%]*')?${FORMAT}$`),
  new RegExp(`^SHOW DATABASES${FORMAT}$`),
];

/** Removes a trailing FORMAT; SETTINGS stay. */
function splitFormat(text: string): { select: string } {
  const match = /\sFORMAT\s+(\w+)(\s+SETTINGS\s.*)?$/.exec(text);
  return { select: match === null ? text : text.slice(0, match.index) + (match[2] ?? "") };
}

/** Table functions that compute their rows. */
const ROW_SOURCES = new Set([
  ...["numbers", "numbers_mt", "zeros", "zeros_mt", "generateseries", "generate_series", "values", "null"],
  ...["view", "primes"],
]);

/** Table functions whose name is also that of an ordinary function. */
const ALSO_ORDINARY = new Set(["format", "null", "values"]);

/**
 * Table functions of files, networks, programs and other tables, and functions that read files or dictionaries, reach the
 * network, or tell of the machine or of other sessions. Names in lower case, as some are found in any case.
 */
const DENIED = new RegExp(
  `^(?:${[
    ...[
      "file\\w*",
      "filesystem\\w*",
      "url",
      "urlcluster",
      "remote\\w*",
      "cluster\\w*",
      "executable\\w*",
      "input",
    ],
    ...["dictionary", "eval", "merge", "mergetree\\w*", "loop", "viewexplain", "viewifpermitted", "fuzz\\w*"],
    ...["s3\\w*", "gcs", "oss", "cosn", "hdfs\\w*", "azure\\w*", "deltalake\\w*", "hudi\\w*", "iceberg\\w*"],
    ...["paimon\\w*", "mysql", "postgresql", "sqlite", "mongodb", "redis", "odbc", "jdbc", "ytsaurus"],
    ...[
      "arrowstream",
      "arrowflight",
      "prometheusquery\\w*",
      "timeseries(?:data|metrics|samples|selector|tags)",
    ],
    ...["python", "generaterandom", "dictget\\w*", "dicthas", "dictisin", "joinget\\w*", "catboostevaluate"],
    ...["evalmlmethod", "naivebayes\\w*", "region\\w+", "reversednsquery", "hascolumnintable", "sleep\\w*"],
    ...["ai(?:classify|embed|extract|generate|translate)\\w*", "address\\w+", "demangle", "logtrace"],
    ...["getserver\\w+", "getmacro", "getmergetreesetting", "getoskernelversion", "getclienthttpheader"],
    ...[
      "showcertificate",
      "serveruuid",
      "hostname",
      "fullhostname",
      "fqdn",
      "zookeeper\\w*",
      "transaction\\w*",
    ],
    ...["__\\w+", "getscalar", "lemmatize", "stem", "synonyms", "tcpport", "modelevaluate"],
  ].join("|")})$`,
);

/** Tables of `system` that describe what there is to read. */
const SYSTEM = new Set(
  [
    ...["one", "numbers", "numbers_mt", "zeros", "zeros_mt", "databases", "tables", "columns", "settings"],
    ...[
      "functions",
      "data_type_families",
      "formats",
      "table_engines",
      "time_zones",
      "keywords",
      "collations",
    ],
    ...["aggregate_function_combinators"],
  ].map((name) => `system.${name}`),
);

/** Columns of metadata that count the rows and bytes of all orgs. */
const SIZES =
  /^(?:total_(?:rows|bytes)\w*|lifetime_(?:rows|bytes)|data_\w*bytes|marks_bytes|table_rows|data_length|index_length|parts|active_parts|total_marks|active_on_fly\w*|primary_key_bytes\w*|\w*_bytes)$/i;

/** @param lines as `EXPLAIN AST` prints them: a line may be forged by a name, but none can be hidden. */
function checkTree(lines: readonly (string | null)[]): void {
  let readsMetadata = false;
  let readsSizes = false;
  let tableDepth = -1;
  for (const line of lines.flatMap((text) => (text ?? "").split("\n"))) {
    const depth = line.length - line.trimStart().length;
    const [kind = "", name = ""] = line.trim().split(" ");
    if (kind === "Function") {
      const isSource = depth === tableDepth + 1;
      checkFunction(name, isSource);
    } else if (kind === "TableIdentifier" || kind === "Identifier") {
      readsMetadata = checkName(name, kind) || readsMetadata;
      readsSizes ||= SIZES.test(name.split(".").at(-1) ?? "");
    } else if (/^(?:Qualified)?(?:Asterisk|Columns)/.test(kind)) readsSizes = true;
    tableDepth = kind === "TableExpression" ? depth : depth <= tableDepth ? -1 : tableDepth;
  }
  if (readsMetadata && readsSizes) {
    throw refusal(497, "of tables that describe tables, name the columns; those of sizes cannot be read");
  }
}

function checkFunction(given: string, isSource: boolean): void {
  const name = given.toLowerCase();
  const allowed = isSource ? ROW_SOURCES.has(name) : ALSO_ORDINARY.has(name) || !DENIED.test(name);
  if (!allowed) throw refusal(497, `the function ${given} is not allowed`);
}

/** @returns whether it is a table that describes tables */
function checkName(given: string, kind: string): boolean {
  const name = given.replaceAll("`", "").toLowerCase();
  const dot = name.indexOf(".");
  const database = dot === -1 ? "" : name.slice(0, dot);
  if (database === "information_schema") return true;
  if (database === "system") {
    if (!SYSTEM.has(name.split(".").slice(0, 2).join("."))) throw refusal(497, `${given} cannot be read`);
    return name.startsWith("system.tables") || name.startsWith("system.columns");
  }
  if (kind === "TableIdentifier" && database !== "" && database !== "weir") {
    throw refusal(497, `${given} cannot be read`);
  }
  return false;
}
