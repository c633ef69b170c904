/**
 * Runs statements of the fuzz as an analyst's, in a process of its own that may die of one: this process's own engine, without
 * the confinement that analysts have in a gateway, so that a statement that should not have passed the check shows. The parent
 * sends which statements to run, by their numbers, and is told what was found.
 */
import { mkdirSync, openSync, statSync, utimesSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { EngineRunner, type Statement } from "../../../src/analytics/engine/engine-run.ts";
import { type Ask, checkedQuery } from "../../../src/analytics/statements/analyst-query.ts";
import { EngineError } from "../../../src/analytics/statements/engine-error.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { CANARY } from "./isolation.fixtures.ts";
import { Grammar, type Vocabulary } from "./statements.grammar.ts";

export interface Batch {
  readonly from: number;
  readonly to: number;
  /** Whether they are run as they are, with the engine's rights: to show that the fuzz finds what is not refused. */
  readonly isUnchecked: boolean;
}

export interface BatchResult {
  /** Passed the check and were given to the engine. */
  readonly passed: number;
  /** Passed, and had an answer. */
  readonly answered: number;
  readonly finds: readonly string[];
}

const [folder = ""] = process.argv.slice(2);
const SECRET = "thesecretinthefile";
const LANES = 2;
const MOST_BYTES = 200_000;

const engineFolder = join(folder, "engine");
mkdirSync(engineFolder, { recursive: true });
process.chdir(engineFolder);
const files = [join(folder, "operator-key"), join(engineFolder, "clickhouse-key")];
for (const file of files) writeFileSync(file, SECRET);
const runner = await EngineRunner.open(engineFolder);

const full = (sql: string): Statement => ({
  sql,
  database: undefined,
  format: "TabSeparatedRaw",
  settings: new Map(),
  data: undefined,
});
const PARAMETERS = [
  ["param_p", "a"],
  ["param_t", "requests"],
] as const;
const analysts = (sql: string): Statement => ({
  ...full(sql),
  database: "weir",
  rowsOf: "org_a",
  settings: new Map(PARAMETERS),
});

async function textOf(statement: Statement): Promise<string> {
  const { chunks } = await runner.run(statement);
  let text = "";
  for await (const chunk of chunks) {
    text += Buffer.from(chunk).toString("latin1");
    if (text.length > MOST_BYTES) break;
  }
  return text;
}

/** As the gateway asks the engine about a statement: with the engine's rights, and the statement's parameters. */
const ask: Ask = async (sql, q) => {
  const settings = new Map<string, string>(PARAMETERS);
  if (q !== undefined)
    settings.set(
      "param_q",
      q.replace(/[\\\t\n]/g, (char) => ESCAPES[char] ?? char),
    );
  const { chunks } = await runner.run({ ...full(sql), format: "JSONCompactEachRow", settings });
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const lines = Buffer.concat(parts).toString().split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line)[0] as string | null);
};
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n" };

const linesOf = async (sql: string): Promise<string[]> => (await textOf(full(sql))).trim().split("\n");

/** The tables that policies and the grammar name, as small as they can be; the other org's rows are full of its mark. */
async function plant(): Promise<void> {
  const tables = ["requests", "payloads", "shadow_runs", "usage_hourly", "usage_tags_daily", "ledger"];
  const columns = "org_id String, request_id String, ts DateTime, user_agent String, attempts UInt8";
  await textOf(full("CREATE DATABASE IF NOT EXISTS weir"));
  for (const table of [...tables, "attempts_hourly", "migrations"]) {
    await textOf(full(`CREATE TABLE weir.${table} (${columns}) ENGINE = MergeTree ORDER BY org_id`));
    const rows = [
      ["org_a", "plain"],
      [`org_${CANARY}`, CANARY],
    ].map(([org, word]) => `('${org}', '${word}', '2026-11-01 00:00:00', '${word}', 1)`);
    await textOf(full(`INSERT INTO weir.${table} VALUES ${rows.join(", ")}`));
  }
  await textOf(full("CREATE VIEW weir.attempts SQL SECURITY INVOKER AS SELECT * FROM weir.requests"));
}

