/** Files that hold one secret and a newline, and that only this user can read. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { onFile, readText } from "../file-errors.ts";

/** Undefined where there is no such file. */
export function readSecret(path: string): string | undefined {
  try {
    return readText(path).trim();
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
    onFile(path, () => {
      writeSync(file, `${secret}\n`);
      fsyncSync(file);
    });
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  const folder = openSync(dirname(path), "r");
  try {
    onFile(dirname(path), () => fsyncSync(folder));
  } finally {
    closeSync(folder);
  }
}
