/**
 * Inspects a data folder: whether weir.lmdb and the journal are intact. Nothing is written and LMDB is not opened, so
 * that damage is reported instead of crashing the process.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Key } from "lmdb";
import * as lmdb from "lmdb";
import { atPath } from "../../base/file-errors.ts";
import { readFrame } from "../journal/frame.ts";
import { frameNumber } from "../journal/segment.ts";
import { faultText, JournalDamaged, type Progress, surveyJournal } from "../journal/survey.ts";
import { isChecked, isWhole, unpackAsWritten } from "../lmdb/checked.ts";
import { readProgress } from "../lmdb/lmdb.ts";
import { DamagedLmdb, type LmdbFile, type LmdbRow, openLmdbFile } from "../lmdb/lmdb-file.ts";
import { CLAIMS, holderOf, inUse, isClaim } from "../lmdb/lock.ts";
import { keyText } from "../tables/table.ts";

/** Exported by the library but missing from its types. */
const { bufferToKeyValue, keyValueToBuffer } = lmdb as unknown as {
  bufferToKeyValue(bytes: Uint8Array): Key;
  keyValueToBuffer(key: Key): Uint8Array;
};

/** A start checks at most this many rows: some seconds. */
const START_ROWS = 500_000;

/** Tables of all rooms together, with space for many more: LMDB reserves some bytes for each. */
export const MOST_TABLES = 512;

export const lmdbPath = (dataDir: string): string => join(dataDir, "weir.lmdb");
/** Created by every start (disk.ts), so it distinguishes a new folder from one whose weir.lmdb is missing. */
export const diskPath = (dataDir: string): string => join(dataDir, "weir.lmdb-disk");
export const journalPath = (dataDir: string): string => join(dataDir, "journal");

/** A row as the store shows it. `value` undefined: the journal removes it. */
export interface SeenRow {
  readonly table: string;
  readonly key: Key;
  readonly value: unknown;
}

/** `first`: tables to check before others. @throws Error, in one line, where LMDB must not be opened. */
export function assertReadable(
  dataDir: string,
  first: readonly string[],
  onNotice: (line: string) => void,
): void {
  withFile(dataDir, (file) => {
    let rows = 0;
    const check = rowCheck(progressIn(file)?.checked === true, first);
    for (const row of file.all({ values: false, first: [CLAIMS, ...first] })) {
      check(row);
      if (++rows < START_ROWS) continue;
      onNotice(`weir.lmdb: the start looked at ${rows} rows; "weir check --data" looks at all`);
      return;
    }
  });
}

/**
 * Names of the tables of a store that was closed, which left nothing in the journal. The store's own are among them.
 * @throws Error, in one line, where the file cannot be read or the folder is in use
 */
export const tableNames = (dataDir: string): string[] => withFile(dataDir, (file) => file.tableNames()) ?? [];

/** Checks the journal. @throws JournalDamaged */
export function assertJournal(dataDir: string): void {
  const folder = journalPath(dataDir);
  if (!existsSync(folder)) return;
  const progress = storedProgress(dataDir);
  const survey = surveyJournal(folder, progress);
  if (survey.faults.length > 0) throw new JournalDamaged(survey, progress);
}

/** LMDB's progress, read from its file. @throws Error, in one line, where it cannot be read or the folder is in use. */
export function storedProgress(dataDir: string): Progress | undefined {
  return withFile(dataDir, progressIn);
}

export interface Inspection {
  /** One line each; empty where nothing is damaged. */
  readonly findings: readonly string[];
  /** Rows per table, and journal frames not yet in LMDB. */
  readonly rows: ReadonlyMap<string, number>;
  readonly frames: number;
}

/**
 * Checks everything. `see` receives every row of a table, those of the journal after those of LMDB; `sure`: see
 * `rowCheck`.
 */
