/** An org's credit over eight cells: leases, recalls and postings. That no more than it is spent: cap.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Hold } from "../../../../../src/credits/ledger/purse.ts";
import { amount } from "../../../../support/effort.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { CELLS } from "../cap-rig.ts";
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
  `credit over cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: CreditBench;
    let cells: CreditCell[];
    beforeAll(async () => {
      bench = await openCreditBench({ idleMs: 200, waitMs: 5000 });
      cells = await Promise.all(CELLS.map((name) => bench.open(name)));
    });
    afterAll(async () => {
      for (const cell of cells) await cell.purse.close();
      await bench.close();
    });
    const at = (index: number) => cells[index] as CreditCell;

    test("the last of a balance, idle at several cells, is found for a call that needs all of it", async () => {
      await post(at(0), "org_split", 8000);
      // Each cell uses a part and keeps the lease.
      for (const cell of cells) cell.purse.release(await holdOf(cell, "org_split", 1000));
      const hold = await at(3).purse.hold("org_split", 8000);
      expect(hold?.amountMicroUsd).toBe(8000);
      expect(await at(4).purse.hold("org_split", 1)).toBeUndefined();
      await charge(at(3), hold as Hold, 8000);
      await bench.settled("org_split");
    });

    test("two calls that each need more than half are not both kept waiting", async () => {
      await post(at(0), "org_halves", 10_000);
      for (const cell of [at(0), at(1)]) {
        const holds = await Promise.all([
          cell.purse.hold("org_halves", 2500),
          cell.purse.hold("org_halves", 2500),
        ]);
        for (const hold of holds) cell.purse.release(hold as Hold);
      }
      const holds = await Promise.all([at(0), at(1)].map((cell) => cell.purse.hold("org_halves", 6000)));
      const taken = holds.flatMap((hold, index) => (hold === undefined ? [] : [{ hold, cell: at(index) }]));
      expect(taken).toHaveLength(1);
      for (const { hold, cell } of taken) cell.purse.release(hold);
      await bench.settled("org_halves");
    });

    test("200 calls of an org that wait at a cell share one exchange", async () => {
      await post(at(0), "org_many", 1_000_000);
      const before = await exchanges(bench);
      const waiting = Array.from({ length: 200 }, () => at(2).purse.hold("org_many", 1000));
      const holds = await Promise.all(waiting);
      expect((await exchanges(bench)) - before).toBeLessThan(30);
      for (const hold of holds) at(2).purse.release(hold as Hold);
      // Now leased: without a reply from Redis.
      await bench.settled("org_many");
    });

    test("while a lease lasts, holds, extensions and settles need no reply", async () => {
      await post(at(0), "org_busy", 100_000_000);
      for (let call = 0; call < 40; call++) await charge(at(0), await holdOf(at(0), "org_busy", 1000), 900);
      await until(
        "credit is held without asking Redis",
        () => at(0).purse.hold("org_busy", 1000) instanceof Promise,
        equals(false),
      );
      bench.redis.pause();
      try {
        const hold = at(0).purse.hold("org_busy", 1000);
        expect(hold).not.toBeInstanceOf(Promise);
        expect(at(0).purse.extend(hold as Hold, 500)).toBe(true);
        await charge(at(0), hold as Hold, 1500);
      } finally {
        bench.redis.resume();
      }
      expect(at(0).purse.open().holds).toBeGreaterThan(0);
    });

    test("an upstream that reports more than was held takes the balance below zero, and the next call is refused", async () => {
      await post(at(0), "org_over", 5000);
      const hold = await holdOf(at(1), "org_over", 5000);
      await charge(at(1), hold, 7000);
      await bench.settled("org_over");
      expect((await bench.creditOf("org_over")).b).toBe(-2000);
      expect(await at(2).purse.hold("org_over", 0)).toBeUndefined();
      expect(await at(2).purse.hold("org_over", 1)).toBeUndefined();
      await post(at(0), "org_over", 3000);
      const later = await holdOf(at(2), "org_over", 1000);
      expect(await at(3).purse.hold("org_over", 1)).toBeUndefined();
      at(2).purse.release(later);
    });

    test("a posting that takes credit recalls idle leases, and is refused what calls hold", async () => {
      await post(at(0), "org_recall", 10_000);
      const held = await holdOf(at(1), "org_recall", 4000);
      at(2).purse.release(await holdOf(at(2), "org_recall", 6000));
      const posted = { outcome: "posted", seq: 2, balance: 4000 };
      expect(await post(at(0), "org_recall", -6000)).toEqual(posted);
      await until(
        "the credit is used up",
        async () => (await post(at(0), "org_recall", -1)).outcome,
        equals("insufficient"),
      );
      expect(await post(at(0), "org_recall", -1000, true)).toEqual({
        outcome: "posted",
        seq: 3,
        balance: 3000,
      });
      await charge(at(1), held, 4000);
      await bench.settled("org_recall", 3);
      expect((await bench.creditOf("org_recall")).b).toBe(-1000);
    });

    test("postings and charges of an org at eight cells give one ledger, whose entries add up", async () => {
      await post(at(0), "org_both", 10_000_000);
      const posted: { seq: number; balance: number }[] = [];
      const calls = cells.map(async (cell, n) => {
        for (let call = 0; call < amount(500, 60); call++) {
          const hold = await holdOf(cell, "org_both", 1000);
          await charge(cell, hold, 10 + n);
        }
      });
      const postings = cells.map(async (cell, n) => {
        for (let times = 0; times < amount(50, 6); times++)
          posted.push(await post(cell, "org_both", n % 2 === 0 ? 500 : -300));
      });
      await Promise.all([...calls, ...postings]);
      const { n = 0, b } = await (async () => {
        await until("no credit is leased", async () => (await bench.creditOf("org_both")).l ?? 0, equals(0));
        return await bench.creditOf("org_both");
      })();
      await until(
        "all charges are in the ledger",
        () => bench.ledger.of("org_both").length + posted.length,
        equals(n - 1),
      );
      const entries = [
        ...bench.ledger.of("org_both").map(({ seq, balanceMicroUsd }) => ({ seq, balance: balanceMicroUsd })),
        ...posted,
      ].sort((one, other) => one.seq - other.seq);
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 2));
      expect(entries.at(-1)?.balance).toBe(b);
    });

    test("orgs that call once do not stay in memory", async () => {
      const orgs = Array.from({ length: amount(2_000_000, 4000) }, (_, n) => `org_once_${n}`);
      for (let from = 0; from < orgs.length; from += 2000) {
        const some = orgs.slice(from, from + 2000);
        await at(0)
          .lane("begin")
          .send([["credit_begin", some.flatMap((org) => [org, 1, 10_000])]]);
        await Promise.all(
          some.map(async (org, n) => {
            const cell = at(n % cells.length);
            const hold = await holdOf(cell, org, 1000);
            if (n % 2 === 0) cell.purse.release(hold);
            else await charge(cell, hold, 10);
          }),
        );
      }
      for (const { purse } of cells)
        await until(
          "few purses are kept",
          () => purse.lane.size,
          (seen) => seen <= 3,
        );
    }, 3_600_000);
  },
);

/** Scripts that Redis has run. */
async function exchanges({ link }: Pick<CreditBench, "link">): Promise<number> {
  const text = String(await link.call("INFO", "commandstats"));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)?.[1] ?? 0);
}
