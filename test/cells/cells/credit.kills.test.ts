/** Cells in processes of their own, killed and paused at any moment, with a Redis that is killed too: no charge is lost or made twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NumberedCharge } from "../../../src/cells/credit/charges.ts";
import { seededRandom } from "../../../src/clock.ts";
import { amount } from "../../support/effort.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { creditOf, HeardLedger } from "./credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";

const missing = missingRedis();
const PROGRAM = new URL("./credit-process.ts", import.meta.url).pathname;
const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"].slice(0, amount(8, 3));
const ORGS = ["org_1", "org_2", "org_3", "org_4"];
/** Soon spent: most rounds are about the last of it. */
const PAID = amount(3_000_000, 400_000);

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
    const args = [join(bench.folder, name), name, bench.id, bench.redis.url, ORGS.join(",")];
    const child = spawn(process.execPath, [PROGRAM, ...args, String(Math.floor(random() * 1e9))], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    running.set(name, child);
    await new Promise((resolve, reject) => {
      child.stdout?.once("data", resolve);
      child.once("exit", (code) => reject(new Error(`cell ${name} ended with ${code}, seed ${seed}`)));
    });
  };
  const ended = (child: ChildProcess) => new Promise((resolve) => child.once("exit", resolve));
  const lines = (name: string, kind: string) => {
    const file = join(bench.folder, `${name}.${kind}`);
    // The last line may be torn by a kill.
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  };

  test("charge what clients hold, once, and never more than was paid", async () => {
    // Balances are there before the first cell.
    for (const org of ORGS) await bench.link.call("HSET", `{weir}:credit:${org}`, "n", 0, "b", PAID);
    await Promise.all(NAMES.map(start));
    for (let round = 0; round < amount(200, 5); round++) {
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
    const ledger = new HeardLedger();
    for (const name of NAMES)
      ledger.hear(
        lines(name, "rows")
          .filter(isWhole)
          .map((line) => JSON.parse(line) as NumberedCharge),
      );
    for (const org of ORGS) {
      const { b = 0, n, l, h, ...rest } = await creditOf(bench, org);
      expect({ l, h, rest }, `seed ${seed}`).toEqual({ l: 0, h: 0, rest: {} });
      expect(b, `seed ${seed}`).toBeGreaterThanOrEqual(0);
      const rows = ledger.of(org);
      expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: Number(n) }, (_, at) => at + 1));
      let balance = PAID;
      for (const row of rows) {
        balance -= row.amountMicroUsd;
        expect(row.balanceMicroUsd).toBe(balance);
      }
      expect(b).toBe(balance);
    }
    const told = NAMES.flatMap((name) => lines(name, "told"));
    expect(told.length).toBeGreaterThan(100);
    for (const request of told) expect(ledger.requests.get(request), `seed ${seed}: ${request}`).toBe(1);
    expect([...ledger.requests.values()].every((times) => times === 1)).toBe(true);
    if (process.env.WEIR_THOROUGH !== undefined) console.log(`${told.length} charges, seed ${seed}`);
  }, 900_000);
});

/** A kill may tear a line, to which the next process appends; its rows are told of again. */
const isWhole = (line: string): boolean => /^\{[^{}]*\}$/.test(line);