async function vocabulary(): Promise<Vocabulary> {
  const names = (table: string, where = "1") =>
    linesOf(`SELECT name FROM system.${table} WHERE ${where} ORDER BY name`);
  const system = await linesOf(
    "SELECT concat(database, '.', name) FROM system.tables WHERE database != 'weir' ORDER BY ALL",
  );
  return {
    // What waits tells nothing, and takes the time of the others.
    functions: await names("functions", "name NOT LIKE 'sleep%'"),
    aggregates: await names("functions", "is_aggregate"),
    combinators: await names("aggregate_function_combinators"),
    tableFunctions: await names("table_functions"),
    formats: await names("formats", "is_output"),
    // Tables without an end are left out.
    tables: system.filter((name) => !/numbers|zeros|primes/.test(name)),
  };
}

let connections = 0;
const trap = createServer((socket) => {
  connections++;
  socket.destroy();
});
await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
const address = trap.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

await plant();
const paths = ["../operator-key", "clickhouse-key", ...files];
const grammar = new Grammar(await vocabulary(), { paths, otherOrg: `org_${CANARY}`, port });

/** In the forms that functions give a text. */
const MARKS = [SECRET, CANARY].flatMap((mark) => [
  mark,
  mark.toUpperCase(),
  [...mark].reverse().join(""),
  Buffer.from(mark).toString("hex").toUpperCase(),
  Buffer.from(mark).toString("base64").slice(0, 20),
]);

/** A file that was read has a later time of access: set back, so that the next reading shows, however often it is read. */
const unread = () => {
  for (const file of files) utimesSync(file, 1, 2);
};
const readFiles = () => files.filter((file) => statSync(file).atimeMs > 1500);

async function play(
  sql: string,
  isUnchecked: boolean,
): Promise<{ passed: boolean; answered: boolean; said: string }> {
  try {
    const said = isUnchecked
      ? await textOf({ ...full(sql), database: "weir" })
      : await textOf(analysts(await checkedQuery(ask, sql, "TabSeparatedRaw")));
    return { passed: true, answered: true, said };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const isRefused =
      error instanceof EngineError && /An analyst's statement is refused|SYNTAX_ERROR/.test(said);
    // The engine repeats the statement.
    return { passed: !isRefused, answered: false, said: said.replaceAll(sql, "") };
  }
}

const marked = (sql: string, said: string) =>
  MARKS.find((mark) => said.includes(mark) && !sql.includes(mark));

async function run({ from, to, isUnchecked }: Batch): Promise<BatchResult> {
  const [finds, statements] = [[] as string[], new Map<number, string>()];
  let [next, passed, answered] = [from, 0, 0];
  unread();
  const before = connections;
  const lane = async () => {
    while (next < to) {
      const number = next++;
      const sql = grammar.statement(seededRandom(Math.imul(number + 1, 0x9e3779b1)));
      // Read by the parent, should this process die of it.
      writeSync(progress, `${number}`.padEnd(12), 0);
      const result = await play(sql, isUnchecked);
      if (result.passed) {
        passed++;
        statements.set(number, sql);
      }
      if (result.answered) answered++;
      const mark = marked(sql, result.said);
      if (mark !== undefined) finds.push(`${number} told ${mark}: ${sql}\n  ${result.said.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (readFiles().length > 0 || connections > before) finds.push(...(await which(statements, isUnchecked)));
  return { passed, answered, finds };
}

/** Which of them read a file or reached the network: one after another. */
async function which(statements: ReadonlyMap<number, string>, isUnchecked: boolean): Promise<string[]> {
  const finds: string[] = [];
  for (const [number, sql] of statements) {
    unread();
    const before = connections;
    const { said } = await play(sql, isUnchecked);
    const what = readFiles().length > 0 ? "read a file" : connections > before ? "reached the network" : "";
    if (what !== "") finds.push(`${number} ${what}: ${sql}\n  ${said.slice(0, 300)}`);
  }
  return finds.length > 0
    ? finds
    : ["a file was read, or the network reached, by a statement that did not do it again"];
}

const progress = openSync(join(folder, "progress"), "w+");
process.on("message", (batch: Batch) => {
  run(batch).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ passed: 0, answered: 0, finds: [String(error)] }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
