/**
 * Acts of several cells at once equal some serial order: each act tells what it read and wrote, and the stream says the order; a
 * replay in that order must read the same.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listenToRedis, type RedisListener } from "../../../src/cells/redis.ts";
import { seededRandom } from "../../../src/clock.ts";
import { amount } from "../../support/effort.ts";
import { anyMoment, keepBusy } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { equals, until } from "../../support/wait.ts";
import { type Bench, openBench } from "./fixtures.ts";
import { randomAct, replay, SUM, sumAt } from "./serial-acts.ts";

const missing = missingRedis();
const PROGRAM = new URL("./serial-process.ts", import.meta.url).pathname;
const CELLS = [..."abcdefgh"];
/** Of other cells' acts, that a long act must find its place among. */
const PROMISED_A_SECOND = 1000;
/** As the committer has it. */
const REFUSALS_BEFORE_TICKET = 3;
const OTHERS = 2;
/** Each 10 ms, at each of them: twice what is promised, for a busy machine does less. */
const ACTS_A_TICK = Math.ceil((PROMISED_A_SECOND / 100 / OTHERS) * 2);
const LONG_ACT_MS = 30;

describe.skipIf(missing !== undefined)(`serial order${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let seed: number;
  const running = new Map<string, ChildProcess>();
  beforeEach(async () => {
    seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
    bench = await openBench();
  });
  afterEach(async () => {
    for (const child of running.values()) child.kill("SIGKILL");
    running.clear();
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
        await Promise.all([0, 1, 2, 3, 4].map((j) => randomAct(store, random, `${name}${i + j}`)));
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

  const start = async (name: string, what: number | `puts:${number}`) => {
    const args = [join(bench.folder, name), name, bench.id, bench.redis.url, String(what)];
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    running.set(name, child);
    await new Promise((resolve, reject) => {
      child.stdout?.once("data", resolve);
      child.once("exit", (code) => reject(new Error(`cell ${name} ended with ${code}, seed ${seed}`)));
    });
  };
  const endAll = async () => {
    for (const child of running.values()) {
      const gone = once(child, "exit");
      child.stdin?.end();
      expect((await gone)[0], `WEIR_SEED=${seed}`).toBe(0);
    }
    running.clear();
  };
  const lines = (name: string, kind: string) => {
    const file = join(bench.folder, `${name}.${kind}`);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  };

  test("acts of cells that are killed and paused, and of a Redis that is killed, happen once or not at all, and stay once they are answered", async () => {
    const random = seededRandom(seed);
    const names = CELLS.slice(0, amount(8, 3));
    await Promise.all(names.map((name) => start(name, Math.floor(random() * 1e9))));
    for (let round = 0; round < amount(60, 6); round++) {
      await anyMoment(random, 250);
      const name = names[Math.floor(random() * names.length)] as string;
      const child = running.get(name) as ChildProcess;
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
      await start(name, Math.floor(random() * 1e9));
    }
    await endAll();
    await bench.link.ready(5000);
    const marks = await replay(bench, `WEIR_SEED=${seed}`);
    const happened = new Set(marks);
    const told = names.flatMap((name) => lines(name, "told"));
    const refused = names.flatMap((name) => lines(name, "refused"));
    const found = `${told.length} acts were answered, ${marks.length} happened, ${refused.length} were refused`;
    console.log(`${found}: WEIR_SEED=${seed}`);
    expect(happened.size, "an act happened twice").toBe(marks.length);
    expect(told.filter((mark) => !happened.has(mark))).toEqual([]);
    expect(refused.filter((mark) => happened.has(mark))).toEqual([]);
    expect(told.length).toBeGreaterThan(amount(1000, 100));
    // What they were left with, and what a new folder loads.
    for (const name of [...names, "new"]) expect(sumAt((await bench.cell(name)).store), name).toBe(SUM);
  }, 900_000);

  test("an act that takes long and is refused for a thousand others a second takes the ticket and commits within 2 s", async () => {
    const slow = await bench.cell("slow");
    await bench.link.call("CONFIG", "SET", "notify-keyspace-events", "K$");
    let tickets = 0;
    const heard = () => void tickets++;
    const listener = await listening(bench.redis.url, "__keyspace@0__:{weir}:ticket", heard);
    const others = CELLS.slice(0, OTHERS);
    await Promise.all(others.map((name) => start(name, `puts:${ACTS_A_TICK}`)));
    const counts = slow.store.table<number>("counts");
    // They are under way.
    await until("the others are under way", () => [...counts.range()].length, equals(60 * others.length));
    const tookMs: number[] = [];
    const rates: number[] = [];
    const refusals: number[] = [];
    for (let n = 0; n < amount(20, 3); n++) {
      const [version, refused, began] = [slow.version(), slow.counts().actsRefused, performance.now()];
      await slow.store.act(() => {
        keepBusy(LONG_ACT_MS);
        slow.store.table("sums").put("sum", [...counts.range()].length);
      });
      const ms = performance.now() - began;
      tookMs.push(ms);
      rates.push(Math.round((1000 * (slow.version() - version - 1)) / ms));
      refusals.push(slow.counts().actsRefused - refused);
    }
    await endAll();
    listener.close();
    const times = tookMs.map((ms) => ms.toFixed(0)).join(", ");
    console.log(`long acts took ${times} ms beside ${rates.join(", ")} others a second, ${tickets} tickets`);
    expect(Math.max(...tookMs)).toBeLessThan(2000);
    // On a busy machine the others stand still for a moment, in which one is lucky.
    expect(quantile(refusals, 0.5)).toBeGreaterThanOrEqual(REFUSALS_BEFORE_TICKET);
    expect(tickets).toBeGreaterThan(tookMs.length / 2);
    expect(quantile(rates, 0.75)).toBeGreaterThan(amount(PROMISED_A_SECOND, PROMISED_A_SECOND / 4));
  });
});

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] as number;

async function listening(url: string, channel: string, heard: () => void) {
  let listener: RedisListener | undefined;
  await new Promise<void>((onListening) => {
    listener = listenToRedis({ url, channels: [channel], heard, onListening });
  });
  return listener as RedisListener;
}
