/**
 * Which statements of an analyst the embedded engine runs: one SELECT over tables, or a description of a table. The engine's
 * own parser reads the statement and writes it anew, so that what is checked and what is run are the same; the check goes over
 * the tree that the engine makes of it, by lists of what is allowed. Row policies (`engine-access.ts`) keep orgs apart; this
 * check keeps files, networks, other tables and the engine itself out of reach, which no grant does in the embedded engine.
 */
import { TreeCheck } from "./analyst-check.ts";
import { readableTable } from "./analyst-tables.ts";
import { checkText } from "./analyst-text.ts";
import { readTree } from "./analyst-tree.ts";
import { refusal } from "./engine-error.ts";

/** Runs a statement with full rights; `q` binds `{q:String}`. Resolves to the first column of its rows. */
export type Ask = (sql: string, q?: string) => Promise<(string | null)[]>;

export const MAX_ANALYST_SQL_BYTES = 256 * 1024;

/**
 * @param sql as the analyst sent it
 * @param format of the answer where the statement names none: checked as well
 * @returns the statement to run
 * @throws EngineError where it is refused: code 62, 164 or 497, and what is not allowed by its name
 */
export async function checkedQuery(ask: Ask, sql: string, format?: string): Promise<string> {
  if (Buffer.byteLength(sql) > MAX_ANALYST_SQL_BYTES) throw refusal(62, "the statement is too long");
  // The error of a statement that cannot be parsed is the engine's own: it says where.
  const [query] = await ask("SELECT formatQuerySingleLine({q:String})", sql);
  const text = query ?? "";
  const { head, format: named } = splitFormat(text);
  const wanted = named ?? format;
  if (wanted !== undefined && !FORMATS.has(wanted.toLowerCase()))
    throw refusal(497, `the format ${wanted} is not allowed`);
  if (isDescription(head)) return text;
  if (!/^(?:\(*SELECT|\(*WITH)\s/.test(text))
    throw refusal(164, "only SELECT, DESCRIBE, EXISTS and SHOW TABLES, of documented tables");
  // Within brackets only a SELECT can stand: neither INTO OUTFILE nor a second statement.
  const [whole] = await ask("SELECT formatQuerySingleLineOrNull({q:String})", `SELECT * FROM (${head})`);
  if (typeof whole !== "string")
    throw refusal(164, "INTO OUTFILE and other clauses of clients are not allowed");
  checkText(text);
  // Without passes no name is looked up and nothing is computed: neither constants nor subqueries.
  const lines = await ask(`EXPLAIN QUERY TREE run_passes = 0 ${head}`);
  const tree = readTree(lines.flatMap((line) => (line ?? "").split("\n")));
  new TreeCheck(await functionsOf(ask)).check(tree);
  // Named, so that no word at the end of the statement is taken for a format.
  return wanted === undefined ? head : `${head} FORMAT ${wanted}`;
}

let functions: Promise<ReadonlySet<string>> | undefined;

/** Names of all functions of the engine in lower case, which do not change while the process runs. */
function functionsOf(ask: Ask): Promise<ReadonlySet<string>> {
  functions ??= ask("SELECT name FROM system.functions").then(
    (names) => new Set(names.map((name) => (name ?? "").toLowerCase())),
    (error: unknown) => {
      functions = undefined;
      throw error;
    },
  );
  return functions;
}

/** As the engine writes them. */
const OF_TABLE = /^(DESCRIBE|EXISTS|SHOW CREATE) TABLE ([\w.]+)$/;
const OF_DATABASE =
  /^(?:SHOW DATABASES|SHOW TABLES(?: FROM (?:weir|system|information_schema|INFORMATION_SCHEMA))?(?: (?:NOT )?I?LIKE '[\w%]*')?)$/;

function isDescription(text: string): boolean {
  const [, act, table = ""] = OF_TABLE.exec(text) ?? [];
  if (act === undefined) return OF_DATABASE.test(text);
  return readableTable(table) !== undefined && (act !== "SHOW CREATE" || /^(?:weir\.)?\w+$/.test(table));
}

/** A trailing FORMAT, and the statement without it; SETTINGS stay. */
function splitFormat(text: string): { head: string; format: string | undefined } {
  const match = /\sFORMAT\s+(\w+)(\s+SETTINGS\s.*)?$/.exec(text);
  if (match === null) return { head: text, format: undefined };
  return { head: text.slice(0, match.index) + (match[2] ?? ""), format: match[1] };
}

/**
 * Formats that are written from rows alone: neither a schema nor a template is read from a file, and none tells of its progress,
 * which counts rows of other orgs that lie between those that are read.
 */
const FORMATS: ReadonlySet<string> = new Set(
  `Arrow ArrowStream Avro BSONEachRow CSV CSVWithNames CSVWithNamesAndTypes JSON JSONColumns JSONColumnsWithMetadata
  JSONCompact JSONCompactColumns JSONCompactEachRow JSONCompactEachRowWithNames JSONCompactEachRowWithNamesAndTypes
  JSONCompactStrings JSONCompactStringsEachRow JSONCompactStringsEachRowWithNames
  JSONCompactStringsEachRowWithNamesAndTypes JSONEachRow JSONL
  JSONLines JSONObjectEachRow JSONStrings JSONStringsEachRow LineAsString Markdown MD MsgPack
  NDJSON Native Npy Null ORC Parquet Pretty PrettyCompact PrettyCompactMonoBlock PrettyCompactNoEscapes
  PrettyCompactNoEscapesMonoBlock PrettyJSONEachRow PrettyJSONLines PrettyMonoBlock PrettyNDJSON PrettyNoEscapes
  PrettyNoEscapesMonoBlock PrettySpace PrettySpaceMonoBlock PrettySpaceNoEscapes PrettySpaceNoEscapesMonoBlock Raw RawBLOB
  RawWithNames RawWithNamesAndTypes RowBinary RowBinaryWithNames RowBinaryWithNamesAndTypes SQLInsert TSKV TSV TSVRaw
  TSVRawWithNames TSVRawWithNamesAndTypes TSVWithNames TSVWithNamesAndTypes TabSeparated TabSeparatedRaw
  TabSeparatedRawWithNames TabSeparatedRawWithNamesAndTypes TabSeparatedWithNames TabSeparatedWithNamesAndTypes Values Vertical
  XML`
    .toLowerCase()
    .split(/\s+/),
);
