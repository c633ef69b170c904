/**
 * The files of the embedded ClickHouse that a backup takes. Its folder has a database's definition in `metadata`, with a link to a
 * folder of table definitions in `store`, and each table's parts in `store` too. Parts are never changed in place; of a running engine
 * only frozen ones are taken, because it removes others at any time. What else the engine has there it makes anew.
 */
import { existsSync, lstatSync, readlinkSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { entriesBelow, type FileToCopy, filesBelow } from "./files.ts";
import type { Manifest } from "./manifest.ts";
import { isFrozenName } from "./moment.ts";

export const ENGINE = "clickhouse";
const SHADOW = join(ENGINE, "shadow");

export interface RecordFiles {
  readonly files: readonly FileToCopy[];
  readonly links: Manifest["links"];
  readonly bytes: number;
}

/** @param frozen the name that the running engine's tables were frozen under; undefined: the engine is stopped */
export function recordFiles(dataDir: string, frozen: string | undefined): RecordFiles {
  const engine = join(dataDir, ENGINE);
  const inEngine = (path: string): FileToCopy => ({ from: join(engine, path), path: join(ENGINE, path) });
  const store = filesBelow(join(engine, "store")).map((path) => join("store", path));
  const files = [
    ...filesBelow(join(engine, "metadata")).map((path) => inEngine(join("metadata", path))),
    ...store.filter((path) => frozen === undefined || isDefinition(path)).map(inEngine),
    ...(frozen === undefined ? [] : frozenFiles(dataDir, frozen)),
  ].filter(({ path }) => !path.endsWith(".tmp"));
  const links = entriesBelow(join(engine, "metadata"))
    .filter((entry) => entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(dataDir, path), to: readlinkSync(path) }));
  const bytes = files.reduce((sum, { from }) => sum + statSync(from).size, 0);
  return { files, links, bytes };
}

/** Definitions of tables, and the file that says how a table's folder is laid out: `store/abc/<uuid>/…`. */
const isDefinition = (path: string): boolean =>
  path.split("/").length === 4 && (path.endsWith(".sql") || path.endsWith("/format_version.txt"));

function frozenFiles(dataDir: string, frozen: string): FileToCopy[] {
  const folder = join(dataDir, SHADOW, frozen);
  // There is at least the table of migrations.
  if (!existsSync(folder)) throw new Error(`${folder} does not exist: the records were not frozen`);
  return filesBelow(folder).map((path) => ({ from: join(folder, path), path: join(ENGINE, path) }));
}

export const unfreeze = (dataDir: string, frozen: string): void =>
  rmSync(join(dataDir, SHADOW, frozen), { recursive: true, force: true });

/** A backup takes less. */
const STALE_MS = 24 * 3_600_000;

/** Frozen files of a command that died take space for ever. */
export function removeStale(dataDir: string, nowMs: number): void {
  const folder = join(dataDir, SHADOW);
  for (const entry of entriesBelow(folder)) {
    const isOwn = entry.parentPath === folder && entry.isDirectory() && isFrozenName(entry.name);
    if (isOwn && nowMs - lstatSync(join(folder, entry.name)).mtimeMs > STALE_MS)
      unfreeze(dataDir, entry.name);
  }
}

const ENGINE_MS = 10_000;

/** The engine of a gateway that was killed ends a moment later. @throws Error where it does not */
export async function engineEnded(dataDir: string): Promise<void> {
  for (let waitedMs = 0; await answers(join(dataDir, ENGINE, "engine.sock")); waitedMs += 50) {
    if (waitedMs > ENGINE_MS)
      throw new Error(`another process still uses ${join(dataDir, ENGINE)}: try again in a minute`);
    await sleep(50);
  }
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
