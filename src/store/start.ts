/**
 * The start of the store: compares the journal with LMDB, refuses states that a crash cannot have caused, and applies
 * the journal to LMDB.
 */
import { closeSync, openSync, readdirSync, readSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolder } from "../base/process/make-folder.ts";
import { Journal } from "./journal/journal.ts";
import type { Logs } from "./journal/logs.ts";
import { JournalDamaged, type JournalProgress, surveyJournal, type TornTail } from "./journal/survey.ts";
import type { Lmdb } from "./lmdb/lmdb.ts";
import { recover } from "./recovery/recovery.ts";

/** Bytes copied of a torn frame, and the number of copies kept. */
const TORN_BYTES = 1024 * 1024;
const TORN_FILES = 8;

export interface StartParts {
  readonly lmdb: Lmdb;
  readonly logs: Logs;
  readonly journalFolder: string;
  /** Called with lines for the operator that do not stop the start. */
  readonly onNotice: (line: string) => void;
}

/** @throws JournalDamaged, with one line for the operator; all files are then unchanged. */
export function startJournal({ lmdb, logs, journalFolder, onNotice }: StartParts): {
  readonly journal: Journal;
  readonly reached: JournalProgress;
} {
  makeFolder(journalFolder);
  const known = lmdb.progress();
  const survey = surveyJournal(journalFolder, known);
  if (survey.faults.length > 0) throw new JournalDamaged(survey, known);
  if (survey.torn !== undefined) onNotice(keepTorn(journalFolder, survey.torn));
  lmdb.checked = known?.checked ?? survey.files.length === 0;
  const progress = known ?? { applied: 0, kept: 0 };
  // Also where nothing is to be applied: no file is needed from here on, and that must be on disk before one is
  // removed.
  const frame = survey.files.length > 0 ? recover(lmdb, logs, survey.frames, progress) : progress.applied;
  for (const file of survey.files) rmSync(file, { force: true });
  const journal = new Journal(journalFolder, { segment: survey.segment, frame });
  const reached = { applied: frame, kept: frame, segment: journal.segment };
  // Before the first append: from now on the file must exist. A power failure may lose this row, but then the file is
  // not needed.
  lmdb.putProgress(reached);
  return { journal, reached };
}

/** Copies the dropped bytes. Returns a line for the operator. */
function keepTorn(folder: string, { file, byte, bytes }: TornTail): string {
  const dropped = `${file}: the last frame, at byte ${byte}, was not written to its end and is dropped (${bytes} bytes, never acknowledged)`;
  const copy = join(folder, `${basename(file, ".journal")}-${byte}.torn`);
  try {
    const room = Buffer.alloc(Math.min(bytes, TORN_BYTES));
    const fd = openSync(file, "r");
    try {
      readSync(fd, room, 0, room.length, byte);
    } finally {
      closeSync(fd);
    }
    writeFileSync(copy, room, { mode: 0o600 });
    const all = readdirSync(folder).filter((name) => name.endsWith(".torn"));
    for (const name of all.sort().slice(0, -TORN_FILES)) rmSync(join(folder, name), { force: true });
    return `${dropped}; a copy is ${copy}`;
  } catch (error) {
    return `${dropped}; it could not be copied: ${error instanceof Error ? error.message : error}`;
  }
}
