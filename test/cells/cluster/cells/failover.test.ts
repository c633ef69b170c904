/** Sentinels that promote the replica of a master which dies, while cells charge and write. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { amount } from "../../../support/effort.ts";
import { freePort } from "../../../support/free-port.ts";
import { rest } from "../../../support/pace.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import {
  type CreditCell,
  charge,
  HeardLedger,
  openCreditCell,
  post,
  settled,
} from "./credit/credit-fixtures.ts";
import { type Bench, openBench } from "./fixtures.ts";
import { type Sentinels, startSentinels } from "./redis/sentinels.ts";
import { follows, REPLICATED, replicaOf, type Server } from "./replicas-fixtures.ts";

const missing = missingRedis();
const ORG = "org_a";
const PAID = 1_000_000_000;
/** In which cells are seen to go on by their leases. */
const FAILOVERS = amount(20, 2);

/** What a cell was answered. */
interface Answered {
  readonly cell: CreditCell;
  readonly charges: string[];
  readonly acts: number[];
}

describe.skipIf(missing !== undefined)(`Sentinels${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let replica: Server;
  let sentinels: Sentinels;
  let servers: readonly Server[];
  let isOver = false;
  const ledger = new HeardLedger();
  beforeEach(async () => {
    const port = await freePort();
    bench = await openBench([], [...REPLICATED, "--port", String(port)]);
    replica = await replicaOf(port);
    servers = [{ ...bench.redis, port }, replica];
    sentinels = await startSentinels(port, 3, 1);
  });
  afterEach(async () => {
    isOver = true;
    await bench.close();
    await replica.stop();
    await sentinels.stop();
  });

  /** Calls one after the other, and acts beside them, until it is over. What is refused did not happen, or is not known. */
  function working({ cell, charges, acts }: Answered): Promise<unknown> {
    const calls = async () => {
      while (!isOver) {
        const hold = await Promise.resolve(cell.purse.hold(ORG, 100)).catch(() => undefined);
        if (hold !== undefined) charges.push(await charge(cell, hold, 1));
        await rest(2);
      }
    };
    const writes = async () => {
      for (let n = 0; !isOver; n++) {
        const write = cell.store.act(() => cell.store.table<number>("acts").put(`${cell.name} ${n}`, n));
        await write.then(() => acts.push(n)).catch(() => {});
        await rest(5);
      }
    };
    return Promise.all([calls(), writes()]);
  }

  test("promote it: cells go on by their leases, find it, lose nothing that was answered, and do not end", async () => {
    const options = { url: sentinels.url, replicas: 1, waitMs: 500 };
    const cells = await Promise.all(["a", "b"].map((name) => openCreditCell(bench, name, ledger, options)));
    await post(cells[0] as CreditCell, ORG, PAID);
    const answered: Answered[] = cells.map((cell) => ({ cell, charges: [], acts: [] }));
    const work = answered.map(working);
    /** Resolves once each cell was answered more. */
    const goesOn = async () => {
      const had = answered.map(({ charges, acts }) => [charges.length + 20, acts.length + 5] as const);
      const isMore = ({ charges, acts }: Answered, at: number) =>
        charges.length > (had[at]?.[0] ?? 0) && acts.length > (had[at]?.[1] ?? 0);
      await until("each cell was answered more", () => answered.every(isMore));
    };
    let seen = 0;
    for (let failover = 0; seen < FAILOVERS; failover++) {
      expect(failover, "failovers in most of which no cell went on").toBeLessThan(5 * FAILOVERS);
      await goesOn();
      const port = await sentinels.master();
      const [master, other] = servers.toSorted((x) => (x.port === port ? -1 : 1)) as [Server, Server];
      const charged = answered.map(({ charges }) => charges.length);
      // The first one dies with its machine, on which a Sentinel runs.
      await Promise.all([master.kill(), failover === 0 && sentinels.all[0]?.kill()]);
      await until("the other server is the master", () => sentinels.master(), equals(other.port));
      const meanwhile = answered.map(({ charges }, at) => charges.length - (charged[at] as number));
      // A late machine may see the next master before anything else: then there is one failover more.
      if (Math.min(...meanwhile) > 0) seen++;
      await master.start();
      await follows(master);
      await goesOn();
    }
    isOver = true;
    await Promise.all(work);
    expect(cells.map((cell) => cell.ended())).toEqual([undefined, undefined]);
    for (const { cell } of answered) await cell.caughtUp();
    for (const { store } of cells)
      for (const { cell, acts } of answered)
        for (const n of acts) expect(store.table("acts").get(`${cell.name} ${n}`)).toBe(n);
    for (const cell of cells) await cell.stop();
    await settled(bench, ledger, ORG);
    const charges = answered.flatMap((each) => each.charges);
    for (const request of charges) expect(ledger.requests.get(request), request).toBe(1);
    expect(ledger.of(ORG)).toHaveLength(charges.length);
  });
});
