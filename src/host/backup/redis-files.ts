/**
 * The append-only file of an installation's own Redis, copied while Redis writes it. It is several files, which a manifest names; Redis
 * appends to the last one and replaces the manifest as a whole when it begins or ends a rewrite. So the files of one manifest, up to the
 * bytes that they have at a moment, are what a kill of Redis at that moment would leave. What a cut leaves of the last write is a
 * transaction that is not whole: Redis drops it (`aof-load-truncated yes`), and nobody had an answer to it.
 * Source: https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/#backing-up-aof-persistence
 */
import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { FileToCopy } from "./files.ts";

const AOF = "appendonlydir";
const MANIFEST = "appendonly.aof.manifest";
const LINKS = "weir-backup-";
const TRIES = 20;
/** Says beside a restored append-only file that its cells have not started on it yet. */
const RESTORED = "restored";

export interface RedisFiles {
  readonly files: readonly FileToCopy[];
  readonly bytes: number;
  /** Removes the links that kept the files. */
  release(): void;
}

/**
 * Keeps the files as of now, by a link to each.
 * @param redis Redis's folder in the data folder: its name there is its name in the backup
 * @throws Error with a line for the operator
 */
export function keepRedisFiles(dataDir: string, redis: string): RedisFiles {
  const folder = join(dataDir, redis);
  removeStaleLinks(folder);
  for (let tries = 0; tries < TRIES; tries++) {
    const links = join(folder, `${LINKS}${randomBytes(6).toString("hex")}`);
    const release = () => rmSync(links, { recursive: true, force: true });
    mkdirSync(links, { mode: 0o700 });
    const kept = linkedOr(release, () => linked(join(folder, AOF), links));
    if (kept !== undefined) {
      const files = kept.map(({ name, bytes }) => ({
        from: join(links, name),
        path: join(redis, AOF, name),
        bytes,
      }));
      return { files, bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0), release };
    }
    release();
  }
  throw new Error(
    `Redis's append-only file in ${folder} is rewritten again and again: try again in a minute`,
  );
}

function linkedOr<T>(release: () => void, link: () => T): T {
  try {
    return link();
  } catch (error) {
    release();
    throw error;
  }
}

/** Undefined where Redis replaced the manifest meanwhile. */
function linked(aof: string, links: string): { name: string; bytes: number }[] | undefined {
  const text = readManifest(aof);
  // Files that a rewrite has made superfluous (type h) may be gone already, and are not read.
  const lines = text.split("\n").filter((line) => line !== "" && !line.endsWith(" type h"));
  const names = lines.map((line) => /^file ([\w.-]+) seq \d+ type [bi]$/.exec(line)?.[1]);
  if (names.includes(undefined)) throw new Error(`${join(aof, MANIFEST)} is not what Redis 7 writes`);
  try {
    for (const name of names as string[]) linkSync(join(aof, name), join(links, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const sizes = (names as string[]).map((name) => ({ name, bytes: statSync(join(links, name)).size }));
  if (readManifest(aof) !== text) return undefined;
  const manifest = `${lines.join("\n")}\n`;
  writeFileSync(join(links, MANIFEST), manifest, { mode: 0o600 });
  return [...sizes, { name: MANIFEST, bytes: Buffer.byteLength(manifest) }];
}

function readManifest(aof: string): string {
  const path = join(aof, MANIFEST);
  if (!existsSync(path)) throw new Error(`${path} does not exist: the installation's Redis has not run here`);
  return readFileSync(path, "utf8");
}

/** A copy takes less. */
const STALE_MS = 24 * 3_600_000;

/** Links that a command left which was killed: what a rewrite replaced would take space for ever. */
function removeStaleLinks(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const isStale = () => systemClock.now() - statSync(path).mtimeMs > STALE_MS;
    if (name.startsWith(LINKS) && isStale()) rmSync(path, { recursive: true, force: true });
  }
}

export const markRedisRestored = (redisFolder: string): void =>
  writeFileSync(join(redisFolder, RESTORED), "", { mode: 0o600 });

/** Whether no cell has started since the append-only file was restored. */
export const isRedisRestored = (redisFolder: string): boolean => existsSync(join(redisFolder, RESTORED));

/** Its cells may start on it as on any other from now on. */
export const forgetRedisRestored = (redisFolder: string): void =>
  rmSync(join(redisFolder, RESTORED), { force: true });
