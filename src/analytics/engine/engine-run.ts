/**
 * Runs one SQL statement on the embedded engine (`chdb`: ClickHouse in this process) as ClickHouse's server would. Every
 * statement gets its own engine session (1 ms), so that settings, parameters and USE do not affect later statements.
 * Rows of INSERTs and results in whole-document formats pass through files, not through memory.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Session } from "chdb";
import type { Ask } from "../statements/analyst-query.ts";
import { ANALYST_LIMITS } from "../statements/analyst-settings.ts";
import { writeAccess } from "../statements/engine-access.ts";
import { EngineError, exception } from "../statements/engine-error.ts";
import { quoted } from "../statements/literal.ts";
import { THREAD_LIMITS } from "./engine-threads.ts";

export interface Statement {
  readonly sql: string;
  /** Rows of an `INSERT … FORMAT x`; read to the end. */
  readonly data?: Readable | undefined;
  readonly database: string | undefined;
  /** Used if the statement names no format. */
  readonly format: string;
  /** Settings as ClickHouse's HTTP interface takes them; `param_x` binds `{x:Type}`. */
  readonly settings: ReadonlyMap<string, string>;
  /**
   * The org whose rows an analyst's statement may read, or `ALL_ORGS`. Such a statement runs without the engine's rights, and
   * cannot change anything.
   */
  readonly rowsOf?: string;
}

export interface Result {
  readonly format: string;
  /** Throws in the middle if the engine fails after its first rows. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Formats whose blocks can be sent one after another. For other formats the engine would write header and footer per
 * block.
 */
const STREAMED = new Set([
  "JSONEachRow",
  "JSONStringsEachRow",
  "JSONCompactEachRow",
  "JSONCompactStringsEachRow",
  "NDJSON",
  "JSONLines",
  "TabSeparated",
  "TSV",
  "TabSeparatedRaw",
  "TSVRaw",
  "CSV",
  "RowBinary",
  "Native",
]);

/** What a server's profile would set; a statement's own settings override it. */
const DEFAULTS: readonly (readonly [string, string])[] = [
  ["async_insert", "0"],
  ["implicit_select", "0"],
  ["max_execution_time", "300"],
  ["max_memory_usage", "2000000000"],
  ["max_bytes_before_external_group_by", "500000000"],
  ["max_bytes_before_external_sort", "500000000"],
];

export class EngineRunner {
  readonly #path: string;
  readonly #spill: string;
  /** Keeps the engine open: it closes with its last session. */
  readonly #keepOpenSession: Session;
  readonly #sessionArgs: readonly string[];
  #files = 0;

  private constructor(path: string, spill: string, configuration: string) {
    this.#path = path;
    this.#spill = spill;
    this.#sessionArgs = writeAccess(path, THREAD_LIMITS + configuration);
    this.#keepOpenSession = this.#session();
  }

  /**
   * @param path the engine's data folder; no other process may use it
   * @param configuration further elements of the engine's configuration, XML
   */
  static async open(path: string, configuration = ""): Promise<EngineRunner> {
    const spill = join(path, "spill");
    await rm(spill, { recursive: true, force: true });
    await mkdir(spill, { recursive: true, mode: 0o700 });
    const runner = new EngineRunner(path, spill, configuration);
    await runner.#keepOpenSession.queryAsync("SELECT 1");
    return runner;
  }

  #session(): Session {
    return new Session(this.#path, { connectionArgs: this.#sessionArgs });
  }

  close(): void {
    this.#keepOpenSession.close();
  }

  /** @throws EngineError before the first row, for everything that the engine refuses */
  async run(statement: Statement): Promise<Result> {
    const session = this.#session();
    let isHandedOver = false;
    try {
      await prepare(session, statement);
      if (statement.data !== undefined) {
        await this.#insert(session, statement.sql, statement.data);
        return { format: statement.format, chunks: once(new Uint8Array()) };
      }
      const { head, format } = splitFormat(statement.sql);
      const wanted = format ?? statement.format;
      if (!READS.test(head)) {
        const result = await session.queryAsync(statement.sql, { format: wanted });
        return { format: wanted, chunks: once(result.bytes()) };
      }
      isHandedOver = true;
      return STREAMED.has(wanted)
        ? await stream(session, `${head}\nFORMAT ${wanted}`, wanted)
        : await this.#document(session, head, wanted);
    } catch (error) {
      throw engineError(error);
    } finally {
      if (!isHandedOver) session.close();
    }
  }

  /**
   * Asks questions in one session, with the engine's full rights.
   * @param values of parameters (`param_x`) that the questions name
   * @throws EngineError
   */
  async asking<T>(values: ReadonlyMap<string, string>, act: (ask: Ask) => Promise<T>): Promise<T> {
    const session = this.#session();
    const ask: Ask = async (sql, q) => {
      const format = "JSONCompactEachRow";
      // Not bound by the call, which would take the statement's own parameters away.
      if (q !== undefined) await session.queryAsync(`SET param_q = ${quoted(escapedValue(q))}`);
      const result = await session.queryAsync(sql, { format });
      const lines = Buffer.from(result.bytes()).toString().split("\n");
      return lines.filter((line) => line !== "").map((line) => JSON.parse(line)[0] as string | null);
    };
    try {
      if (values.size > 0) {
        const list = [...values].map(([name, value]) => `${name} = ${quoted(value)}`);
        await session.queryAsync(`SET ${list.join(", ")}`);
      }
      return await act(ask);
    } catch (error) {
      throw engineError(error);
    } finally {
      session.close();
    }
  }

