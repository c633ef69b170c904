/**
 * Makes a data folder from a backup. It is built and proven in a folder inside it, so that this works where the data folder is a mount;
 * meanwhile no start takes the data folder for a new one, because `weir.lmdb-disk` without weir.lmdb is refused. weir.lmdb comes last.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { flushToDisk } from "../../base/process/flush-to-disk.ts";
import { assertRoom } from "../../store/copying/copy.ts";
import { diskPath, lmdbPath } from "../../store/recovery/inspection.ts";
import { openStore } from "../../store/store.ts";
import { copyFile, eachOf, flushFolders } from "./files.ts";
import { withReason } from "./make.ts";
import { type Manifest, type ManifestFile, readManifest } from "./manifest.ts";
import { markRestored } from "./marker.ts";
import { proveAll } from "./proof.ts";
import { markRedisRestored } from "./redis-files.ts";

export interface RestoreOptions {
  readonly from: string;
  readonly dataDir: string;
  /** This program's release: a backup of a later one is refused. */
  readonly release: string;
  readonly nowMs: number;
}

export interface Restored {
  readonly manifest: Manifest;
  /** Names this copy. */
  readonly copyId: string;
}

/** @throws Error with lines for the operator; the data folder is then as it was */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const [from, dataDir] = [resolve(options.from), resolve(options.dataDir)];
  const manifest = readManifest(from, options.release);
  assertFiles(from, manifest);
  const wasThere = assertEmpty(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const building = join(dataDir, `restoring-${randomBytes(6).toString("hex")}`);
  try {
    assertRoom(
      dataDir,
      manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    closeSync(openSync(diskPath(dataDir), "wx", 0o600));
    mkdirSync(building, { mode: 0o700 });
    await build(from, building, manifest);
    const copyId = randomBytes(12).toString("hex");
    for (const folder of storesIn(building, manifest)) await mark(folder, copyId, manifest, options.nowMs);
    if (manifest.redis !== undefined) markRedisRestored(join(building, manifest.redis));
    flushFolders(building);
    moveUp(building, dataDir);
    return { manifest, copyId };
  } catch (error) {
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true, force: true });
    if (!wasThere) rmSync(dataDir, { recursive: true, force: true });
    throw withReason(error, dataDir, "restore");
  }
}

/** @returns whether it is there. @throws Error where anything is in it */
function assertEmpty(dataDir: string): boolean {
  if (!existsSync(dataDir)) return false;
  if (!statSync(dataDir).isDirectory()) throw new Error(`DATA_DIR=${dataDir} is no folder`);
  const [name] = readdirSync(dataDir);
  if (name === undefined) return true;
  const why = name.startsWith("restoring-")
    ? "an earlier restore did not finish, so empty it"
    : `has ${name}`;
  throw new Error(`DATA_DIR=${dataDir} is not empty (${why}): a backup is restored into a new folder only`);
}

/** Quick, before anything is written. */
function assertFiles(from: string, { files }: Manifest): void {
  for (const { path, bytes } of files) {
    const size = statSync(join(from, path), { throwIfNoEntry: false })?.size;
    if (size === undefined) throw new Error(`${join(from, path)} is missing: the backup is not whole`);
    if (size !== bytes)
      throw new Error(`${join(from, path)} is damaged: it has ${size} bytes, and should have ${bytes}`);
  }
}

async function build(from: string, building: string, manifest: Manifest): Promise<void> {
  await eachOf(manifest.files, async ({ path, bytes, sha256 }: ManifestFile) => {
    const copied = await copyFile(join(from, path), join(building, path));
    if (copied.bytes !== bytes || copied.sha256 !== sha256)
      throw new Error(`${join(from, path)} is damaged: it does not match its checksum`);
  });
  for (const { path, to } of manifest.links) {
    mkdirSync(dirname(join(building, path)), { recursive: true, mode: 0o700 });
    symlinkSync(to, join(building, path));
  }
  const ledger = proveAll(
    storesIn(building, manifest).map((copy) => ({ copy, of: join(from, relative(building, copy)) })),
  );
  if (!isDeepStrictEqual(ledger, manifest.ledger))
    throw new Error(`${lmdbPath(from)} is not the one that the backup was made with: its ledger differs`);
}

/** Folders with a store of their own: that of the first cell is the data folder. */
const storesIn = (building: string, { cells = [] }: Manifest): string[] => [
  building,
  ...cells.map((path) => join(building, path)),
];

async function mark(
  folder: string,
  copyId: string,
  { id, made_at, release }: Manifest,
  nowMs: number,
): Promise<void> {
  const store = openStore(folder);
  try {
    await markRestored(store, nowMs, { copyId, backupId: id, madeAt: made_at, release });
  } finally {
    await store.close();
  }
}

function moveUp(building: string, dataDir: string): void {
  const last = lmdbPath(building);
  const own = [last, `${last}-lock`, diskPath(building)].map((path) => basename(path));
  for (const name of readdirSync(building))
    if (!own.includes(name)) renameSync(join(building, name), join(dataDir, name));
  flushToDisk(dataDir);
  renameSync(last, lmdbPath(dataDir));
  rmSync(building, { recursive: true, force: true });
  flushToDisk(dataDir);
}
