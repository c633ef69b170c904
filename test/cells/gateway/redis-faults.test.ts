/** A Redis that is slow, away, cut off, full or cannot write to its disk, as callers of two cells see it. */
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectRedis, type RedisLink } from "../../../src/cells/redis.ts";
import { type FaultProxy, startFaultProxy } from "../../support/cells/fault-proxy.ts";
import { amount } from "../../support/effort.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import { rest } from "../../support/pace.ts";
import { missingRedis, type TestRedis } from "../../support/redis-server.ts";
import { equals, until } from "../../support/wait.ts";

const missing = missingRedis();
const CELLS = 2;
const SLOW_MS = 200;
const AT_ONCE = 8;

describe.skipIf(missing !== undefined)(`Redis${missing === undefined ? "" : `: ${missing}`}`, () => {
  let gateway: TestGateway;
  let proxy: FaultProxy;
  let redis: TestRedis;
  let link: RedisLink;
  let limited: string;
  let budgeted: string;
  /** Of one call, micro-USD. */
  let cost: number;
  /** Calls that were answered with 200, each of which costs the same. */
  let paid = 0;
  let startedWith: number;
  beforeAll(async () => {
    gateway = await testGateway({
      cells: CELLS,
      plans: [{ id: "local", limits: { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 } }],
      async between(made) {
        redis = made;
        proxy = await startFaultProxy(made.url);
        return proxy.url;
      },
    });
    link = connectRedis({ url: redis.url, log: { warn() {} } });
    await link.ready(5000);
    const newKey = async (more: object) =>
      (await gateway.call("POST", "/v1/keys", { body: { name: "k", ...more } })).json.secret;
    limited = await newKey({ limits: { rpm: 1_000_000, tpm: 1_000_000_000 } });
    budgeted = await newKey({ budget: { daily_micro: 10_000_000, hard: true } });
    const before = await atRest();
    expect((await gateway.chat()).status).toBe(200);
    await until("it is charged", async () => {
      startedWith = await atRest();
      cost = before - startedWith;
      return cost > 0;
    });
  });
  afterAll(async () => {
    link.close();
    await gateway.stop();
    await proxy.close();
  });

  /** The balance once no call holds any of it. */
  async function atRest(): Promise<number> {
    let balance = { available: 0, held: 1 };
    await until("nothing is held", async () => {
      balance = await gateway.balance();
      return balance.held === 0;
    });
    return balance.available;
  }

  async function chat(key = gateway.liveKey, headers = {}): Promise<Answer> {
    const answer = await gateway.chat({}, { key, headers });
    if (answer.status === 200) paid++;
    return answer;
  }

  /** @throws Error for any other refusal than a 503 that says when to try again */
  function assertHonest({ status, headers, text }: Answer): void {
    if (status < 300) return;
    expect([status, Number(headers.get("retry-after")) >= 1, text], text).toEqual([503, true, text]);
  }

  /** Each charge is in the balance once. */
  const assertPaid = () =>
    until("all that was charged is in the balance", atRest, equals(startedWith - paid * cost));

  /** Both cells serve, and control-plane acts are taken. */
  const recovered = () =>
    until("calls and acts are taken again", async () => {
      for (let n = 0; n < CELLS; n++) {
        const made = await gateway.call("POST", "/v1/keys", { body: { name: "again" } });
        const answer = await chat(limited, { "idempotency-key": crypto.randomUUID() });
        if (made.status !== 201 || answer.status !== 200) return false;
      }
      return true;
    });

  async function latencies(count: number): Promise<number[]> {
    const tookMs: number[] = [];
    for (let n = 0; n < count; n++) {
      const sentMs = performance.now();
      expect((await chat()).status).toBe(200);
      tookMs.push(performance.now() - sentMs);
      await rest(5);
    }
    return tookMs.sort((a, b) => a - b);
  }

  /** Leases are of what a cell spent in the last second or two. */
  async function callsGoOn(): Promise<void> {
    for (let n = 0; n < 10; n++) expect((await chat()).status).toBe(200);
  }

  /** Milliseconds that 99 of 100 calls took at most, several under way at once. */
  async function p99(key: string, count: number): Promise<number> {
    const tookMs: number[] = [];
    let left = count;
    const calling = Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) {
        const sentMs = performance.now();
        const answer = await chat(key);
        assertHonest(answer);
        // Who is told to come again later waited for ever.
        tookMs.push(answer.status === 200 ? performance.now() - sentMs : Number.POSITIVE_INFINITY);
        await rest(5);
      }
    });
    await Promise.all(calling);
    return tookMs.sort((a, b) => a - b)[Math.ceil(count * 0.99) - 1] as number;
  }

  test.each([
    ["no limits", () => gateway.liveKey],
    ["a large limit", () => limited],
    ["a large budget", () => budgeted],
  ])(
    "that takes 200 ms to reply leaves calls of a key with %s as fast as they were while leases last",
    async (what, key) => {
      const count = amount(1000, 240);
      const [before, during]: [number[], number[]] = [[], []];
      await p99(key(), count);
      // By turns: what else this machine does slows both.
      for (let round = 0; round < amount(9, 4); round++) {
        before.push(await p99(key(), count));
        proxy.delay(SLOW_MS);
        during.push(await p99(key(), count));
        proxy.delay(0);
      }
      const shown = [before, during].map((all) => all.map((ms) => ms.toFixed(0)).join(", "));
      console.log(`p99 of calls with ${what}: ${shown[0]} ms; with a slow Redis ${shown[1]} ms`);
      expect(typical(during)).toBeLessThanOrEqual(1.5 * typical(before) + 20);
      await assertPaid();
    },
  );

  test.each(["acts", "beat", "credit", "limit", "spend", "merge", "claim", "answer", "unclaim"])(
    "that is cut off amid an exchange of %s, before it has it and after, charges each call once",
    async (text) => {
      for (const cut of [proxy.cutBefore, proxy.cutAfter]) {
        const cuts = proxy.cuts();
        cut(text);
        await until(`a cut of ${text}`, async () => {
          const key = { "idempotency-key": crypto.randomUUID() };
          const answers = await Promise.all([
            ...[chat(), chat(limited), chat(budgeted), chat(limited, key)],
            gateway.call("POST", "/v1/keys", { body: { name: "beside" } }),
            gateway.call("GET", "/v1/limits"),
            gateway.chat({ messages: "none" }, { headers: { "idempotency-key": crypto.randomUUID() } }),
          ]);
          const [refused] = answers.splice(-1);
          expect([400, 503]).toContain(refused?.status);
          answers.forEach(assertHonest);
          const again = await chat(limited, key);
          assertHonest(again);
          // It is the answer of the first one, at the other cell.
          if (again.status === 200 && answers[3]?.status === 200) paid--;
          return proxy.cuts() > cuts;
        });
      }
      await recovered();
      await assertPaid();
    },
  );

  test("that is away refuses only what it must be asked for, with a 503 that says when, and all goes on when it is back", async () => {
    await latencies(40);
    proxy.refuse(true);
    await callsGoOn();
    const endMs = performance.now() + amount(20_000, 1000);
    while (performance.now() < endMs) assertHonest(await chat());
    const named = await chat(gateway.liveKey, { "idempotency-key": crypto.randomUUID() });
    const act = await gateway.call("POST", "/v1/keys", { body: { name: "not now" } });
    expect([named.status, act.status]).toEqual([503, 503]);
    for (const answer of [named, act]) assertHonest(answer);
    proxy.refuse(false);
    await recovered();
    await assertPaid();
  });

  const full = {
    name: "that has no memory left (OOM)",
    begin: () => link.call("CONFIG", "SET", "maxmemory", 1),
    end: () => link.call("CONFIG", "SET", "maxmemory", 0),
  };
  const diskless = {
    name: "that cannot write to its disk (MISCONF)",
    async begin() {
      // A snapshot cannot take the name of a folder.
      mkdirSync(join(redis.folder, "dump.rdb"));
      await link.call("CONFIG", "SET", "save", "3600 1000000");
      await link.call("BGSAVE");
      await until("the snapshot has failed", async () =>
        String(await link.call("INFO", "persistence")).includes("rdb_last_bgsave_status:err"),
      );
    },
    async end() {
      rmdirSync(join(redis.folder, "dump.rdb"));
      await link.call("CONFIG", "SET", "save", "");
    },
  };
  test.each([full, diskless])(
    "$name refuses acts with a 503, while calls go on by their leases",
    async (fault) => {
      await latencies(40);
      await fault.begin();
      try {
        const act = gateway.call("POST", "/v1/keys", { body: { name: "not now" } });
        await callsGoOn();
        const named = await chat(gateway.liveKey, { "idempotency-key": crypto.randomUUID() });
        expect([named.status, (await act).status]).toEqual([503, 503]);
        for (const answer of [named, await act]) assertHonest(answer);
      } finally {
        await fault.end();
      }
      await recovered();
      await assertPaid();
    },
  );
});

/** The median; of few rounds beside other tests the least, for a wait for Redis is in every round, and one for a processor is not. */
const typical = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[amount(values.length >> 1, 0)] as number;