  /** Passes rows to the engine in a file: inline rows would end at the first blank line. */
  async #insert(session: Session, sql: string, data: Readable): Promise<void> {
    const { head, format } = splitFormat(sql);
    if (format === undefined) throw exception(62, "INSERT with data needs a FORMAT");
    const settings = /\sSETTINGS\s[\s\S]*$/i.exec(head)?.[0] ?? "";
    const target = head.slice(0, head.length - settings.length);
    const file = this.#file();
    try {
      await pipeline(data, createWriteStream(file, { mode: 0o600 }));
      await session.queryAsync(`${target} FROM INFILE ${quoted(file)}${settings} FORMAT ${format}`);
    } finally {
      await rm(file, { force: true });
    }
  }

  /** A result that is one document (JSON, Parquet, …) is first written to a file, whatever its size. */
  async #document(session: Session, head: string, format: string): Promise<Result> {
    const file = this.#file();
    try {
      await session.queryAsync(`${head}\nINTO OUTFILE ${quoted(file)} FORMAT ${format}`);
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    } finally {
      session.close();
    }
    return { format, chunks: readThenDelete(file) };
  }

  #file(): string {
    return join(this.#spill, `${process.pid}-${this.#files++}`);
  }
}

/** A statement that returns rows: its first word, after comments and brackets. */
const READS = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/|\()*(?:SELECT|WITH|FROM)\b/i;

/** Values of parameters are read as tab-separated texts are. */
const escapedValue = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n");

async function prepare(session: Session, statement: Statement): Promise<void> {
  const { rowsOf } = statement;
  const settings = new Map([...DEFAULTS, ...statement.settings]);
  if (rowsOf !== undefined) {
    if (rowsOf === "") throw new Error("an analyst's statement names no org");
    for (const [name, value] of [...ANALYST_LIMITS, ["log_comment", rowsOf] as const])
      settings.set(name, value);
    settings.set("readonly", "1");
  }
  // Last, because no setting can be changed after it.
  const readonly = settings.get("readonly");
  settings.delete("readonly");
  if (readonly !== undefined) settings.set("readonly", readonly);
  const list = [...settings].map(([name, value]) => `${name} = ${quoted(value)}`);
  if (statement.database !== undefined) {
    await session.queryAsync(`USE \`${statement.database.replaceAll("`", "")}\``);
  }
  // Roles first: where nothing may change any more, neither may they.
  if (rowsOf !== undefined) await session.queryAsync("SET ROLE NONE");
  await session.queryAsync(`SET ${list.join(", ")}`);
}

async function stream(session: Session, sql: string, format: string): Promise<Result> {
  try {
    const blocks = session.queryStream(sql, { format })[Symbol.asyncIterator]();
    // Waits for the first block, so that a query that fails is answered with an error status.
    const first = await blocks.next();
    return { format, chunks: rest(session, first, blocks) };
  } catch (error) {
    session.close();
    throw error;
  }
}

type Block = { raw(): Uint8Array };

async function* rest(session: Session, first: IteratorResult<Block>, blocks: AsyncIterator<Block>) {
  try {
    for (let next = first; next.done !== true; next = await blocks.next()) yield next.value.raw();
  } catch (error) {
    throw engineError(error);
  } finally {
    await blocks.return?.();
    session.close();
  }
}

async function* readThenDelete(file: string) {
  try {
    yield* createReadStream(file, { highWaterMark: 1 << 18 });
  } finally {
    await rm(file, { force: true });
  }
}

async function* once(bytes: Uint8Array) {
  if (bytes.length > 0) yield bytes;
}

/** Blanks and semicolons. */
const ENDING = /[\s;]/;

/** Splits off a trailing `FORMAT x`, also if SETTINGS follow it; the SETTINGS stay in `head`. Takes time in proportion to the length. */
export function splitFormat(sql: string): { head: string; format: string | undefined } {
  let end = sql.length;
  // An expression that ends with the text would begin anew at each blank of a run within it.
  while (end > 0 && ENDING.test(sql.charAt(end - 1))) end--;
  const text = sql.slice(0, end);
  const match = /\sFORMAT\s+(\w+)(\s+SETTINGS\s[\s\S]*)?$/i.exec(text);
  if (match === null) return { head: text, format: undefined };
  return { head: text.slice(0, match.index) + (match[2] ?? ""), format: match[1] };
}

function engineError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  // The binding repeats the prefix if one exception wraps another.
  const message = text
    .replace(/^Query failed: /, "")
    .replace(/^(?:Code: \d+\. DB::Exception: )+(?=Code: )/, "");
  const code = Number(/Code: (\d+)/.exec(message)?.[1] ?? 1002);
  return /^Code: /.test(message) ? new EngineError(code, message) : exception(code, message);
}
