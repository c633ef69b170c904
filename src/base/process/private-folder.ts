/**
 * Makes the data folder private to its owner, because it contains prompts and keys. Folders 0700, files 0600, also
 * where an earlier start or another tool set other modes.
 */
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { codeOf, reasonOf } from "../file-errors.ts";
import { makeFolder } from "./make-folder.ts";

const FOLDER = 0o700;
const FILE = 0o600;

/**
 * Creates the folder if missing, and sets the modes of the folder, its entries and the entries of `journal`. Deeper
 * entries need none: other users cannot enter a folder of 0700.
 * @returns paths whose mode could not be changed because they belong to another user; normally empty.
 * @throws Error with a line for the operator where the folder cannot be used.
 */
export function keepPrivate(dataDir: string): string[] {
  try {
    makeFolder(dataDir);
    const left = [dataDir].filter(tightened);
    for (const folder of [dataDir, join(dataDir, "journal")]) {
      left.push(...entriesOf(folder).filter(tightened));
    }
    return left;
  } catch (error) {
    throw new Error(`DATA_DIR=${dataDir} cannot be used: ${whyNot(error)}`, { cause: error });
  }
}

/** Sets the mode. @returns true where that failed because the path belongs to another user. */
function tightened(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // Links are skipped, because the target may lie outside the folder; a socket is protected by its folder.
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

/** As one says it of a folder that one chose. */
const REASONS: Readonly<Record<string, string>> = {
  EEXIST: "it is a file, not a folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
};

const whyNot = (error: unknown): string =>
  REASONS[codeOf(error)] ?? reasonOf(codeOf(error))?.why ?? String(error);
