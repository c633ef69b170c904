/** Charges over cells are made once, and leases come back, whatever was lost: replies, processes, Redis, folders. */
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../../../../../src/base/clock.ts";
import { noteRestored } from "../../../../../src/cluster/cells/dataset/dataset.ts";
import { Charges } from "../../../../../src/cluster/cells/leases/charges.ts";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import type { Hold } from "../../../../../src/credits/ledger/purse.ts";
import { amount } from "../../../../support/effort.ts";
import { anyMoment, rest } from "../../../../support/pace.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import type { Bench } from "../fixtures.ts";
import {
  type CreditBench,
  type CreditCell,
  charge,
  holdOf,
  openCreditBench,
  post,
} from "./credit-fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(
  `charges of cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: CreditBench;
    let other: CreditCell;
    const open = (name: string) => bench.open(name);
    beforeAll(async () => {
      bench = await openCreditBench({ idleMs: 200, waitMs: 500 });
      other = await open("other");
    });
    afterAll(async () => {
      await other.purse.close();
      await bench.close();
    });

    test("rows that Redis has without the cell knowing are found with their numbers", async () => {
      await post(other, "org_lost", 10_000);
      const cell = await bench.cell("lost");
      const ports = { onNumbered() {}, onUncharged() {} };
      const charges = new Charges(cell.store, cell.entered.life, ports);
      for (const n of [1, 2, 3]) {
        const row = { orgId: "org_lost", requestId: `req_lost_${n}`, atMs: n, amountMicroUsd: 100 * n };
        await cell.store.act(() => charges.add(row));
      }
      // The first two reach Redis; the process ends before it stores the answer.
      const sent = ["org_lost", 2, 300, 300, 300, -1];
      await cell.lane("credit").send([["credit", 0, 2, "req_lost_2", sent]]);
      await cell.stop();
      const again = await open("lost");
      await bench.settled("org_lost");
      expect(
        bench.ledger.of("org_lost").map(({ requestId, balanceMicroUsd }) => [requestId, balanceMicroUsd]),
      ).toEqual([
        ["req_lost_1", 9900],
        ["req_lost_2", 9700],
        ["req_lost_3", 9400],
      ]);
      await again.stop();
    });

    test("what a process had leased when it died is given back by the next one", async () => {
      await post(other, "org_died", 10_000);
      const cell = await bench.cell("died");
      await cell.lane("credit").send([["credit", 0, 0, "", ["org_died", 0, 0, 6000, 9000, -1]]]);
      expect(await bench.creditOf("org_died")).toMatchObject({ l: 9000, h: 6000 });
      await cell.stop();
      expect(await other.purse.hold("org_died", 5000)).toBeUndefined();
      const again = await open("died");
      const hold = await holdOf(other, "org_died", 10_000);
      other.purse.release(hold);
      await again.stop();
    });

    test("a folder that is behind what Redis knows is refused, and so is a clone that went another way", async () => {
      await post(other, "org_copy", 10_000);
      const folder = join(bench.folder, "copied");
      const spend = async () => {
        const cell = await open("copied");
        await charge(cell, await holdOf(cell, "org_copy", 10), 10);
        await cell.stop();
      };
      await spend();
      cpSync(folder, `${folder}.old`, { recursive: true });
      await spend();
      renameSync(folder, `${folder}.new`);
      renameSync(`${folder}.old`, folder);
      await expect(open("copied")).rejects.toThrow(/copy of an older state/);
      await closeCells(bench, "copied");
      // It goes another way: a row of the same number, which Redis never heard of.
      const cell = await bench.cell("copied");
      const charges = new Charges(cell.store, cell.entered.life, { onNumbered() {}, onUncharged() {} });
      const row = { orgId: "org_copy", requestId: "req_elsewhere", atMs: 1, amountMicroUsd: 10 };
      await cell.store.act(() => charges.add(row));
      await cell.stop();
      await expect(open("copied")).rejects.toThrow(/copy of an older state/);
      await closeCells(bench, "copied");
      rmSync(folder, { recursive: true });
      renameSync(`${folder}.new`, folder);
      await spend();
      await bench.settled("org_copy");
      expect(bench.ledger.of("org_copy")).toHaveLength(3);
    });

    test("after a restore a folder that is behind is taken once: what Redis has stays charged, and charges go on", async () => {
      await post(other, "org_back", 10_000);
      const folder = join(bench.folder, "back");
      const spend = async () => {
        const cell = await open("back");
        await charge(cell, await holdOf(cell, "org_back", 10), 10);
        await cell.stop();
      };
      await spend();
      cpSync(folder, `${folder}.old`, { recursive: true });
      for (let n = 0; n < 2; n++) await spend();
      await bench.settled("org_back");
      const restore = () => {
        rmSync(folder, { recursive: true });
        cpSync(`${folder}.old`, folder, { recursive: true });
      };
      restore();
      await noteRestored(bench.link, bench.id);
      for (let n = 0; n < 2; n++) await spend();
      await bench.settled("org_back");
      expect(bench.ledger.of("org_back").map(({ balanceMicroUsd }) => balanceMicroUsd)).toEqual([
        9990, 9980, 9970, 9960, 9950,
      ]);
      restore();
      await expect(open("back")).rejects.toThrow(/copy of an older state/);
      await closeCells(bench, "back");
      expect(await bench.creditOf("org_back")).toMatchObject({ n: 6, b: 9950 });
      await bench.link.call("DEL", "{weir}:restored");
    });

    test("after a restore rows that the copied process charged later are neither charged again nor said to be uncharged", async () => {
      await post(other, "org_sent", 10_000);
      const cell = await bench.cell("sent");
      const ports = { onNumbered() {}, onUncharged() {} };
      const charges = new Charges(cell.store, cell.entered.life, ports);
      for (const n of [1, 2, 3, 4]) {
        const row = { orgId: "org_sent", requestId: `req_sent_${n}`, atMs: n, amountMicroUsd: 100 };
        await cell.store.act(() => charges.add(row));
      }
      // The folder was copied here; two batches followed, the last row is still to be sent.
      const of = (count: number) => ["org_sent", count, 100 * count, 0, 0, -1];
      await cell.lane("credit").send([["credit", 0, 1, "req_sent_1", of(1)]]);
      await cell.lane("credit").send([["credit", 1, 3, "req_sent_3", of(2)]]);
      await cell.stop();
      await noteRestored(bench.link, bench.id);
      const uncharged = bench.ledger.uncharged.length;
      const again = await open("sent");
      await until(
        "the charge that was sent is in the ledger",
        () => bench.ledger.of("org_sent").map(({ requestId }) => requestId),
        equals(["req_sent_4"]),
      );
      expect(await bench.creditOf("org_sent")).toMatchObject({ n: 5, b: 9600 });
      expect(bench.ledger.uncharged).toHaveLength(uncharged);
      await again.stop();
      await bench.link.call("DEL", "{weir}:restored");
    });

    test("a retired cell's leases come back, and what it had not sent is charged to nobody", async () => {
      await post(other, "org_retired", 10_000);
      const cell = await open("retired");
      const kept = await holdOf(cell, "org_retired", 6000);
      expect(await retire(bench.link, bench.id, "retired", 0)).toBe(true);
      other.purse.release(await holdOf(other, "org_retired", 10_000));
      // It goes on without knowing.
      const requestId = await charge(cell, kept, 6000);
      await until(
        "the cell is fenced off",
        () => cell.ended()?.message,
        (seen) => seen?.includes("WEIRFENCED"),
      );
      await expect(cell.purse.hold("org_retired", 1)).rejects.toMatchObject({ kind: "storage_unavailable" });
      await cell.purse.close().catch(() => {});
      await closeCells(bench, "retired");
      const again = await open("retired");
      await until(
        "the charge that was not sent is known",
        () => bench.ledger.uncharged.map((row) => row.requestId),
        equals([requestId]),
      );
      await charge(again, await holdOf(again, "org_retired", 100), 100);
      await bench.settled("org_retired");
      expect(bench.ledger.of("org_retired").map(({ balanceMicroUsd }) => balanceMicroUsd)).toEqual([9900]);
      await again.stop();
    });

    describe("a call that a former process left unfinished", () => {
      let calls = 0;
      const former = (cell: CreditCell, org: string, amountMicroUsd: number, life: string) => {
        const requestId = `req_former_${++calls}`;
        const act = () => void cell.purse.chargeFormer(org, { requestId, amountMicroUsd, atMs: calls }, life);
        return { requestId, act };
      };
      const unchargedOf = (org: string) => bench.ledger.uncharged.filter(({ orgId }) => orgId === org);

      test("is charged by the next one, below zero too, and leaves nothing leased", async () => {
        await post(other, "org_former", 1000);
        const first = await open("former");
        const { life } = first.purse;
        await first.stop();
        const next = await open("former");
        expect(next.purse.isRetired(life)).toBe(false);
        const { requestId, act } = former(next, "org_former", 1200, life);
        await expect(
          next.store.act(() => {
            act();
            throw new Error("dropped");
          }),
        ).rejects.toThrow("dropped");
        await next.store.act(act, { isOwed: true });
        await next.store.act(former(next, "org_former", 0, life).act, { isOwed: true });
        // A folder that was alone when it was killed.
        await next.store.act(former(next, "org_former", 50, "").act, { isOwed: true });
        await until("all is charged", () => next.purse.passed(1000));
        await bench.settled("org_former");
        expect(
          bench.ledger.of("org_former").map(({ balanceMicroUsd, requestId }) => [balanceMicroUsd, requestId]),
        ).toEqual([
          [-200, requestId],
          [-250, `req_former_${calls}`],
        ]);
        expect(unchargedOf("org_former")).toEqual([]);
        await next.stop();
      });

      test("of a life that was retired is charged to nobody, among calls that are charged", async () => {
        await post(other, "org_nobody", 10_000);
        const first = await open("nobody");
        const { life } = first.purse;
        await first.stop();
        expect(await retire(bench.link, bench.id, "nobody", 0)).toBe(true);
        const next = await open("nobody");
        expect([life, "", next.purse.life].map((each) => next.purse.isRetired(each))).toEqual([
          true,
          true,
          false,
        ]);
        const left = [former(next, "org_nobody", 700, life), former(next, "org_nobody", 800, life)];
        const hold = await holdOf(next, "org_nobody", 100);
        await next.store.act(left[0]?.act as () => void, { isOwed: true });
        await charge(next, hold, 100);
        await next.store.act(left[1]?.act as () => void, { isOwed: true });
        await bench.settled("org_nobody");
        await until("it is told", () => unchargedOf("org_nobody").length, equals(2));
        expect(unchargedOf("org_nobody")).toMatchObject(
          left.map(({ requestId }, at) => ({ requestId, amountMicroUsd: 700 + 100 * at })),
        );
        expect(bench.ledger.of("org_nobody").map(({ balanceMicroUsd }) => balanceMicroUsd)).toEqual([9900]);
        await next.stop();
      });

      test("stays charged to nobody if the process that found it is killed before Redis hears of it", async () => {
        await post(other, "org_twice", 10_000);
        const first = await open("twice");
        await first.stop();
        expect(await retire(bench.link, bench.id, "twice", 0)).toBe(true);
        // It writes its row, and an ordinary one, and is gone; the first of its batches reached Redis.
        const cell = await bench.cell("twice");
        const charges = new Charges(cell.store, cell.entered.life, { onNumbered() {}, onUncharged() {} });
        const row = (n: number) => ({
          orgId: "org_twice",
          requestId: `req_twice_${n}`,
          atMs: n,
          amountMicroUsd: 100 * n,
        });
        for (const n of [1, 2, 3, 4])
          await cell.store.act(() => (n % 2 === 1 ? charges.addUncharged(row(n)) : charges.add(row(n))));
        await cell
          .lane("credit")
          .send([["credit", 0, 2, "req_twice_2", ["org_twice", 1, 200, 200, 200, -1]]]);
        await cell.stop();
        const again = await open("twice");
        await bench.settled("org_twice");
        expect(bench.ledger.of("org_twice").map(({ balanceMicroUsd }) => balanceMicroUsd)).toEqual([
          9800, 9400,
        ]);
        await until("it is told", () => unchargedOf("org_twice").length, equals(2));
        expect(unchargedOf("org_twice").map(({ amountMicroUsd }) => amountMicroUsd)).toEqual([100, 300]);
        await again.stop();
      });
    });

    test("in a new term no lease grows until every cell has restated or is retired", async () => {
      await post(other, "org_term", 1_000_000);
      const silent = await bench.cell("silent");
      await silent.lane("credit").send([["credit", 0, 0, "", ["org_term", 0, 0, 100, 100, -1]]]);
      await silent.stop();
      const hold = await holdOf(other, "org_term", 1000);
      await bench.redis.kill();
      await bench.redis.start();
      await expect(other.purse.hold("org_term", 500_000)).rejects.toMatchObject({ status: 503 });
      // The link may not have heard yet that the connection it had is gone.
      const answers = () => bench.link.call("PING").then(String, () => "");
      await until("Redis answers", answers, equals("PONG"));
      for (const name of [
        "lost",
        "died",
        "copied",
        "back",
        "sent",
        "retired",
        "silent",
        "former",
        "nobody",
        "twice",
      ])
        expect(await retire(bench.link, bench.id, name, 0)).not.toBe("alive");
      await until("no cell is waited for", () => bench.link.call("SCARD", "{weir}:restating"), equals(0));
      // On a busy machine the exchange that was under way may take its time yet.
      let later: Hold | undefined;
      const granted = async () => {
        later = await Promise.resolve(other.purse.hold("org_term", 500_000)).catch(() => undefined);
        return later !== undefined;
      };
      await until("credit is granted", granted);
      other.purse.release(later as unknown as Hold);
      other.purse.release(hold);
      await bench.settled("org_term");
    });

    test("each charge is made once while connections are cut and Redis is killed", async () => {
      const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
      const random = seededRandom(seed);
      const cells = [other, ...(await Promise.all(["p", "q"].map(open)))];
      const orgs = Array.from({ length: amount(20, 5) }, (_, n) => `org_storm_${n}`);
      const PAID = 300_000;
      for (const org of orgs) await post(other, org, PAID);
      const clients = new Map<string, number>();
      let isOver = false;
      const calling = cells.flatMap((cell) =>
        Array.from({ length: 10 }, async () => {
          while (!isOver) {
            const org = orgs[Math.floor(random() * orgs.length)] as string;
            const most = 1 + Math.floor(random() * 2000);
            const hold = await Promise.resolve(cell.purse.hold(org, most)).catch(() => undefined);
            await rest(random() * 5);
            if (hold === undefined) continue;
            const more =
              random() < 0.2 && (await Promise.resolve(cell.purse.extend(hold, 100)).catch(() => false));
            if (random() < 0.2) cell.purse.release(hold);
            else {
              const cost = 1 + Math.floor(random() * (most + (more ? 100 : 0)));
              clients.set(await charge(cell, hold, cost), cost);
            }
          }
        }),
      );
      for (let fault = 0; fault < amount(200, 12); fault++) {
        await anyMoment(random, 150);
        if (fault % 6 === 5) {
          await bench.redis.kill();
          await bench.redis.start();
        } else cells[Math.floor(random() * cells.length)]?.cut();
      }
      isOver = true;
      await Promise.all(calling);
      await bench.link.ready(5000);
      for (const org of orgs) {
        await bench.settled(org);
        expect((await bench.creditOf(org)).b, `seed ${seed}`).toBeGreaterThanOrEqual(0);
      }
      for (const [request] of clients)
        expect(bench.ledger.requests.get(request), `seed ${seed}: ${request}`).toBe(1);
      const rows = orgs.flatMap((org) => bench.ledger.of(org));
      expect(rows).toHaveLength(clients.size);
      for (const row of rows) expect(row.amountMicroUsd).toBe(clients.get(row.requestId));
      expect(cells.map(({ purse }) => purse.open())).toEqual(
        cells.map(() => ({ holds: 0, heldMicroUsd: 0 })),
      );
      if (process.env.WEIR_THOROUGH !== undefined) console.log(`${clients.size} charges, seed ${seed}`);
      for (const cell of cells.slice(1)) await cell.stop();
    });
  },
);

/** Ends what a refused start left open. */
async function closeCells(bench: Bench, name: string): Promise<void> {
  for (const cell of bench.opened()) if (cell.name === name) await cell.stop();
}