export function inspect(dataDir: string, sure: readonly string[], see: (row: SeenRow) => void): Inspection {
  const findings: string[] = [];
  const rows = new Map<string, number>();
  const told = (act: () => void) => {
    try {
      act();
    } catch (error) {
      findings.push(error instanceof Error ? error.message : String(error));
    }
  };
  let progress: Progress | undefined;
  told(() => {
    withFile(dataDir, (file) => {
      told(() => {
        progress = progressIn(file);
      });
      const check = rowCheck(progress?.checked === true, sure);
      for (const row of file.all({ values: true, first: [] })) {
        rows.set(row.table, (rows.get(row.table) ?? 0) + 1);
        if (row.table.startsWith("(")) continue;
        told(() => {
          check(row);
          see(storedRow(row, sure));
        });
      }
    });
  });
  let frames = 0;
  told(() => {
    if (!existsSync(journalPath(dataDir))) return;
    const survey = surveyJournal(journalPath(dataDir), progress);
    findings.push(...survey.faults.map(faultText));
    const beyond = survey.frames.filter((frame) => frameNumber(frame) > (progress?.applied ?? 0));
    frames = beyond.length;
    for (const frame of beyond) {
      for (const { table, text, key, value } of readFrame(frame).writes) {
        told(() => see({ table, key, value: value && unpackIfKnown(table, text, value, sure) }));
      }
    }
  });
  return { findings, rows, frames };
}

function withFile<T>(dataDir: string, act: (file: LmdbFile) => T): T | undefined {
  const path = lmdbPath(dataDir);
  let file: LmdbFile | undefined;
  try {
    file = openLmdbFile(path);
    if (file === undefined) {
      if (existsSync(diskPath(dataDir))) throw new DamagedLmdb("the file is gone or empty");
      return undefined;
    }
    refuseWhereInUse(dataDir, file);
    return act(file);
  } catch (error) {
    if (!(error instanceof DamagedLmdb)) throw atPath(error, path);
    throw new Error(
      `${path} is damaged: ${error.message}. Nothing was changed. Restore the data folder from a backup; "weir check --data" looks at everything`,
    );
  } finally {
    file?.close();
  }
}

/** Concurrent writes of a running process would look like damage. */
function refuseWhereInUse(dataDir: string, file: LmdbFile): void {
  let pid: number | undefined;
  try {
    for (const { value } of file.rows(CLAIMS)) pid = holderOf(value);
  } catch {
    // Damage is found while reading the whole file.
  }
  if (pid !== undefined) throw inUse(dataDir, pid);
}

function progressIn(file: LmdbFile): Progress | undefined {
  for (const { value } of file.rows("journal")) return readProgress(value);
  return undefined;
}

/** @throws DamagedLmdb for bytes that are not a key. */
function textOf(key: Buffer): string {
  try {
    const value = bufferToKeyValue(key);
    // Some bits of a number's encoding are unused, but LMDB compares all of them.
    if (key.equals(keyValueToBuffer(value))) return keyText(value);
  } catch {
    // Reported below.
  }
  throw new DamagedLmdb("there is a row whose key cannot be read");
}

/** Tables of bytes. In a folder created before rows had checksums, a value may begin with the mark by chance. */
export const BYTES: readonly string[] = ["installation", "outbox_apart"];

/**
 * Checks one row at a time. Where all table rows have checksums (`strict`), one without is damaged; log rows have none.
 * Otherwise this applies only to `sure` tables and to those with some checksummed rows. @throws DamagedLmdb
 */
function rowCheck(strict: boolean, sure: readonly string[]): (row: LmdbRow) => void {
  const marked = new Set(sure);
  const bare = new Set<string>();
  return ({ table, key, value }) => {
    // The list of free pages has keys of another type.
    if (table.startsWith("(")) return;
    if (table === CLAIMS && !isClaim(value))
      throw new DamagedLmdb(`row ${textOf(key)} of ${table} cannot be read`);
    if (strict) (isChecked(value) ? marked : bare).add(table);
    const isOdd = strict && marked.has(table) && bare.has(table);
    const isOldBytes = !strict && BYTES.includes(table);
    if (isOdd || (!isOldBytes && !isWhole(textOf(key), value))) throw badRow(table, key);
  };
}

const badRow = (table: string, key: Buffer): DamagedLmdb =>
  new DamagedLmdb(`row ${textOf(key).slice(0, 200)} of ${table} has not the right checksum`);

const storedRow = ({ table, key, value }: LmdbRow, sure: readonly string[]): SeenRow => ({
  table,
  key: bufferToKeyValue(key),
  value: unpackIfKnown(table, textOf(key), value, sure),
});

/** Rows of a folder from before checksums are known by their table. Other values are bytes, as are those of logs. */
const unpackIfKnown = (table: string, text: string, value: Uint8Array, sure: readonly string[]): unknown =>
  sure.includes(table) || (isChecked(value) && !BYTES.includes(table))
    ? unpackAsWritten(table, text, value)
    : value;
