/** A Redis with a replica: nothing counts before the replica has it, so a failover loses nothing and stops no cell. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RETIRE_SILENCE_MS } from "../../../../src/cluster/cells/membership/registry.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/cells/fault-proxy.ts";
import { amount } from "../../../support/effort.ts";
import { freePort } from "../../../support/free-port.ts";
import { rest } from "../../../support/pace.ts";
import { missingRedis, type TestRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import {
  type CreditCell,
  charge,
  HeardLedger,
  holdOf,
  openCreditCell,
  post,
} from "./credit/credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";
import { ask, REPLICATED, replicaOf, type Server } from "./replicas-fixtures.ts";

const missing = missingRedis();
const ORG = "org_a";
const PAID = 10_000_000;

describe.skipIf(missing !== undefined)(`replicas${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let proxy: FaultProxy;
  let replica: Server;
  const others: TestRedis[] = [];
  const ledger = new HeardLedger();
  const open = (name: string): Promise<CreditCell> =>
    openCreditCell(bench, name, ledger, { url: proxy.url, replicas: 1, idleMs: 200, waitMs: 500 });
  beforeEach(async () => {
    const port = await freePort();
    bench = await openBench([], [...REPLICATED, "--port", String(port)]);
    proxy = await startFaultProxy(bench.redis.url);
    replica = await replicaOf(port);
  });
  afterEach(async () => {
    await bench.close();
    await proxy.close();
    for (const redis of [replica, ...others.splice(0)]) await redis.stop();
  });

  test("an act is answered, and credit leased, only once the replica has it", async () => {
    const cell = await open("a");
    await post(cell, ORG, PAID);
    replica.pause();
    let isAnswered = false;
    const act = post(cell, ORG, 1).finally(() => {
      isAnswered = true;
    });
    const holding = Promise.resolve(cell.purse.hold(ORG, PAID));
    await expect(holding).rejects.toMatchObject({ kind: "storage_unavailable" });
    await until(
      "the log says that replicas are too few",
      () => bench.log.join("\n"),
      (seen) => seen.includes("too few replicas"),
    );
    expect(isAnswered).toBe(false);
    replica.resume();
    expect(await act).toMatchObject({ outcome: "posted", seq: 2, balance: PAID + 1 });
    cell.purse.release(await holdOf(cell, ORG, PAID));
    await cell.stop();
  });

  test("promoted without knowing of a cell that leased credit: others are granted none for 35 s", async () => {
    const lone = await startFaultProxy(bench.redis.url);
    const options = { idleMs: 200, waitMs: 500 };
    const heard = new HeardLedger();
    const other = await openCreditCell(bench, "other", heard, { url: proxy.url, ...options });
    await post(other, ORG, PAID);
    await until(
      "the replica has the credit",
      () => ask(replica, "HGET", `{weir}:credit:${ORG}`, "b"),
      equals(String(PAID)),
    );
    // From now on it lags, for ever.
    await ask(replica, "REPLICAOF", "NO", "ONE");
    const cell = await openCreditCell(bench, "unknown", heard, { url: lone.url, ...options });
    const hold = await holdOf(cell, ORG, PAID);
    lone.refuse(true);
    await bench.redis.kill();
    /** Redis's time, in whole seconds. */
    const now = async () => Number((await ask(replica, "TIME")).split(",")[0]) * 1000;
    const promotedMs = await now();
    proxy.redirect(replica.url);
    await other.caughtUp();
    expect(await ask(replica, "HEXISTS", "{weir}:lives", "unknown")).toBe("0");
    expect(await ask(replica, "SCARD", "{weir}:restating")).toBe("0");
    await expect(other.purse.hold(ORG, PAID)).rejects.toMatchObject({ kind: "storage_unavailable" });
    const refunded = post(other, ORG, -PAID).catch((error: { kind?: string }) => error.kind);
    lone.redirect(replica.url);
    lone.refuse(false);
    await charge(cell, hold, PAID);
    expect(await refunded).not.toMatchObject({ outcome: "posted" });
    await until(
      "the replica has the charge",
      () => ask(replica, "HGET", `{weir}:credit:${ORG}`, "b"),
      equals("0"),
    );
    const unsureUntilMs = Number(await ask(replica, "HGET", "{weir}:dataset", "unsure_until"));
    expect(unsureUntilMs).toBeGreaterThanOrEqual(promotedMs + RETIRE_SILENCE_MS);
    expect(unsureUntilMs).toBeLessThanOrEqual((await now()) + RETIRE_SILENCE_MS + 1000);
    await post(other, ORG, PAID);
    await expect(other.purse.hold(ORG, PAID)).rejects.toMatchObject({ kind: "storage_unavailable" });
    await ask(replica, "HSET", "{weir}:dataset", "unsure_until", "1");
    other.purse.release(await holdOf(other, ORG, PAID));
    for (const opened of [cell, other]) await opened.stop();
    await lone.close();
  });

  test("that cells wait for know of every lease when they are promoted: others are granted credit at once", async () => {
    const cell = await open("a");
    await post(cell, ORG, PAID);
    await bench.redis.kill();
    await ask(replica, "REPLICAOF", "NO", "ONE");
    proxy.redirect(replica.url);
    others.push(replica);
    const promoted = replica;
    replica = await replicaOf(promoted.port);
    await cell.caughtUp();
    cell.purse.release(await holdOf(cell, ORG, PAID));
    expect(await ask(promoted, "HEXISTS", "{weir}:dataset", "unsure_until")).toBe("0");
    await cell.stop();
  });

  test("after each failover charges and acts go on, all that was answered is there once, and no cell ends", async () => {
    let cells = await Promise.all(["a", "b"].map(open));
    const [a] = cells as [CreditCell, CreditCell];
    await post(a, ORG, PAID);
    const charged = new Map<string, number>();
    const seqs: number[] = [];
    let isOver = false;
    const calling = cells.map(async (cell, n) => {
      while (!isOver) {
        const hold = await Promise.resolve(cell.purse.hold(ORG, 100)).catch(() => undefined);
        if (hold !== undefined) charged.set(await charge(cell, hold, 1 + n), 1 + n);
        await rest(2);
      }
    });
    const posting = cells.map(async (cell) => {
      while (!isOver) {
        // Refused while the cell is not in touch: then it did not happen.
        const posted = await post(cell, ORG, 1000).catch(() => undefined);
        if (posted !== undefined) seqs.push(posted.seq);
        await rest(5);
      }
    });
    let master: TestRedis = bench.redis;
    for (let failover = 0; failover < amount(40, 3); failover++) {
      const [calls, posts] = [charged.size, seqs.length];
      await until("charges and acts go on", () => charged.size > calls + 20 && seqs.length > posts + 5);
      await master.kill();
      await ask(replica, "REPLICAOF", "NO", "ONE");
      proxy.redirect(replica.url);
      if (master !== bench.redis) others.push(master);
      master = replica;
      replica = await replicaOf(replica.port);
    }
    const posts = seqs.length;
    await until("acts go on", () => seqs.length > posts + 5);
    isOver = true;
    await Promise.all([...calling, ...posting]);
    expect(cells.map((cell) => cell.ended())).toEqual([undefined, undefined]);
    for (const cell of cells) await cell.stop();
    cells = [];
    for (const [request] of charged) expect(ledger.requests.get(request), request).toBe(1);
    const rows = ledger.of(ORG);
    expect(rows).toHaveLength(charged.size);
    expect(new Set(seqs).size).toBe(seqs.length);
    const taken = [...seqs, ...rows.map(({ seq }) => seq)].sort((x, y) => x - y);
    const [n, b, l] = (await ask(master, "HMGET", `{weir}:credit:${ORG}`, "n", "b", "l"))
      .split(",")
      .map(Number);
    // The first posting's, and those that were made although their caller was told that it is not known.
    expect(Number(n)).toBeGreaterThanOrEqual(taken.length + 1);
    const unknown = Number(n) - taken.length - 1;
    const spent = [...charged.values()].reduce((sum, one) => sum + one, 0);
    expect({ b, l }).toEqual({ b: PAID + 1000 * (seqs.length + unknown) - spent, l: 0 });
  });
});
