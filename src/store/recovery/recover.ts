/**
 * `weir recover`: decides what can be kept of a damaged journal, and what is dropped. A frame is kept while no earlier
 * frame that LMDB lacks is missing: a ledger entry without its predecessor would leave a gap in its org's numbers and a
 * wrong balance. Frames whose tables LMDB has are still needed only for log rows (records), and each of those is
 * independent.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { open } from "lmdb";
import { Disk } from "../journal/disk.ts";
import { readFrame } from "../journal/frame.ts";
import { Logs } from "../journal/logs.ts";
import { frameNumber } from "../journal/segment.ts";
import { faultText, type Progress, type Survey, surveyJournal } from "../journal/survey.ts";
import { Lmdb } from "../lmdb/lmdb.ts";
import { claimDirectory } from "../lmdb/lock.ts";
import {
  assertReadable,
  diskPath,
  journalPath,
  lmdbPath,
  MOST_TABLES,
  storedProgress,
} from "./inspection.ts";
import { recover } from "./recovery.ts";

export interface RecoveryPlan {
  readonly survey: Survey;
  readonly progress: Progress | undefined;
  /** Frames to be applied to LMDB. */
  readonly kept: readonly Buffer[];
  /** Readable frames that are dropped, because an earlier one is missing. */
  readonly dropped: readonly Buffer[];
  /** Counts of unreadable frames: those of which LMDB lacks only the records, and others. */
  readonly unreadable: { readonly records: number; readonly whole: number };
}

/** Read-only. Undefined where nothing is damaged. @throws Error where weir.lmdb is damaged or the folder in use. */
export function planRecovery(dataDir: string): RecoveryPlan | undefined {
  const progress = storedProgress(dataDir);
  assertReadable(dataDir, [], () => {});
  if (!existsSync(journalPath(dataDir))) return undefined;
  const survey = surveyJournal(journalPath(dataDir), progress);
  if (survey.faults.length === 0) return undefined;
  const { applied, kept: logged } = progress ?? { applied: 0, kept: 0 };
  const kept: Buffer[] = [];
  const dropped: Buffer[] = [];
  let top = applied;
  for (const frame of [...survey.frames, ...survey.beyond]) {
    const number = frameNumber(frame);
    if (number > top + 1) dropped.push(frame);
    else if (number > logged) kept.push(frame);
    top = Math.max(top, number === top + 1 ? number : top);
  }
  const readable = new Set([...kept, ...dropped].map(frameNumber));
  const unreadable = { records: 0, whole: 0 };
  for (let number = logged + 1; number <= survey.reached; number++) {
    if (!readable.has(number)) unreadable[number <= applied ? "records" : "whole"]++;
  }
  return { survey, progress, kept, dropped, unreadable };
}

/** The plan as text for the operator. `ledger`: the table listed first. */
export function describePlan({ survey, kept, dropped, unreadable }: RecoveryPlan, ledger: string): string[] {
  const lines = survey.faults.map(faultText);
  lines.push(`${kept.length} frames are kept`);
  const rows = countOf(dropped);
  const tables = [...rows].filter(([table]) => table !== ledger && !table.startsWith("log "));
  const records = [...rows].filter(([table]) => table.startsWith("log ")).reduce((sum, [, n]) => sum + n, 0);
  lines.push(
    `Lost: ${dropped.length} readable frames behind a missing one, with ${rows.get(ledger) ?? 0} ledger entries, ${records} records` +
      tables.map(([table, n]) => `, ${n} rows of ${table}`).join(""),
  );
  lines.push(`Lost: ${unreadable.whole} frames that cannot be read, with everything in them`);
  if (unreadable.records > 0) {
    lines.push(
      `Lost: the records of ${unreadable.records} frames that cannot be read; their ledger entries are in weir.lmdb`,
    );
  }
  if (survey.faults.some(({ lost }) => lost === undefined)) {
    lines.push("Frames may be missing that nothing names any more; how many cannot be told");
  }
  return lines;
}

/** Executes the plan, after copying the journal's files to `aside`. @throws Error, and then nothing was changed. */
export function carryOut(dataDir: string, { survey, progress, kept }: RecoveryPlan, aside: string): void {
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  for (const file of survey.files) {
    const copy = join(aside, basename(file));
    copyFileSync(file, copy);
    chmodSync(copy, 0o600);
  }
  const root = open({ path: lmdbPath(dataDir), maxDbs: MOST_TABLES });
  const release = claimDirectory(root, dataDir);
  const disk = new Disk(diskPath(dataDir), lmdbPath(dataDir));
  try {
    const lmdb = new Lmdb(root, disk);
    lmdb.checked = progress?.checked === true;
    const logs = new Logs((name) => lmdb.database(name), { rows: 0, bytes: 0 });
    // Used frame numbers are not reused.
    recover(lmdb, logs, kept, progress ?? { applied: 0, kept: 0 }, survey.reached);
    for (const file of survey.files) rmSync(file, { force: true });
  } finally {
    release();
    disk.close();
    void root.close();
  }
}

/** Puts by table, and rows of logs by "log <name>". */
function countOf(frames: readonly Buffer[]): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const frame of frames) {
    const { writes, logWrites } = readFrame(frame);
    for (const { table } of writes) count(table);
    for (const { log, value } of logWrites) if (value !== undefined) count(`log ${log}`);
  }
  return counts;
}
