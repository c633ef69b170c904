/**
 * Keeps the data folder to its owner: prompts and keys lie in it. Folders 0700, files 0600, also where an earlier start or
 * another tool made them otherwise.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = 0o700;
const FILE = 0o600;

/**
 * Makes the folder where it is missing, and takes everybody else's rights to it, to what lies in it, and to the files of
 * its folder `journal`. Below other folders nothing is walked: nobody else gets through a folder of 0700.
 * @returns what could not be changed, since it belongs to another user; empty as a rule.
 * @throws Error with a line for the operator where the folder cannot be used.
 */
export function keepPrivate(dataDir: string): string[] {
  try {
    mkdirSync(dataDir, { recursive: true, mode: FOLDER });
    const left = [dataDir].filter(tightened);
    for (const folder of [dataDir, join(dataDir, "journal")]) {
      left.push(...entriesOf(folder).filter(tightened));
    }
    return left;
  } catch (error) {
    throw new Error(`DATA_DIR=${dataDir} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/** @returns true where it stays as it is, because it is not ours to change. */
function tightened(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // What a link names is somebody's decision, and may lie elsewhere; a socket's folder guards it.
  if (stat === undefined || !(stat.isDirectory() || stat.isFile())) return false;
  const mode = stat.isDirectory() ? FOLDER : FILE;
  if ((stat.mode & 0o777) === mode) return false;
  try {
    chmodSync(path, mode);
    return false;
  } catch (error) {
    if (codeOf(error) === "EPERM") return true;
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: "it is a file, not a folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOENT: "a part of the path is missing",
};

const reasonOf = (error: unknown): string => REASONS[codeOf(error)] ?? String(error);
