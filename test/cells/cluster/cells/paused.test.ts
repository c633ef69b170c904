/** A cell whose process stands still until it is retired, its credit spent elsewhere, and that then goes on. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RETIRE_SILENCE_MS, retire } from "../../../../src/cluster/cells/membership/registry.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/cells/fault-proxy.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import {
  type CreditCell,
  charge,
  creditOf,
  HeardLedger,
  holdOf,
  openCreditCell,
  post,
} from "./credit/credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";

const missing = missingRedis();
const PROGRAM = new URL("./paused-process.ts", import.meta.url).pathname;
const PAID = 10_000;

/** A cell that does what it is told. */
class PausedCell {
  readonly child: ChildProcess;
  /** What it says without being asked. */
  readonly said: string[] = [];
  readonly #answers: string[] = [];

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      (/^(?:uncharged|ended) /.test(line) ? this.said : this.#answers).push(line);
    });
  }

  tell(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  async answer(): Promise<string> {
    await until(
      "the cell answers",
      () => this.#answers.length,
      (seen) => seen > 0,
    );
    return this.#answers.shift() as string;
  }

  async ask(line: string): Promise<string> {
    this.tell(line);
    return await this.answer();
  }

  /** Resolves once it stands still. */
  async stop(): Promise<void> {
    this.child.kill("SIGSTOP");
    const stat = () => readFileSync(`/proc/${this.child.pid}/stat`, "utf8");
    await until("the process is stopped", stat, (seen) => /^\d+ \(.*\) T /.test(seen));
  }

  goOn(): void {
    this.child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await ended;
  }
}

describe.skipIf(missing !== undefined || process.platform !== "linux")(
  `a cell that stands still${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: Bench;
    let proxy: FaultProxy;
    let other: CreditCell;
    const cells: PausedCell[] = [];
    let ledger: HeardLedger;
    beforeEach(async () => {
      ledger = new HeardLedger();
      bench = await openBench();
      proxy = await startFaultProxy(bench.redis.url);
      other = await openCreditCell(bench, "other", ledger);
    });
    afterEach(async () => {
      for (const cell of cells.splice(0)) await cell.kill();
      await other.stop();
      await bench.close();
      await proxy.close();
    });

    const start = async () => {
      const cell = new PausedCell([join(bench.folder, "paused"), "paused", bench.id, proxy.url]);
      cells.push(cell);
      expect(await cell.answer()).toBe("ready");
      return cell;
    };

    /** The time passes that retirement asks for, at the cell and in Redis. */
    async function silence(): Promise<void> {
      writeFileSync(join(bench.folder, "paused.ahead"), String(RETIRE_SILENCE_MS));
      const said = String(await bench.link.call("HGET", "{weir}:applied", "paused"));
      const [version, atMs] = said.split(" ").map(Number) as [number, number];
      await bench.link.call("HSET", "{weir}:applied", "paused", `${version} ${atMs - RETIRE_SILENCE_MS}`);
    }

    test("grants nothing once it was retired, what it had not sent is charged to nobody, and the cap holds", async () => {
      await post(other, "org", PAID);
      const cell = await start();
      for (const microUsd of [3000, 3000, 4000]) expect(await cell.ask(`hold ${microUsd}`)).toBe("held");
      await until(
        "all is leased to the cell",
        async () => (await creditOf(bench, "org"))["h:paused"],
        equals(PAID),
      );
      proxy.pause();
      const sent = await cell.ask("charge 3000");
      await cell.stop();
      expect(await retire(bench.link, bench.id, "paused")).toBe("alive");
      await silence();
      // Its process began a moment ago; else that is what would be waited for.
      expect(await retire(bench.link, bench.id, "paused", 0)).toBe(true);
      await charge(other, await holdOf(other, "org", PAID), PAID);

      // It goes on, and does not know: first what it was asked meanwhile, before it hears Redis.
      for (const line of ["charge 3000", "release", "hold 4000"]) cell.tell(line);
      cell.goOn();
      const late = await cell.answer();
      expect(late).toMatch(/^charged /);
      expect(await cell.answer()).toBe("released");
      expect(await cell.answer()).toMatch(/^refused /);
      expect(cell.said).toEqual([]);
      proxy.resume();
      await until(
        "the cell is fenced off",
        () => cell.said.join(),
        (seen) => /^ended WEIRFENCED/.test(seen),
      );
      expect(await cell.ask("hold 1")).toMatch(/^refused /);
      await cell.kill();

      const again = await start();
      const unsent = [sent, late].map((line) => line.replace("charged", "uncharged"));
      await until("the charges that were not sent are said", () => again.said, equals(unsent));
      expect(await again.ask("hold 1")).toBe("no credit");
      await until(
        "one charge is in the ledger",
        () => ledger.of("org").map((row) => row.amountMicroUsd),
        equals([PAID]),
      );
      expect(await creditOf(bench, "org")).toMatchObject({ b: 0, n: 2 });
    });
  },
);
