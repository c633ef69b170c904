/** A Redis that is away, cut off, full or cannot write to its disk, as callers of two cells see it. */
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import type { Answer } from "../../support/gateway.ts";
import { rest } from "../../support/pace.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { Hopeless, until } from "../../support/wait.ts";
import { assertHonest, FaultyRedis } from "./faulty-redis.ts";

const missing = missingRedis();
/** Leases are of what a cell spent in the last second or two. */
const CALLS_FOR_A_LEASE = 40;
/** In which calls are to be seen to go on by their leases. */
const MOST_TRIES = 3;

describe.skipIf(missing !== undefined)(`Redis${missing === undefined ? "" : `: ${missing}`}`, () => {
  let faulty: FaultyRedis;
  beforeAll(async () => {
    faulty = await FaultyRedis.open();
  });
  afterAll(() => faulty?.stop());

  async function callsGoOn(count = 10): Promise<boolean> {
    for (let n = 0; n < count; n++) {
      if ((await faulty.chat()).status !== 200) return false;
      await rest(5);
    }
    return true;
  }

  /**
   * Calls go on by their leases from `begin` on, which is then in force. Where the cells stood still, or calls were so seldom that less
   * is leased, Redis must be asked: a late machine does it all again, with Redis well in between.
   */
  async function callsGoOnBehind(begin: () => unknown, end: () => unknown): Promise<void> {
    let hasBegun = false;
    let tries = 0;
    await until("calls go on by their leases", async () => {
      if (hasBegun) await end();
      hasBegun = false;
      if (++tries > MOST_TRIES) throw new Hopeless("calls are refused each time");
      await until("leases are had", () => callsGoOn(CALLS_FOR_A_LEASE));
      hasBegun = true;
      await begin();
      return await callsGoOn();
    });
  }

  test.each(["acts", "beat", "credit", "limit", "spend", "merge", "claim", "answer", "unclaim"])(
    "that is cut off amid an exchange of %s, before it has it and after, charges each call once",
    async (text) => {
      const { gateway, proxy, limited, budgeted } = faulty;
      for (const cut of [proxy.cutBefore, proxy.cutAfter]) {
        const cuts = proxy.cuts();
        cut(text);
        await until(`a cut of ${text}`, async () => {
          const key = { "idempotency-key": crypto.randomUUID() };
          const answers = await Promise.all([
            faulty.chat(),
            faulty.chat(limited),
            faulty.chat(budgeted),
            faulty.chat(limited, key),
            gateway.call("POST", "/v1/keys", { body: { name: "beside" } }),
            gateway.call("GET", "/v1/limits"),
            gateway.chat({ messages: "none" }, { headers: { "idempotency-key": crypto.randomUUID() } }),
          ]);
          const [refused] = answers.splice(-1);
          expect([400, 503]).toContain(refused?.status);
          answers.forEach(assertHonest);
          let isPaid = answers[3]?.status === 200;
          for (const cell of faulty.cells) {
            // Where Redis is late, last bytes come before the other cell can have heard of the answer.
            const again = await until(
              "the key is in progress no more",
              () => faulty.chat(limited, key, cell),
              ({ status }) => status !== 409,
            );
            assertHonest(again);
            // It is the answer of the first one, at each cell.
            if (again.status === 200 && isPaid) faulty.wasPaidBefore();
            isPaid ||= again.status === 200;
          }
          return proxy.cuts() > cuts;
        });
      }
      await faulty.recovered();
      await faulty.assertPaid();
    },
  );

  test("that is away refuses only what it must be asked for, with a 503 that says when, and all goes on when it is back", async () => {
    const refuse = (isRefused: boolean) => faulty.proxy.refuse(isRefused);
    await callsGoOnBehind(
      () => refuse(true),
      () => refuse(false),
    );
    const isOver = rest(amount(20_000, 1000)).then(() => true);
    do {
      assertHonest(await faulty.chat());
    } while (!(await Promise.race([isOver, rest(1)])));
    const named = await faulty.chat(faulty.gateway.liveKey, { "idempotency-key": crypto.randomUUID() });
    const act = await faulty.gateway.call("POST", "/v1/keys", { body: { name: "not now" } });
    expect([named.status, act.status]).toEqual([503, 503]);
    for (const answer of [named, act]) assertHonest(answer);
    faulty.proxy.refuse(false);
    await faulty.recovered();
    await faulty.assertPaid();
  });

  const full = {
    name: "that has no memory left (OOM)",
    begin: () => faulty.link.call("CONFIG", "SET", "maxmemory", 1),
    end: () => faulty.link.call("CONFIG", "SET", "maxmemory", 0),
  };
  const diskless = {
    name: "that cannot write to its disk (MISCONF)",
    async begin() {
      // A snapshot cannot take the name of a folder.
      mkdirSync(join(faulty.redis.folder, "dump.rdb"));
      await faulty.link.call("CONFIG", "SET", "save", "3600 1000000");
      await faulty.link.call("BGSAVE");
      await until("the snapshot has failed", async () =>
        String(await faulty.link.call("INFO", "persistence")).includes("rdb_last_bgsave_status:err"),
      );
    },
    async end() {
      rmdirSync(join(faulty.redis.folder, "dump.rdb"));
      await faulty.link.call("CONFIG", "SET", "save", "");
    },
  };
  test.each([full, diskless])(
    "$name refuses acts with a 503, while calls go on by their leases",
    async (fault) => {
      const acts: Promise<Answer>[] = [];
      const begin = async () => {
        await fault.begin();
        acts.push(faulty.gateway.call("POST", "/v1/keys", { body: { name: "not now" } }));
      };
      try {
        await callsGoOnBehind(begin, () => fault.end());
        const named = await faulty.chat(faulty.gateway.liveKey, { "idempotency-key": crypto.randomUUID() });
        const acted = (await acts.at(-1)) as Answer;
        expect([named.status, acted.status]).toEqual([503, 503]);
        for (const answer of [named, acted]) assertHonest(answer);
      } finally {
        await fault.end();
      }
      await faulty.recovered();
      await faulty.assertPaid();
    },
  );
});
