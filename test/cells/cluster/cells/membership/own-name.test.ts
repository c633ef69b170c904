/** A folder's cell has one name for ever, and each name one folder: an empty folder gets a number where the name's cell was retired. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { enterDataset } from "../../../../../src/cluster/cells/dataset/dataset.ts";
import { datasetToJoin } from "../../../../../src/cluster/cells/membership/join.ts";
import { folderIdOf } from "../../../../../src/cluster/cells/membership/membership.ts";
import { ownName } from "../../../../../src/cluster/cells/membership/own-name.ts";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import { connectRedis, type RedisLink } from "../../../../../src/cluster/cells/redis/redis.ts";
import { openStore } from "../../../../../src/store/store.ts";
import { createDataset } from "../../../../support/cells/dataset.ts";
import { again } from "../../../../support/pace.ts";
import { missingRedis, startRedis, type TestRedis } from "../../../../support/redis-server.ts";

const missing = missingRedis();
const DATASET = "d".repeat(24);

describe.skipIf(missing !== undefined)(`a cell's name${missing === undefined ? "" : `: ${missing}`}`, () => {
  let redis: TestRedis;
  let link: RedisLink;
  let folder: string;
  beforeAll(async () => {
    redis = await startRedis();
    link = connectRedis({ url: redis.url, log: { warn() {} } });
    await link.ready(5000);
    folder = mkdtempSync(join(tmpdir(), "weir-names-"));
  });
  afterAll(async () => {
    link?.close();
    await redis?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await link.call("FLUSHALL");
    await createDataset(link, DATASET);
  });
  let folders = 0;
  const emptyFolder = () => join(folder, String(++folders));

  /** What a start with `CELL=wanted` does on the folder, up to its life. */
  async function begin(dataDir: string, wanted: string): Promise<string> {
    const local = openStore(dataDir);
    try {
      await datasetToJoin(local, link, true);
      const cell = await ownName(local, link, wanted);
      await enterDataset(link, { datasetId: DATASET, cell });
      return cell;
    } finally {
      await local.close();
    }
  }
  const retired = (cell: string) => retire(link, DATASET, cell, 0);

  test("stays with its folder", async () => {
    const [one, two] = [emptyFolder(), emptyFolder()];
    expect(await begin(one, "a")).toBe("a");
    expect(await begin(one, "a")).toBe("a");
    for (const other of ["b", "a.2"]) await expect(begin(one, other)).rejects.toThrow("is that of cell a");
    await expect(begin(two, "a")).rejects.toThrow("there is a cell a already, on another data folder");
    expect(await begin(two, "a.2")).toBe("a.2");
  });

  test("gets a number on an empty folder once its cell is retired", async () => {
    const [one, two, three] = [emptyFolder(), emptyFolder(), emptyFolder()];
    expect(await begin(one, "a")).toBe("a");
    expect(await retired("a")).toBe(true);
    expect(await begin(two, "a")).toBe("a.2");
    // The folder that was given up is found again: a cell of its own.
    expect(await begin(one, "a")).toBe("a");
    expect(await begin(two, "a")).toBe("a.2");
    await expect(begin(three, "a")).rejects.toThrow("there is a cell a already");
    expect(await retired("a")).toBe(true);
    await expect(begin(three, "a")).rejects.toThrow("there is a cell a.2 already");
    expect(await retired("a.2")).toBe(true);
    expect(await begin(three, "a")).toBe("a.3");
    for (const other of ["a.2", "a.3.1", "b"])
      await expect(begin(three, other)).rejects.toThrow("is that of cell a.3");
    expect(await begin(three, "a.3")).toBe("a.3");
  });

  test("is that of one of the folders that want it at once", async () => {
    const [one, two] = [emptyFolder(), emptyFolder()];
    const [first, second] = await Promise.allSettled([begin(one, "a"), begin(two, "a")]);
    const isFirst = first.status === "fulfilled";
    expect(isFirst ? first.value : (second as PromiseFulfilledResult<string>).value).toBe("a");
    expect(isFirst ? second : first).toMatchObject({ status: "rejected" });
    const other = isFirst ? two : one;
    await expect(begin(other, "a")).rejects.toThrow("there is a cell a already, on another data folder");
    expect(await begin(other, "b")).toBe("b");
  });

  test("taken by a folder whose process was killed before it began is still that folder's", async () => {
    const [one, two] = [emptyFolder(), emptyFolder()];
    const local = openStore(one);
    await datasetToJoin(local, link, true);
    await link.call("HSET", "{weir}:folders", "a", await folderIdOf(local));
    await local.close();
    await expect(begin(two, "a")).rejects.toThrow("another data folder is about to be cell a");
    expect(await begin(one, "a")).toBe("a");
    expect(await begin(one, "a")).toBe("a");
  });

  test("taken by a folder that was lost before it began can be retired", async () => {
    const [one, two] = [emptyFolder(), emptyFolder()];
    const local = openStore(one);
    await datasetToJoin(local, link, true);
    expect(await ownName(local, link, "a")).toBe("a");
    await local.close();
    await expect(begin(two, "a")).rejects.toThrow("retire it if that folder is lost");
    expect(await retired("a")).toBe(true);
    expect(await retired("unknown")).toBe(false);
    expect(await begin(two, "a")).toBe("a.2");
    expect(await begin(one, "a")).toBe("a");
  });

  test("of 64 characters gets none", async () => {
    const name = "n".repeat(64);
    await begin(emptyFolder(), name);
    expect(await retired(name)).toBe(true);
    await expect(begin(emptyFolder(), name)).rejects.toThrow("too long to be numbered");
  });

  test("has one process: a second one is refused while the first is alive", async () => {
    const one = emptyFolder();
    await begin(one, "a");
    let beats = 0;
    const beat = () => link.call("HSET", "{weir}:applied", "a", `1 ${++beats}`);
    await beat();
    const endBeats = again(beat, 100);
    try {
      await expect(begin(one, "a")).rejects.toThrow("a process runs as cell a");
    } finally {
      endBeats();
    }
    expect(await begin(one, "a")).toBe("a");
  });
});
