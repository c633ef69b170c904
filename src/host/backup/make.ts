/**
 * Makes a backup: weir.lmdb as of one frame (store/copying/copy.ts), the frozen records, the master key, and at last the manifest. The
 * process that calls this does all the copying; the gateway only holds its files still at two moments (moment.ts). After the second one
 * the gateway may even die: nothing changes the files that are being copied any more.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../../base/clock.ts";
import { assertRoom, copyLmdb, type RunningCopy } from "../../store/copying/copy.ts";
import { MASTER_KEY_FILE } from "../../store/installation/master-key.ts";
import { lmdbPath } from "../../store/recovery/inspection.ts";
import { copyFiles, type FileToCopy, flushFolders, hashFile } from "./files.ts";
import { type Manifest, newManifest, writeManifest } from "./manifest.ts";
import type { BegunBackup } from "./moment.ts";
import { prove } from "./proof.ts";
import { recordFiles, removeStale, unfreeze } from "./records.ts";
import { newTarget } from "./target.ts";

/** Who holds the files still: the running gateway, or this process where none runs. */
export interface Holder {
  /** Holds LMDB's file, and the records unless they are not wanted. */
  begin(): Promise<BegunCopy>;
  /** The copy of LMDB has begun. @returns the name of the frozen records; undefined where they rest, or are not copied */
  freeze(begun: BegunCopy): Promise<string | undefined>;
  /** Lets LMDB's file and the records change again, if the holder still keeps them from it. */
  end(): Promise<void>;
}

export interface BegunCopy extends BegunBackup {
  readonly release: string;
  readonly records: Manifest["records"];
}

export interface BackupOptions {
  /** The first one's, where there are several cells. */
  readonly dataDir: string;
  readonly to: string;
  readonly nowMs: number;
  readonly withMasterKey: boolean;
}

interface OneBackup extends BackupOptions {
  readonly holder: Holder;
}

/**
 * Files of the built-in simulators beside it: whom their people and payments are. They are copied after the store, which refers to
 * them and not they to it.
 */
const BESIDE = [join("identity", "people.json"), join("simulator", "payments.jsonl")];

/** @throws Error with lines for the operator; the folder is then as it was */
export const makeBackup = (options: OneBackup): Promise<Manifest> =>
  inTarget(options, [options.holder], (folder) => made(options, folder));

/** Makes a backup in its new folder, which is as it was where that fails; the holders end in any case. */
export async function inTarget(
  { dataDir, to, nowMs }: BackupOptions,
  holders: readonly Holder[],
  make: (folder: string) => Promise<Manifest>,
): Promise<Manifest> {
  const { folder, discard } = newTarget(to, dataDir);
  try {
    removeStale(dataDir, nowMs);
    return await make(folder);
  } catch (error) {
    discard();
    throw withReason(error, folder, "backup");
  } finally {
    for (const holder of holders) await holder.end();
  }
}

/** Copies the store of one of several folders, without records, into a folder. */
export async function copyStore(dataDir: string, folder: string, holder: Holder): Promise<BegunCopy> {
  const begun = await holder.begin();
  const lmdb = copyLmdb(dataDir, lmdbPath(folder));
  try {
    assertMoment(begun, await lmdb.begun);
    await holder.freeze(begun);
    await lmdb.done;
    return begun;
  } finally {
    await lmdb.stop();
  }
}

async function made(options: OneBackup, folder: string): Promise<Manifest> {
  const { dataDir, holder } = options;
  const begun = await holder.begin();
  const lmdb = copyLmdb(dataDir, lmdbPath(folder));
  let frozen: string | undefined;
  try {
    assertMoment(begun, await lmdb.begun);
    frozen = await holder.freeze(begun);
    return await copied(options, folder, { begun, frozen, lmdb });
  } finally {
    await lmdb.stop();
    if (frozen !== undefined) unfreeze(dataDir, frozen);
  }
}

/** Files of the folder beside the store and the records. */
export const filesBeside = ({ dataDir, withMasterKey }: BackupOptions): FileToCopy[] =>
  [...(withMasterKey ? [MASTER_KEY_FILE] : []), ...BESIDE]
    .filter((path) => existsSync(join(dataDir, path)))
    .map((path) => ({ from: join(dataDir, path), path }));

/** A hold that ended too early would leave a copy without the last records. */
function assertMoment({ frame }: BegunCopy, moment: { applied: number; kept: number }): void {
  if (moment.applied === frame && moment.kept === frame) return;
  throw new Error("the copy took too long to begin, and the store has gone on; try again");
}

interface At {
  readonly begun: BegunCopy;
  readonly frozen: string | undefined;
  readonly lmdb: RunningCopy;
}

async function copied(options: BackupOptions, folder: string, at: At): Promise<Manifest> {
  const { dataDir, nowMs } = options;
  const { begun, frozen, lmdb } = at;
  const records =
    begun.records === "embedded" ? recordFiles(dataDir, frozen) : { files: [], links: [], bytes: 0 };
  assertRoom(folder, records.bytes);
  const copying = copyFiles([...filesBeside(options), ...records.files], folder);
  // Whichever fails: nothing may go on writing when the folder is emptied.
  await Promise.allSettled([copying, lmdb.done]);
  const [files] = await Promise.all([copying, lmdb.done]);
  const path = lmdbPath(folder);
  const manifest = newManifest({
    id: begun.id,
    release: begun.release,
    made_at: isoTime(nowMs),
    records: begun.records,
    has_master_key: files.some((file) => file.path === MASTER_KEY_FILE),
    // Proves the copied store, which nobody changes: the copy of a damaged store must not look like a backup.
    ledger: prove(folder, dataDir),
    files: [{ path: "weir.lmdb", ...(await hashFile(path)) }, ...files],
    links: [...records.links],
  });
  flushFolders(folder);
  writeManifest(folder, manifest);
  return manifest;
}

/** An error that says so where the disk is full. */
export function withReason(error: unknown, folder: string, what: "backup" | "restore"): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ENOSPC") return error;
  return new Error(`the disk of ${folder} is full; nothing of the ${what} is left there`, { cause: error });
}
