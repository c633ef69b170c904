/** Copies files with their checksums, one piece after the other, each on the disk when it is done. Memory: some MB, whatever the sizes. */
import { createHash } from "node:crypto";
import { type Dirent, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flushToDisk } from "../../base/process/flush-to-disk.ts";
import type { ManifestFile } from "./manifest.ts";

const PIECE_BYTES = 1024 * 1024;
/** Small files wait for the disk more than for anything else. */
const AT_ONCE = 8;

type Content = Omit<ManifestFile, "path">;

/** Copies one file, or its first `most` bytes; the new one is only this user's. @throws Error of the disk */
export async function copyFile(from: string, to: string, most = Number.MAX_SAFE_INTEGER): Promise<Content> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const source = await open(from, "r");
  try {
    const target = await open(to, "wx", 0o600);
    try {
      const content = await contentOf(source, most, async (part) => {
        for (let at = 0; at < part.length; ) at += (await target.write(part, at)).bytesWritten;
      });
      await target.sync();
      return content;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Checksum of a file that is there already. */
export async function hashFile(path: string): Promise<Content> {
  const source = await open(path, "r");
  try {
    return await contentOf(source, Number.MAX_SAFE_INTEGER, async () => {});
  } finally {
    await source.close();
  }
}

/** Reads at most `most` bytes. @param each gets the parts, one after the other; their memory is used again */
async function contentOf(
  source: FileHandle,
  most: number,
  each: (part: Buffer) => Promise<void>,
): Promise<Content> {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(1, (await source.stat()).size)));
  for (let bytes = 0; ; ) {
    const { bytesRead } = await source.read(piece, 0, Math.min(piece.length, most - bytes), bytes);
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
    const part = piece.subarray(0, bytesRead);
    hash.update(part);
    await each(part);
    bytes += bytesRead;
  }
}

export interface FileToCopy {
  readonly from: string;
  /** In the backup. */
  readonly path: string;
  /** Only so many of its first bytes: the file is being appended to. */
  readonly bytes?: number;
}

/** Copies files into a folder. @returns their entries, in order */
export async function copyFiles(files: readonly FileToCopy[], folder: string): Promise<ManifestFile[]> {
  const copied: ManifestFile[] = [];
  await eachOf(files, async ({ from, path, bytes }, at) => {
    copied[at] = { path, ...(await copyFile(from, join(folder, path), bytes)) };
  });
  return copied;
}

/** Some at once. The first error ends it, once those under way have ended. */
export async function eachOf<T>(
  all: readonly T[],
  act: (one: T, at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const work = async () => {
    while (!hasFailed && next < all.length) {
      const at = next++;
      try {
        await act(all[at] as T, at);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

/** Every file below a folder, as paths in it; nothing where there is no folder. Links are not followed. */
export function filesBelow(folder: string): string[] {
  return entriesBelow(folder)
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Everything below a folder. Node's own walk would follow links to folders. */
export function entriesBelow(folder: string): Dirent[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const found: Dirent[] = [];
  for (const folders = [folder]; ; ) {
    const next = folders.pop();
    if (next === undefined) return found;
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      found.push(entry);
      if (entry.isDirectory()) folders.push(join(next, entry.name));
    }
  }
}

/** The names of new files are on the disk too. */
export function flushFolders(folder: string): void {
  for (const entry of entriesBelow(folder))
    if (entry.isDirectory()) flushToDisk(join(entry.parentPath, entry.name));
  flushToDisk(folder);
}
