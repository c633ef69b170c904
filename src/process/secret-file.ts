/** Files that hold one secret and a newline, and that only this user can read. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Undefined where there is no such file. */
export function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a secret and a newline, mode 0600, whole or not at all, and durable (file and folder synced). */
export function saveSecret(path: string, secret: string): void {
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  const file = openSync(unfinished, "wx", 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
