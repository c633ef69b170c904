/**
 * Makes a backup of all cells of one machine, while they run. The order is what makes it whole: first the folder of each cell, then
 * Redis, at last ClickHouse. So Redis has all that a folder says it confirmed, and ClickHouse has the entries of charges that
 * Redis has and a folder has not any more, or not yet. A cell's folder may be behind Redis: a restored one is brought up (`recovery.ts`
 * of the cells).
 */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../../base/clock.ts";
import { assertRoom } from "../../store/copying/copy.ts";
import { MASTER_KEY_FILE } from "../../store/installation/master-key.ts";
import { lmdbPath } from "../../store/recovery/inspection.ts";
import { copyFiles, flushFolders, hashFile } from "./files.ts";
import { type BackupOptions, copyStore, filesBeside, type Holder, inTarget } from "./make.ts";
import { type Manifest, type ManifestFile, newManifest, writeManifest } from "./manifest.ts";
import { proveAll } from "./proof.ts";
import { recordFiles, unfreeze } from "./records.ts";
import { keepRedisFiles } from "./redis-files.ts";

export interface InstallationOptions extends BackupOptions {
  /** The first one's path is "", those of others are in the data folder: `cells/2`. */
  readonly cells: readonly { readonly path: string; readonly holder: Holder }[];
  /** Name in the data folder of the folder of its own Redis; undefined: Redis is a server's. */
  readonly redis: string | undefined;
  /** Holds ClickHouse's tables still; its store as well, which is not copied then. */
  readonly engine: Holder;
}

/** @throws Error with lines for the operator; the folder is then as it was */
export function backUpInstallation(options: InstallationOptions): Promise<Manifest> {
  const holders = [...options.cells.map(({ holder }) => holder), options.engine];
  return inTarget(options, holders, (folder) => made(options, folder));
}

async function made(options: InstallationOptions, folder: string): Promise<Manifest> {
  const { dataDir, nowMs, cells, redis } = options;
  for (const { path, holder } of cells) {
    mkdirSync(join(folder, path), { recursive: true, mode: 0o700 });
    await copyStore(join(dataDir, path), join(folder, path), holder);
  }
  const beside = await copyFiles(filesBeside(options), folder);
  const ofRedis = await copiedRedis(options, folder);
  const { release, records, files: ofRecords, links } = await copiedRecords(options, folder);
  const stores: ManifestFile[] = [];
  for (const { path } of cells)
    stores.push({ path: join(path, "weir.lmdb"), ...(await hashFile(lmdbPath(join(folder, path)))) });
  const manifest = newManifest({
    id: randomBytes(12).toString("hex"),
    release,
    made_at: isoTime(nowMs),
    records,
    has_master_key: beside.some((file) => file.path === MASTER_KEY_FILE),
    cells: cells.map(({ path }) => path).filter((path) => path !== ""),
    ...(redis !== undefined && { redis }),
    ledger: proveAll(cells.map(({ path }) => ({ copy: join(folder, path), of: join(dataDir, path) }))),
    files: [...stores, ...beside, ...ofRedis, ...ofRecords],
    links: [...links],
  });
  flushFolders(folder);
  writeManifest(folder, manifest);
  return manifest;
}

async function copiedRedis({ dataDir, redis }: InstallationOptions, folder: string): Promise<ManifestFile[]> {
  if (redis === undefined) return [];
  const kept = keepRedisFiles(dataDir, redis);
  try {
    assertRoom(folder, kept.bytes);
    return await copyFiles(kept.files, folder);
  } finally {
    kept.release();
  }
}

async function copiedRecords({ dataDir, engine }: InstallationOptions, folder: string) {
  const begun = await engine.begin();
  const { release, records } = begun;
  const frozen = await engine.freeze(begun);
  if (records !== "embedded") return { release, records, files: [], links: [] };
  try {
    const { files, links, bytes } = recordFiles(dataDir, frozen);
    assertRoom(folder, bytes);
    return { release, records, files: await copyFiles(files, folder), links };
  } finally {
    if (frozen !== undefined) unfreeze(dataDir, frozen);
  }
}
