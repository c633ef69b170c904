/** Lives of cells at a real Redis: one process at a time speaks for a cell, and nothing it says happens twice. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { datasetId } from "../../../../../src/cluster/cells/dataset/dataset.ts";
import { Session } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { RETIRE_SILENCE_MS, retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import { connectRedis, type RedisLink } from "../../../../../src/cluster/cells/redis/redis.ts";
import { createDataset } from "../../../../support/cells/dataset.ts";
import { missingRedis, startRedis, type TestRedis } from "../../../../support/redis-server.ts";
import { restoreRedis, saveRedis } from "../redis-copy.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(`lives${missing === undefined ? "" : `: ${missing}`}`, () => {
  let redis: TestRedis;
  const links: RedisLink[] = [];
  const id = datasetId();
  const link = async () => {
    const made = connectRedis({ url: redis.url, log: { warn() {} } });
    links.push(made);
    await made.ready(5000);
    return made;
  };
  const session = async (cell: string) => {
    const ends: Error[] = [];
    const made = new Session({ link: await link(), cell, datasetId: id, onEnd: (e) => void ends.push(e) });
    await made.start();
    return { session: made, ends, beat: async () => await made.lane("beat").send([["beat", 0]]) };
  };
  beforeEach(async () => {
    redis = await startRedis();
    await createDataset(await link(), id);
  });
  afterEach(async () => {
    for (const made of links.splice(0)) made.close();
    await redis.stop();
  });

  test("of an older process end with a newer one, also when Redis was restarted in between", async () => {
    const older = await session("a");
    await session("a");
    await redis.kill();
    await redis.start();
    await expect(older.beat()).rejects.toThrow(/WEIRFENCED/);
    expect(older.ends.map(String)).toEqual([expect.stringContaining("WEIRFENCED")]);
  });

  test("end when the cell is retired, and stay ended when it has started anew and Redis too", async () => {
    const older = await session("a");
    expect(await retire(await link(), id, "a", 0)).toBe(true);
    const newer = await session("a");
    await redis.kill();
    await redis.start();
    await expect(older.beat()).rejects.toThrow(/WEIRFENCED/);
    await newer.beat();
  });

  test("that began a moment ago are not ended by a retirement, unless they left", async () => {
    const starting = await session("a");
    expect(await retire(await link(), id, "a", RETIRE_SILENCE_MS)).toBe("alive");
    expect(await retire(await link(), id, "a", 0)).toBe(true);
    await expect(starting.beat()).rejects.toThrow(/WEIRFENCED/);
    const leaving = await session("a");
    await leaving.beat();
    await leaving.session.lane("leave").send([["leave", 1, 1]]);
    expect(await retire(await link(), id, "a", RETIRE_SILENCE_MS)).toBe(true);
  });

  test("that were retired leave no answers behind, and those of other cells stay", async () => {
    const [mine, others] = await Promise.all(["a", "a-2"].map(session));
    for (const made of [mine, others]) await made?.beat();
    await mine?.session.lane("documents").send([["ticket"], ["release"]]);
    expect(await retire(await link(), id, "a", 0)).toBe(true);
    expect(((await (await link()).call("HKEYS", "{weir}:kept")) as Buffer[]).map(String)).toEqual([
      "a-2:beat",
    ]);
    await others?.beat();
    await (await session("a")).beat();
  });

  test("go on at a dataset that lacks what they were answered last", async () => {
    const { beat, ends } = await session("a");
    await beat();
    const saved = saveRedis(redis);
    for (let i = 0; i < 3; i++) await beat();
    await restoreRedis(redis, saved);
    await beat();
    await beat();
    expect(ends).toEqual([]);
  });

  test("go on at a dataset that lacks their start, and fence others as before", async () => {
    const first = await session("a");
    const saved = saveRedis(redis);
    const second = await session("a");
    await restoreRedis(redis, saved);
    await second.beat();
    await expect(first.beat()).rejects.toThrow(/WEIRFENCED/);
    await second.beat();
  });

  test("that were forgotten have other names than those that follow", async () => {
    const saved = saveRedis(redis);
    const first = await session("a");
    await restoreRedis(redis, saved);
    const second = await session("a");
    expect(second.session.life).not.toBe(first.session.life);
    await expect(first.beat()).rejects.toThrow(/WEIRFENCED/);
  });
});
