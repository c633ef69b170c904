/** Redis's append-only file, copied while it is written and rewritten: each copy is what Redis had at one moment, whole scripts only. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { connectRedis, Script } from "../../../../src/cluster/cells/redis/redis.ts";
import { copyFiles } from "../../../../src/host/backup/files.ts";
import { keepRedisFiles } from "../../../../src/host/backup/redis-files.ts";
import { missingRedis, startRedis } from "../../../support/redis-server.ts";
import { until } from "../../../support/wait.ts";

const missing = missingRedis();
const home = mkdtempSync(join(tmpdir(), "weir-redis-files-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Two keys that are equal after each script. */
const BOTH = new Script(
  'redis.call("SET", "{t}:filler", ARGV[1]) redis.call("INCR", "{t}:one") return redis.call("INCR", "{t}:two")',
);
const FILLER = "x".repeat(5000);
const TRUNCATES = ["--aof-load-truncated", "yes"];

/** What a Redis that starts on the copied file has of both keys. */
async function countsIn(folder: string): Promise<[number, number]> {
  const redis = await startRedis(TRUNCATES, folder);
  const link = connectRedis({ url: redis.url, log: { warn() {} } });
  try {
    await link.ready(5000);
    const [one, two] = (await link.call("MGET", "{t}:one", "{t}:two")) as Buffer[];
    return [Number(String(one)), Number(String(two))];
  } finally {
    link.close();
    await redis.kill();
  }
}

describe.skipIf(missing !== undefined)(
  `an append-only file${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    test("copies made while it is written and rewritten have what was answered before, and no script by half", async () => {
      const redis = await startRedis();
      const link = connectRedis({ url: redis.url, log: { warn() {} } });
      await link.ready(5000);
      let answered = 0;
      let isOn = true;
      const writing = (async () => {
        while (isOn) answered = (await link.run(BOTH, "{t}:one", FILLER)) as number;
      })();
      await until(
        "calls are answered",
        () => answered,
        (seen) => seen > 20,
      );
      const dataDir = join(redis.folder, "..");
      const name = redis.folder.slice(dataDir.length + 1);
      for (let n = 0; n < 4; n++) {
        if (n > 0) await link.call("BGREWRITEAOF").catch(() => {});
        const before = answered;
        const kept = keepRedisFiles(dataDir, name);
        const to = join(home, String(n));
        await copyFiles(kept.files, to);
        kept.release();
        const after = answered;
        const folder = join(to, name);
        // As a cut in the middle of the last write leaves it.
        const [last = ""] = readdirSync(join(folder, "appendonlydir"))
          .filter((file) => file.endsWith(".incr.aof"))
          .sort((a, b) => Number(b.split(".")[2]) - Number(a.split(".")[2]));
        const whole = join(home, `${n}-whole`);
        cpSync(folder, whole, { recursive: true });
        const [one, two] = await countsIn(whole);
        expect(one).toBe(two);
        expect(one).toBeGreaterThanOrEqual(before);
        expect(one).toBeLessThanOrEqual(after + 1);
        const path = join(folder, "appendonlydir", last);
        const size = kept.files.find((file) => file.path.endsWith(last))?.bytes ?? 0;
        if (size > 3000) truncateSync(path, size - 1 - Math.floor(Math.random() * 2500));
        const [cut, other] = await countsIn(folder);
        expect(cut).toBe(other);
        expect(cut).toBeGreaterThanOrEqual(one - 1);
      }
      isOn = false;
      await writing;
      expect(readdirSync(redis.folder).filter((file) => file.startsWith("weir-backup-"))).toEqual([]);
      link.close();
      await redis.stop();
    });

    test("a folder that Redis never wrote, and links that a killed command left", () => {
      const dataDir = join(home, "empty");
      for (const name of ["weir-backup-old", "weir-backup-new"])
        mkdirSync(join(dataDir, "redis", name), { recursive: true });
      utimesSync(join(dataDir, "redis/weir-backup-old"), 0, 0);
      expect(() => keepRedisFiles(dataDir, "redis")).toThrow("does not exist: the installation's Redis");
      // Another command may copy from the new ones now.
      expect(readdirSync(join(dataDir, "redis"))).toEqual(["weir-backup-new"]);
    });
  },
);
