/**
 * Acts of several cells at once equal some serial order: each act tells what it read and wrote, and the stream says the order; a
 * replay in that order must read the same.
 */
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../../../src/base/clock.ts";
import { amount } from "../../../../support/effort.ts";
import { anyMoment } from "../../../../support/pace.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { randomAct, replay, SUM, sumAt } from "./serial-acts.ts";
import { SerialProcesses } from "./serial-rig.ts";

const missing = missingRedis();
const CELLS = [..."abcdefgh"];
/** Others are refused after five seconds, which a late machine may take. */
const OWED = { isOwed: true };

describe.skipIf(missing !== undefined)(`serial order${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let seed: number;
  let processes: SerialProcesses;
  beforeEach(async () => {
    seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
    bench = await openBench();
    processes = new SerialProcesses(bench, seed);
  });
  afterEach(async () => {
    processes.kill();
    await bench.close();
  });

  test.each([
    ["", false],
    [" while Redis is killed", true],
  ])("acts of 8 cells%s equal a serial order", async (_, isKilled) => {
    const all = amount(1000, 400);
    const cells = await Promise.all(CELLS.map((name) => bench.cell(name)));
    const acting = cells.map(async ({ store, name }, at) => {
      const random = seededRandom(seed + at);
      for (let i = 0; i < all / cells.length; i += 5)
        await Promise.all([0, 1, 2, 3, 4].map((j) => randomAct(store, random, `${name}${i + j}`, OWED)));
    });
    if (isKilled) {
      await bench.redis.kill();
      await bench.redis.start();
    }
    await Promise.all(acting);
    const marks = await replay(bench, `WEIR_SEED=${seed}`);
    expect([marks.length, new Set(marks).size]).toEqual([all, all]);
    for (const { store } of cells) expect(sumAt(store)).toBe(SUM);
  });

  test("acts of cells that are killed and paused, and of a Redis that is killed, happen once or not at all, and stay once they are answered", async () => {
    const random = seededRandom(seed);
    const names = CELLS.slice(0, amount(8, 3));
    await Promise.all(names.map((name) => processes.start(name, Math.floor(random() * 1e9))));
    for (let round = 0; round < amount(60, 6); round++) {
      await anyMoment(random, 250);
      const name = names[Math.floor(random() * names.length)] as string;
      const child = processes.of(name);
      if (round % 6 === 5) {
        child.kill("SIGSTOP");
        await anyMoment(random, 1000);
        child.kill("SIGCONT");
        continue;
      }
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      if (round % 6 === 2) await bench.redis.kill();
      await gone;
      if (round % 6 === 2) await bench.redis.start();
      await processes.start(name, Math.floor(random() * 1e9));
    }
    const answered = () => names.flatMap((name) => processes.lines(name, "told")).length;
    await until("enough acts are answered", answered, (count) => count > amount(1000, 100));
    await processes.endAll();
    await bench.link.ready(5000);
    const marks = await replay(bench, `WEIR_SEED=${seed}`);
    const happened = new Set(marks);
    const told = names.flatMap((name) => processes.lines(name, "told"));
    const refused = names.flatMap((name) => processes.lines(name, "refused"));
    const found = `${told.length} acts were answered, ${marks.length} happened, ${refused.length} were refused`;
    console.log(`${found}: WEIR_SEED=${seed}`);
    expect(happened.size, "an act happened twice").toBe(marks.length);
    expect(told.filter((mark) => !happened.has(mark))).toEqual([]);
    expect(refused.filter((mark) => happened.has(mark))).toEqual([]);
    expect(told.length).toBeGreaterThan(amount(1000, 100));
    // What they were left with, and what a new folder loads.
    for (const name of [...names, "new"]) expect(sumAt((await bench.cell(name)).store), name).toBe(SUM);
  }, 900_000);
});
