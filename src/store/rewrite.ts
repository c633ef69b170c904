/**
 * Writes weir.lmdb anew with the rows that it has. LMDB never overwrites a page in place: what a removed row held stays in free
 * pages, and in the gaps of pages in use, until they are needed again, which may be never. A copy row by row into a new file has
 * neither. It is made by a process of its own, so that no memory of this one gets into pages and no file stays open; the new file
 * then takes the old one's place by one rename. A crash before that leaves the old file and the note that asks for it.
 */
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lmdbPath } from "./inspection.ts";

const notePath = (dataDir: string): string => join(dataDir, "weir.lmdb-rewrite");
const nextPath = (dataDir: string): string => join(dataDir, "weir.lmdb-next");

/** Of a larger file a stop does not wait for the rewrite: the next start does it, some seconds a gigabyte. */
const SMALL_BYTES = 256 * 1024 * 1024;
const MOST_MS = 30 * 60_000;

/** Durable when it returns. */
export function askForRewrite(dataDir: string): void {
  const fd = openSync(notePath(dataDir), "w", 0o600);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  flushFolder(dataDir);
}

/** Only while no process has the store open. @throws Error of the disk; the old file is then as it was */
export function rewriteIfAsked(dataDir: string): void {
  const [path, next] = [lmdbPath(dataDir), nextPath(dataDir)];
  for (const left of [next, `${next}-lock`]) rmSync(left, { force: true });
  if (!existsSync(notePath(dataDir))) return;
  if (existsSync(path)) {
    const child = fileURLToPath(new URL("./rewrite-child.ts", import.meta.url));
    const flags = ["--disable-warning=ExperimentalWarning"];
    const { NODE_OPTIONS: _, ...env } = process.env;
    execFileSync(process.execPath, [...flags, child, path, next], {
      ...{ timeout: MOST_MS, maxBuffer: 1024 * 1024, env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    renameSync(next, path);
    flushFolder(dataDir);
    // It belongs to the old file, and an opener makes it anew.
    rmSync(`${path}-lock`, { force: true });
    rmSync(`${next}-lock`, { force: true });
  }
  rmSync(notePath(dataDir), { force: true });
}

/** The same at a stop, if it takes a moment only. */
export function rewriteSmall(dataDir: string): void {
  if (existsSync(notePath(dataDir)) && statSync(lmdbPath(dataDir)).size <= SMALL_BYTES)
    rewriteIfAsked(dataDir);
}

function flushFolder(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
