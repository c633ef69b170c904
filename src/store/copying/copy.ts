/** Copies weir.lmdb in a process of its own: LMDB's native code may end its process where the disk is full, and must not end this one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { lmdbPath } from "../recovery/inspection.ts";
import type { CopyMoment } from "./copy-child.ts";

/** Beside the copy, for what else is on the disk. */
const RESERVE_BYTES = 12 * 1024 * 1024;
const MOST_SAID = 10_000;

export interface RunningCopy {
  /** Once it is fixed what the copy will have; the file may change from then on. @throws Error */
  readonly begun: Promise<CopyMoment>;
  /** Once the copy is whole and on the disk. @throws Error, and then nothing of it is left */
  readonly done: Promise<void>;
  /** Ends it, and removes what it has written. */
  stop(): Promise<void>;
}

/**
 * @param to a path where no file is
 * @throws Error where the copy may not fit on the disk
 */
export function copyLmdb(dataDir: string, to: string): RunningCopy {
  assertRoom(dirname(to), statSync(lmdbPath(dataDir)).size);
  const child = fileURLToPath(new URL("./copy-child.ts", import.meta.url));
  const args = ["--disable-warning=ExperimentalWarning", child, lmdbPath(dataDir), to, String(process.pid)];
  const copying = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  let errors = "";
  const begun = new Promise<CopyMoment>((resolve, reject) => {
    copying.stdout.on("data", (data: Buffer) => {
      said = (said + data.toString()).slice(-MOST_SAID);
      if (said.includes("\n")) resolve(JSON.parse(said) as CopyMoment);
    });
    copying.once("close", () => reject(new Error(`weir.lmdb could not be copied: ${errors.trim()}`)));
  });
  copying.stderr.on("data", (data: Buffer) => (errors = (errors + data.toString()).slice(-MOST_SAID)));
  const ended = once(copying, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const done = ended.then(([code, signal]) => {
    rmSync(`${to}-lock`, { force: true });
    if (code === 0) return;
    rmSync(to, { force: true });
    throw new Error(
      `weir.lmdb could not be copied: ${errors.trim() || `the copying process ended with ${signal ?? code}`}`,
    );
  });
  for (const promise of [begun, done]) promise.catch(() => {});
  return {
    begun,
    done,
    async stop() {
      copying.kill("SIGKILL");
      await done.catch(() => {});
    },
  };
}

/** @throws Error where so many bytes may not fit into the folder's disk */
export function assertRoom(folder: string, bytes: number): void {
  const want = wantOfRoom(folder, bytes);
  if (want !== undefined) throw new Error(`the disk of ${folder} is too full: ${want}`);
}

/** In words; undefined where so many bytes fit into the folder's disk. */
export function wantOfRoom(folder: string, bytes: number): string | undefined {
  const { bavail, bsize } = statfsSync(folder);
  const needed = bytes + RESERVE_BYTES;
  if (bavail * bsize >= needed) return undefined;
  const megabytes = (size: number) => Math.ceil(size / 1024 / 1024);
  return `${megabytes(needed)} MB are needed, and ${megabytes(bavail * bsize)} MB are free`;
}
