/**
 * A data folder whose analytics database has its tables. To make them takes the engine a quarter of a second of a processor, so
 * they are made once for all tests of a run, by the product, and copied: a copy takes ten milliseconds.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const MAKER = join(import.meta.dirname, "analytics-folder.maker.ts");
const MADE_WITHIN_MS = 90_000;

/** Puts the tables of database `weir` into a data folder that nothing has used yet. Outside of a run of tests it does nothing. */
export function putAnalyticsTables(dataDir: string): void {
  const runFolder = process.env.WEIR_TEST_RUN;
  if (runFolder === undefined) return;
  const made = join(runFolder, "analytics");
  if (!existsSync(made)) make(made);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // The tables' links lead to folders beside them.
  cpSync(made, join(dataDir, "clickhouse"), { recursive: true, verbatimSymlinks: true });
}

function make(made: string): void {
  const { status, stderr } = spawnSync(process.execPath, [MAKER, made], {
    timeout: MADE_WITHIN_MS,
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) throw new Error(`the analytics tables could not be made: ${stderr}`);
}
