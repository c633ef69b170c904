/** Cells in processes of their own, killed and paused at any moment, with a Redis that is killed too: budgets hold, and count each charge. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/clock.ts";
import { amount } from "../../support/effort.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { ENOUGH, spendRow } from "./budgets-fixtures.ts";
import { creditOf } from "./credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";

const missing = missingRedis();
const PROGRAM = new URL("./budgets-process.ts", import.meta.url).pathname;
const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"].slice(0, amount(8, 3));
const KEYS = ["k1", "k2", "k3", "k4"];
/** Soon spent: most rounds are about the last of it. */
const KEY_BUDGET = amount(3_000_000, 300_000);
const ORG_BUDGET = KEY_BUDGET;

describe.skipIf(missing !== undefined)(`killed cells${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  const running = new Map<string, ChildProcess>();
  const seed = Number(process.env.WEIR_SEED ?? Math.trunc(performance.now() * 1000));
  const random = seededRandom(seed);
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(async () => {
    for (const child of running.values()) child.kill("SIGKILL");
    await bench.close();
  });

  const start = async (name: string) => {
    const budgets = [KEY_BUDGET, ORG_BUDGET, Math.floor(random() * 1e9)].map(String);
    const args = [join(bench.folder, name), name, bench.id, bench.redis.url, KEYS.join(","), ...budgets];
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    running.set(name, child);
    await new Promise((resolve, reject) => {
      child.stdout?.once("data", resolve);
      child.once("exit", (code) => reject(new Error(`cell ${name} ended with ${code}, seed ${seed}`)));
    });
  };
  const ended = (child: ChildProcess) => new Promise((resolve) => child.once("exit", resolve));
  /** A kill may tear a line, which is told again. */
  const lines = <T>(kind: string): T[] =>
    NAMES.flatMap((name) => {
      const file = join(bench.folder, `${name}.${kind}`);
      const text = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
      return text
        .filter((line) => /^(?:\{[^{}]*\}|"[^"{}]*")$/.test(line))
        .map((line) => JSON.parse(line) as T);
    });

  test("spend no more than a key's budget, and count what clients hold once", async () => {
    await bench.link.call("HSET", "{weir}:credit:org", "n", 0, "b", ENOUGH);
    await Promise.all(NAMES.map(start));
    for (let round = 0; round < amount(200, 6); round++) {
      await new Promise((resolve) => setTimeout(resolve, random() * 250));
      const name = NAMES[Math.floor(random() * NAMES.length)] as string;
      const child = running.get(name) as ChildProcess;
      const kind = random();
      if (kind < 0.2) {
        child.kill("SIGSTOP");
        await new Promise((resolve) => setTimeout(resolve, random() * 300));
        child.kill("SIGCONT");
        continue;
      }
      const isBoth = kind < 0.5;
      const gone = ended(child);
      child.kill("SIGKILL");
      if (isBoth) await bench.redis.kill();
      await gone;
      if (isBoth) await bench.redis.start();
      await start(name);
    }
    for (const child of running.values()) {
      const gone = ended(child);
      child.stdin?.end();
      expect(await gone, `seed ${seed}`).toBe(0);
    }
    await bench.link.ready(5000);
    const charged = new Map<string, number>();
    for (const { requestId, amountMicroUsd } of lines<{ requestId: string; amountMicroUsd: number }>("rows"))
      charged.set(requestId, amountMicroUsd);
    const told = lines<string>("told");
    expect(told.length).toBeGreaterThan(100);
    for (const requestId of told) expect(charged.has(requestId), `seed ${seed}: ${requestId}`).toBe(true);
    let all = 0;
    for (const key of KEYS) {
      let spent = 0;
      for (const [requestId, microUsd] of charged) if (requestId.startsWith(`${key}:`)) spent += microUsd;
      all += spent;
      expect(spent, `seed ${seed}`).toBeLessThanOrEqual(KEY_BUDGET);
      const { m, l = "0", h = "0" } = await spendRow(bench.link, `k:${key}`);
      expect({ m: Number(m), l, h }, `seed ${seed}`).toEqual({ m: spent, l: "0", h: "0" });
    }
    for (const scope of ["p:proj", "o:org"])
      expect(Number((await spendRow(bench.link, scope)).m), `seed ${seed}`).toBe(all);
    expect((await creditOf(bench, "org")).b).toBe(ENOUGH - all);
    // Whichever process made the charge that exceeded it, and whatever became of that process.
    const crossed = new Set(lines<object>("crossed").map((row) => JSON.stringify(row)));
    expect(crossed.size, `seed ${seed}`).toBe(all > ORG_BUDGET ? 1 : 0);
    if (process.env.WEIR_THOROUGH !== undefined) console.log(`${charged.size} charges, seed ${seed}`);
  }, 900_000);
});
