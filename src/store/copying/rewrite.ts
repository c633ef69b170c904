/**
 * Writes weir.lmdb anew with the rows that it has. LMDB never overwrites a page in place: what a removed row held stays in free
 * pages, and in the gaps of pages in use, until they are needed again, which may be never. A copy row by row into a new file has
 * neither. It is made by a process of its own, so that no memory of this one gets into pages and no file stays open; the new file
 * then takes the old one's place by one rename. A crash before that leaves the old file and the note that asks for it; so does a
 * failure, such as a full disk, which is told and stops nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { flushToDisk } from "../../base/process/flush-to-disk.ts";
import { lmdbPath } from "../recovery/inspection.ts";
import { wantOfRoom } from "./copy.ts";
import { IN_USE, newNextPath, removeUnfinished } from "./rewrite-files.ts";

const notePath = (dataDir: string): string => join(dataDir, "weir.lmdb-rewrite");

/** A stop does not wait for the rewrite of a larger file: the next start does it, some seconds a gigabyte. */
const SMALL_BYTES = 256 * 1024 * 1024;
const MOST_MS = 30 * 60_000;

/** What a running store needs of it. */
export interface Rewriting {
  /** Notes durably that weir.lmdb is to be rewritten. */
  ask(): void;
  /** Whether `afterClose` will do it. The claim on the folder is then kept: nobody else may open a file that is replaced. */
  isDueAtClose(): boolean;
  /** No file is open any more. It does nothing to a large file: the next start does it. */
  afterClose(): void;
}

/** @param hasFailed at the start: the stop does not fail again, unless it was asked for since */
export const rewritingOf = (
  dataDir: string,
  onNotice: (line: string) => void,
  hasFailed: boolean,
): Rewriting => {
  let isPutOff = hasFailed;
  const isDueAtClose = () =>
    !isPutOff && existsSync(notePath(dataDir)) && statSync(lmdbPath(dataDir)).size <= SMALL_BYTES;
  return {
    ask() {
      ask(dataDir);
      isPutOff = false;
    },
    isDueAtClose,
    afterClose() {
      // Everything was applied before the close.
      if (isDueAtClose() && rewriteIfAsked(dataDir, onNotice)) forgetAsked(dataDir);
    },
  };
};

/** Only once nothing of the journal is left to be applied to the new file: until then a dead process leaves the note to the next. */
export const forgetAsked = (dataDir: string): void => rmSync(notePath(dataDir), { force: true });

function ask(dataDir: string): void {
  flushToDisk(notePath(dataDir), "w");
  flushToDisk(dataDir);
}

/**
 * Only while this process does not have the store open. The note stays: see `forgetAsked`. Where it fails, the old file stays in force, `onNotice` says so once, and
 * the next start tries again.
 * @returns false where it failed
 * @throws Error where another process has the folder
 */
export function rewriteIfAsked(dataDir: string, onNotice: (line: string) => void): boolean {
  if (!existsSync(notePath(dataDir))) return true;
  const next = newNextPath(dataDir);
  try {
    if (existsSync(lmdbPath(dataDir))) {
      // LMDB may end its process where the disk is full.
      const want = wantOfRoom(dataDir, statSync(lmdbPath(dataDir)).size);
      if (want !== undefined) throw new Error(want);
      copyTo(next, dataDir);
      replaceBy(next, dataDir);
    }
    return true;
  } catch (error) {
    if (error instanceof InUse) throw error;
    removeUnfinished(dataDir, next);
    const why = error instanceof Error ? error.message : String(error);
    onNotice(
      `weir.lmdb could not be rewritten: ${why}. Nothing is lost; bytes of erased rows stay in its free pages until a start can`,
    );
    return false;
  }
}

class InUse extends Error {}

/** @throws InUse where another process has the folder; Error for anything else */
function copyTo(next: string, dataDir: string): void {
  const child = fileURLToPath(new URL("./rewrite-child.ts", import.meta.url));
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status, signal, error, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", child, lmdbPath(dataDir), next, String(process.pid)],
    {
      timeout: MOST_MS,
      killSignal: "SIGKILL",
      maxBuffer: 1024 * 1024,
      env,
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    },
  );
  if (status === 0) return;
  const said = stderr?.trim() ?? "";
  if (status === IN_USE) throw new InUse(said);
  throw new Error(said || (error?.message ?? `the copying process ended with ${signal ?? status}`));
}

function replaceBy(next: string, dataDir: string): void {
  const path = lmdbPath(dataDir);
  renameSync(next, path);
  // It belongs to the old file, and an opener makes it anew.
  rmSync(`${path}-lock`, { force: true });
  flushToDisk(dataDir);
  rmSync(`${next}-lock`, { force: true });
}

/** Tells a file from one that took its place; undefined where there is none. */
export const identityOf = (dataDir: string): string | undefined => {
  const found = statSync(lmdbPath(dataDir), { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
};
