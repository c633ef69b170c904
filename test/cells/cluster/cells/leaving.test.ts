/** After a restart of Redis nobody waits for a cell that left with nothing; one that was killed is waited for, whenever that was. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import { type CreditCell, HeardLedger, holdOf, openCreditCell, post } from "./credit/credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";

const missing = missingRedis();
const PROGRAM = new URL("./credit/credit-process.ts", import.meta.url).pathname;
const ORG = "org_called";

describe.skipIf(missing !== undefined)(
  `cells that stop${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: Bench;
    let other: CreditCell;
    const ledger = new HeardLedger();
    const running = new Set<ChildProcess>();
    const open = (name: string) => openCreditCell(bench, name, ledger, { idleMs: 200, waitMs: 500 });
    beforeAll(async () => {
      bench = await openBench();
      other = await open("other");
      await post(other, "org", 1_000_000_000);
      await post(other, ORG, 1_000_000_000);
    });
    afterAll(async () => {
      for (const child of running) child.kill("SIGKILL");
      await other.purse.close();
      await bench.close();
    });

    const restartRedis = async () => {
      await bench.redis.kill();
      await bench.redis.start();
      await other.caughtUp();
      await bench.link.ready(5000);
    };
    const waitedFor = async () => {
      await restartRedis();
      return ((await bench.link.call("SMEMBERS", "{weir}:restating")) as Buffer[]).map(String);
    };
    const start = async (name: string, killAt = "") => {
      const args = [join(bench.folder, name), name, bench.id, bench.redis.url, ORG, "1"];
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, WEIR_KILL_AT: killAt },
      });
      running.add(child);
      const ended = new Promise<void>((resolve) => {
        child.once("exit", () => {
          running.delete(child);
          resolve();
        });
      });
      await Promise.race([new Promise((resolve) => child.stdout?.once("data", resolve)), ended]);
      return { child, ended };
    };
    /** A process that spent some credit, and then stopped, or was killed. */
    const run = async (name: string, killAt = "") => {
      const { child, ended } = await start(name, killAt);
      const leased = async () => await bench.link.call("EXISTS", `{weir}:leases:${name}`);
      await until("the budget is leased", leased, equals(1));
      if (killAt === "calling") child.kill("SIGKILL");
      else child.stdin?.end();
      await ended;
    };

    test("are not waited for where they left with nothing, and calls go on", async () => {
      const cell = await open("gone");
      expect(cell.purse.leased()).toEqual({ orgs: 0, microUsd: 0 });
      const hold = await holdOf(cell, "org", 1000);
      expect(cell.purse.leased()).toEqual({ orgs: 1, microUsd: 1000 });
      cell.purse.release(hold);
      await cell.stop();
      expect(await waitedFor()).toEqual([]);
      other.purse.release(await holdOf(other, "org", 500_000));
    });

    test("are waited for where something is held, and until they started again and said what they know", async () => {
      const cell = await bench.cell("holding");
      await cell.lane("credit").send([["credit", 0, 0, "", ["org", 0, 0, 100, 100, -1]]]);
      await cell.stop();
      expect(await waitedFor()).toEqual(["holding"]);
      await (await open("holding")).stop();
      expect(await waitedFor()).toEqual([]);
    });

    test("are waited for where their start was refused before it was known what the folder holds", async () => {
      await (await bench.cell("refused", { hasParts: true })).stop();
      expect(await waitedFor()).toEqual(["refused"]);
      await (await open("refused")).stop();
      expect(await waitedFor()).toEqual([]);
    });

    for (const [killAt, isWaitedFor] of [
      ["calling", true],
      ["returned", true],
      ["left", false],
      ["", false],
    ] as const)
      test(`killed when ${killAt || "over"}: ${isWaitedFor ? "" : "not "}waited for`, async () => {
        const name = `killed-${killAt}`;
        await run(name, killAt);
        expect(await waitedFor()).toEqual(isWaitedFor ? [name] : []);
        const refused = { status: 503 };
        if (isWaitedFor) await expect(other.purse.hold("org", 400_000)).rejects.toMatchObject(refused);
        else other.purse.release(await holdOf(other, "org", 400_000));
        // A start makes it a member again, that is waited for while it runs and after a kill.
        await run(name, "calling");
        expect(await waitedFor()).toEqual([name]);
        await run(name);
        expect(await waitedFor()).toEqual([]);
      });
  },
);
