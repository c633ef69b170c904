/** Data folders of the store that a process left behind at its death, and what damage can be done to a file. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openStore } from "../../../src/store/store.ts";

const STORE = JSON.stringify(join(import.meta.dirname, "../../../src/store/store.ts"));

/** A process that opens the folder, runs `script` with `store` and `rows` (a table), and then kills itself -9. */
export async function crashAfter(folder: string, script: string): Promise<void> {
  const code = `
    import { openStore } from ${STORE};
    const store = openStore(${JSON.stringify(folder)});
    const rows = store.table("rows");
    ${script}
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (d: Buffer) => (errors += d.toString()));
  const [, signal] = await once(child, "close");
  expect([signal, errors]).toEqual(["SIGKILL", ""]);
}

export async function rowsOf(folder: string): Promise<[unknown, unknown][]> {
  const store = openStore(folder);
  const rows = [...store.table<number>("rows").range()].map(({ key, value }): [unknown, unknown] => [
    key,
    value,
  ]);
  await store.close();
  return rows;
}

/** Paths of the journal's files, oldest first. */
export const segmentsOf = (folder: string): string[] =>
  readdirSync(join(folder, "journal"))
    .filter((name) => name.endsWith(".journal"))
    .sort()
    .map((name) => join(folder, "journal", name));

/** Size and content, to see that nothing was changed. */
export const fingerprint = (path: string): string =>
  `${statSync(path).size} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;

export function flipBit(path: string, byte: number, bit = 3): void {
  const fd = openSync(path, "r+");
  const one = Buffer.alloc(1);
  readSync(fd, one, 0, 1, byte);
  one[0] = (one[0] ?? 0) ^ (1 << bit);
  writeSync(fd, one, 0, 1, byte);
  closeSync(fd);
}

export function overwrite(path: string, byte: number, bytes: Buffer): void {
  const fd = openSync(path, "r+");
  writeSync(fd, bytes, 0, bytes.length, byte);
  closeSync(fd);
}
