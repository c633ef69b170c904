/**
 * Runs statements of analysts: checks them, then runs them without the engine's rights, over tables that are read-only. Only the
 * analysts' process does this, never the engine's own.
 */
import { checkedQuery } from "../statements/analyst-query.ts";
import { ANALYST_MEMORY_BYTES } from "../statements/analyst-settings.ts";
import { EngineError } from "../statements/engine-error.ts";
import { AnalystRecords, recordDisks } from "./analyst-records.ts";
import { EngineRunner, type Result } from "./engine-run.ts";

export interface AnalystStatement {
  readonly sql: string;
  /** Used if the statement names no format. */
  readonly format: string;
  /** Formats, time zones and parameters (`param_x`). */
  readonly settings: ReadonlyMap<string, string>;
  /** The org whose rows it may read, or `ALL_ORGS`. */
  readonly rowsOf: string;
}

/** Statements of all analysts that run at once. */
export const ALL_AT_ONCE = 4;
/** Memory of the process: what its statements may take together, and the engine itself. */
const MEMORY_BYTES = (ALL_AT_ONCE + 1) * ANALYST_MEMORY_BYTES;
/** ClickHouse's code for a file of a part that has been removed meanwhile. */
const FILE_IS_GONE = 107;
/** Lists of parts are also read while there are no statements, so that nothing of a removed part stays in memory. */
const IDLE_SYNC_MS = 60_000;

/** @throws EngineError where the statement is refused or fails before its first row */
export type AnalystRun = (statement: AnalystStatement) => Promise<Result>;

/**
 * @param folder of this engine alone, emptied by the caller: what it keeps there is made anew
 * @param recordsFolder of the engine whose tables are read
 */
export async function openAnalystRun(folder: string, recordsFolder: string): Promise<AnalystRun> {
  const memory = `<max_server_memory_usage>${MEMORY_BYTES}</max_server_memory_usage>`;
  const runner = await EngineRunner.open(folder, memory + recordDisks(recordsFolder));
  const execute = (sql: string) => runner.asking(new Map(), async (ask) => void (await ask(sql)));
  const records = new AnalystRecords(folder, recordsFolder, execute);
  await records.sync();
  setInterval(() => records.sync().catch(() => {}), IDLE_SYNC_MS).unref();
  return async ({ sql, format, settings, rowsOf }) => {
    if (typeof rowsOf !== "string" || rowsOf === "") throw new Error("an analyst's statement names no org");
    // The parser asks for the values of parameters.
    const values = new Map([...settings].filter(([name]) => name.startsWith("param_")));
    await records.sync();
    const checked = await runner.asking(values, (ask) => checkedQuery(ask, sql, format));
    const run = () => runner.run({ sql: checked, database: "weir", format, settings, rowsOf });
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== FILE_IS_GONE) throw error;
      records.forget();
      await records.sync();
      return await run();
    }
  };
}
