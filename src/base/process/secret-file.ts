/** Files that hold one secret and a newline, and that only this user can read. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf, onFile, readText } from "../file-errors.ts";
import { flushToDisk } from "./flush-to-disk.ts";

/** Undefined where there is no such file. */
export function readSecret(path: string): string | undefined {
  try {
    return readText(path).trim();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a secret and a newline, mode 0600, whole or not at all, and durable (file and folder synced). */
export function saveSecret(path: string, secret: string): void {
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  const file = openSync(unfinished, "wx", 0o600);
  try {
    onFile(path, () => {
      writeSync(file, `${secret}\n`);
      fsyncSync(file);
    });
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  onFile(dirname(path), () => flushToDisk(dirname(path)));
}
