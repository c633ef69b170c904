/** An Idempotency-Key over cells: one call of all answers it, whatever is lost, dies or is away. */

import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { DAY_MS } from "../../../../../src/base/time.ts";
import type { SharedClock } from "../../../../../src/cluster/cells/clock/shared-clock.ts";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import { startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench } from "../fixtures.ts";
import { type KeptCell, keptCell, lockOf, said } from "./answers-rig.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

/** In which 16 first calls are to be had, though every reply to a claim is lost. */
const MOST_ROUNDS = 100;
/** However late the machine is, the moment for which last bytes wait is not over. */
const NO_TIMERS = { after: () => () => {} };
const open: KeptCell[] = [];
async function cells(...names: string[]): Promise<KeptCell[]> {
  for (const name of names) open.push(await keptCell(bench, name));
  return open.slice(-names.length);
}
afterEach(async () => {
  for (const each of open.splice(0)) if (each.cell.ended() === undefined) await each.stop();
});

let keys = 0;
const newKey = () => `key-${++keys}`;

/** Resolves once a claim of the key is answered with it: last bytes, and the end of a claim, wait for Redis for a moment only. */
const answers = ({ claim }: KeptCell, key: string, answer = key) =>
  until("the key has its answer", async () => said(await claim(key)), equals(answer));

/** What a cell hears once the claim holds that all clocks were set. Redis's clock stays: by steady time nothing has changed. */
function setAhead(clock: SharedClock, byMs: number): void {
  const changes = clock.changes + 1;
  clock.read({ redisMs: clock.now() + byMs, shiftMs: byMs, changes }, clock.monotonic());
}

/** What the release before wrote: cell, life, fingerprint. */
const OLD_CLAIM = 'redis.call("HSET", KEYS[1], ARGV[1], cmsgpack.pack({ "old", 1, "f" }))';

/** Cells that earlier tests stopped are gone for good: after a restart of Redis nobody waits for them to say what they hold. */
async function retireOthers(): Promise<void> {
  await bench.link.ready(5000);
  const mine = open.map(({ cell }) => cell.name);
  for (const name of ((await bench.link.call("HKEYS", "{weir}:lives")) as Buffer[]).map(String))
    if (!mine.includes(name)) expect(await retire(bench.link, bench.id, name, 0)).toBe(true);
}

describe("keys", () => {
  test("of 200 calls at eight cells one is the first, and all get its answer", async () => {
    const all = await cells("a", "b", "c", "d", "e", "f", "g", "h");
    const key = newKey();
    const at = (i: number) => all[i % all.length] as KeptCell;
    const claims = await Promise.all(Array.from({ length: 200 }, (_, i) => at(i).claim(key)));
    const counts = Object.groupBy(claims, said);
    expect(Object.keys(counts).sort()).toEqual(["first", "idempotency_in_progress"]);
    expect(counts.first).toHaveLength(1);
    const first = claims.findIndex(({ kind }) => kind === "first");
    await at(first).answer(claims[first] as never, "the answer");
    for (const each of all) await answers(each, key, "the answer");
    for (const each of all) expect(said(await each.claim(key, "other"))).toBe("idempotency_mismatch");
  });

  test("a call that kept no answer leaves its key free at every cell", async () => {
    const [one, two] = (await cells("a", "b")) as [KeptCell, KeptCell];
    const key = newKey();
    const claim = await one.claim(key);
    expect(said(await two.claim(key, "other"))).toBe("idempotency_mismatch");
    await lockOf(claim).release();
    await answers(two, key, "first");
    // The end of a claim that is over frees nobody else's.
    await lockOf(claim).release();
    expect(said(await one.claim(key))).toBe("idempotency_in_progress");
  });

  test("an answer whose bytes newer ones pushed out is a refusal, never a new call", async () => {
    const one = await keptCell(bench, "small-a", { mostBytes: 3000 });
    const two = await keptCell(bench, "small-b");
    open.push(one, two);
    const all: string[] = [];
    for (let i = 0; i < 6; i++) {
      const key = newKey();
      all.push(key);
      await one.answer(await one.claim(key), `${i}`.repeat(500));
    }
    await one.kept.idle();
    const found = await Promise.all(all.map(async (key) => said(await two.claim(key))));
    expect(found.map((text) => text.slice(0, 5))).toEqual([
      ...Array(3).fill("state"),
      "33333",
      "44444",
      "55555",
    ]);
    // At home it is on the disk.
    expect(said(await one.claim(all[0] as string))).toBe("0".repeat(500));
  });

  test("beyond the bound on keys none is claimed", async () => {
    const full = await keptCell(bench, "full", { mostAnswers: 1 });
    open.push(full);
    await expect(full.claim(newKey())).rejects.toMatchObject({ kind: "storage_unavailable" });
  });

  test("erasure of an org removes its answers at every cell, also at one that was away", async () => {
    const [one, two, away] = (await cells("a", "b", "c")) as [KeptCell, KeptCell, KeptCell];
    const [key, other, third] = [newKey(), newKey(), newKey()];
    await one.answer(await one.claim(key, "{}", "erased"), "personal");
    await away.answer(await away.claim(third, "{}", "erased"), "away");
    await one.answer(await one.claim(other, "{}", "stays"), "stays");
    for (const each of [one, away]) await each.kept.idle();
    await away.stop();
    open.splice(open.indexOf(away), 1);
    await two.cell.store.act(() => two.answers.erase("erased", 100));
    await two.kept.forgotten();
    await one.kept.forgotten();
    const texts = async () => {
      const keysThere = (await bench.link.call("KEYS", "*")) as Buffer[];
      return keysThere.map(String).filter((name) => name.includes(":erased")).length;
    };
    expect(await texts()).toBe(0);
    const [back] = (await cells("c")) as [KeptCell];
    await back.kept.forgotten();
    for (const each of [one, two, back]) {
      expect([
        ...each.cell.local.table("idempotent_answers_of_orgs").range({ start: ["erased"], end: ["erasee"] }),
      ]).toEqual([]);
      expect(said(await each.claim(other, "{}", "stays"))).toBe("stays");
    }
    expect(said(await two.claim(key, "{}", "erased"))).toBe("first");
  });
});

describe("the call that has a key", () => {
  const claimed = ({ kept }: KeptCell, key: string, requestId: string, fingerprint = "f") =>
    kept.answers.claim(key, fingerprint, requestId);
  const running = (cell: string, requestId?: string) => ({
    kind: "running",
    fingerprint: "f",
    requestId,
    cell,
  });

  test("is known at every cell, in a new term too", async () => {
    const [one, two] = (await cells("a", "b")) as [KeptCell, KeptCell];
    const key = newKey();
    expect(await claimed(one, key, "first")).toEqual({ kind: "first" });
    expect(await claimed(two, key, "second")).toEqual(running("a", "first"));
    expect(await claimed(two, key, "third", "other")).toEqual(running("a", "first"));
    await bench.link.call("DEL", "{weir}:claims", "{weir}:claims:a");
    await bench.redis.kill();
    await bench.redis.start();
    const again = async () => {
      await retireOthers();
      return await claimed(two, key, "fourth").catch(() => undefined);
    };
    await until("the claim is restated", again, equals(running("a", "first")));
    await one.kept.answers.unclaim(key);
    expect(await claimed(two, key, "fifth")).toEqual({ kind: "first" });
  });

  test("is not known where a cell of the release before has it", async () => {
    const [one] = (await cells("a")) as [KeptCell];
    const key = newKey();
    await bench.link.call("EVAL", OLD_CLAIM, 1, "{weir}:claims", key);
    expect(await claimed(one, key, "second")).toEqual(running("old"));
  });
});

describe("faults", () => {
  test("a cell that dies between the commit and Redis: its key is taken until it is back, then answered", async () => {
    const proxy = await startFaultProxy(bench.redis.url);
    const one = await keptCell(bench, "dies", { url: proxy.url });
    const [two] = (await cells("b")) as [KeptCell];
    const [answered, cut] = [newKey(), newKey()];
    const claim = await one.claim(answered);
    await one.claim(cut);
    proxy.refuse(true);
    await one.answer(claim, "in the folder");
    // Its process is gone, but for the folder.
    await one.stop().catch(() => {});
    expect(said(await two.claim(answered))).toBe("idempotency_in_progress");
    await proxy.close();
    const back = await keptCell(bench, "dies");
    open.push(back);
    await back.kept.idle();
    expect(said(await two.claim(answered))).toBe("in the folder");
    expect(said(await two.claim(cut))).toBe("first");
  });

  test("a retired cell: its keys are refused for a day, and what its folder has takes their place", async () => {
    const [one, two] = (await cells("gone", "b")) as [KeptCell, KeptCell];
    const key = newKey();
    const claim = await one.claim(key);
    expect(await retire(bench.link, bench.id, "gone", 0)).toBe(true);
    const retry = await two.claim(key);
    expect(retry).toMatchObject({ kind: "refused", error: { kind: "state" } });
    expect(said(await two.claim(key, "other"))).toBe("idempotency_mismatch");
    await one.answer(claim, "charged or not");
    await one.stop().catch(() => {});
    open.splice(open.indexOf(one), 1);
    const [back] = (await cells("gone")) as [KeptCell];
    await back.kept.idle();
    expect(said(await two.claim(key))).toBe("charged or not");
  });

  test("replies that are lost change nothing: each key has one first call", async () => {
    const proxy = await startFaultProxy(bench.redis.url);
    const one = await keptCell(bench, "lossy", { url: proxy.url });
    const [two] = (await cells("b")) as [KeptCell];
    open.push(one);
    let firsts = 0;
    // A claim that has no answer in half a second is refused, which a late machine has of more than one of four.
    for (let round = 0; round < 20 || (firsts <= 15 && round < MOST_ROUNDS); round++) {
      const key = newKey();
      if (round % 2 === 0) proxy.cutAfter("claim");
      else proxy.cutBefore("claim");
      const claims = await Promise.all(
        [one, two, one, two].map((each) => each.claim(key).catch(() => undefined)),
      );
      const found = claims.flatMap((claim, i) =>
        claim?.kind === "first" ? [{ claim, at: [one, two][i % 2] }] : [],
      );
      expect(found.length).toBeLessThanOrEqual(1);
      for (const { claim, at } of found) {
        firsts++;
        if (round % 3 === 0) proxy.cutAfter("answer");
        await at?.answer(claim, key);
        for (const each of [one, two]) await answers(each, key);
      }
    }
    expect(proxy.cuts()).toBeGreaterThanOrEqual(20);
    await one.stop();
    open.splice(open.indexOf(one), 1);
    await proxy.close();
    expect(firsts).toBeGreaterThan(15);
  });

  test("a restart of Redis that lost a claim frees no key", async () => {
    const [one, two] = (await cells("a", "b")) as [KeptCell, KeptCell];
    const key = newKey();
    const claim = await one.claim(key);
    await bench.link.call("DEL", "{weir}:claims", "{weir}:claims:a");
    await bench.redis.kill();
    await bench.redis.start();
    const seen = new Set<string>();
    await until(
      "the key is found to be in progress",
      async () => {
        await retireOthers();
        const found = await two.claim(key).then(said, ({ kind }) => kind);
        seen.add(found);
        return found;
      },
      equals("idempotency_in_progress"),
    );
    expect([...seen]).not.toContain("first");
    await one.answer(claim, "still its own");
    await answers(two, key, "still its own");
    expect(said(await two.claim(newKey()))).toBe("first");
  });

  test("a key that was asked for when Redis died is not taken for ever", async () => {
    const [one, two] = (await cells("a", "b")) as [KeptCell, KeptCell];
    const key = newKey();
    // Stopped, so that the question is on its way when it dies, and was never read.
    bench.redis.pause();
    const asked = one.claim(key).then(said, ({ kind }) => kind);
    await bench.redis.kill();
    await bench.redis.start();
    await retireOthers();
    if ((await asked) === "first") return;
    await one.kept.idle();
    const again = async () => {
      await retireOthers();
      return await two.claim(key).then(said, ({ kind }) => kind);
    };
    await until("the key can be claimed", again, equals("first"));
  });

  /** A key that a cell behind a proxy has claimed, and another cell; no timer of the two fires. */
  async function claimedBehindProxy() {
    const proxy = await startFaultProxy(bench.redis.url);
    const one = await keptCell(bench, "slow", { url: proxy.url, timers: NO_TIMERS });
    const two = await keptCell(bench, "b", { timers: NO_TIMERS });
    open.push(two);
    const key = newKey();
    const claim = await one.claim(key);
    const close = async () => {
      await one.stop();
      await proxy.close();
    };
    return { proxy, one, two, key, claim, close };
  }

  test("an answer's last bytes wait until Redis has it", async () => {
    const { proxy, two, key, claim, one, close } = await claimedBehindProxy();
    proxy.hold("answer");
    const told = one.answer(claim, "told");
    await until("Redis is told", proxy.waiting, equals(1));
    expect(await Promise.race([told, setImmediate("it waits")])).toBe("it waits");
    proxy.letGo();
    await told;
    expect(said(await two.claim(key))).toBe("told");
    await close();
  });

  test("C1: all clocks are set two days ahead while an answer waits for Redis: its key is not free, and it is answered", async () => {
    const proxy = await startFaultProxy(bench.redis.url);
    const one = await keptCell(bench, "slow", { url: proxy.url });
    const [two] = (await cells("b")) as [KeptCell];
    const [before, key] = [newKey(), newKey()];
    const claims = [await one.claim(before), await one.claim(key)] as const;
    proxy.hold("answer");
    await one.answer(claims[0], before);
    await until("Redis is told of the one before", proxy.waiting, equals(1));
    await one.answer(claims[1], key);
    setAhead(one.cell.clock, 2 * DAY_MS);
    proxy.letGo();
    await one.kept.idle();
    expect(said(await two.claim(key))).toBe(key);
    await one.stop();
    await proxy.close();
  });

  test("the end of a claim without an answer waits until Redis has it", async () => {
    const { proxy, two, key, claim, close } = await claimedBehindProxy();
    proxy.hold("unclaim");
    const ended = lockOf(claim).release();
    await until("Redis is told", proxy.waiting, equals(1));
    expect(await Promise.race([ended, setImmediate("it waits")])).toBe("it waits");
    expect(said(await two.claim(key))).toBe("idempotency_in_progress");
    proxy.letGo();
    await ended;
    expect(said(await two.claim(key))).toBe("first");
    await close();
  });

  // Within what time: test/timed/cluster/cells/patience.test.ts.
  test("without Redis calls are refused, and nothing is claimed for them in the end", async () => {
    const [one, two] = (await cells("a", "b")) as [KeptCell, KeptCell];
    const kept = newKey();
    await one.answer(await one.claim(kept), "own");
    const running = await one.claim(newKey());
    bench.redis.pause();
    const key = newKey();
    await expect(one.claim(key)).rejects.toMatchObject({ kind: "storage_unavailable" });
    // The next one waits for nothing at all.
    const next = one.claim(key).catch((error: unknown) => error);
    expect(await Promise.race([next, setImmediate("it waits")])).toMatchObject({
      kind: "storage_unavailable",
    });
    // What is here needs nobody, and last bytes wait for a moment only.
    expect(said(await one.claim(kept))).toBe("own");
    await one.answer(running, "late");
    bench.redis.resume();
    await one.kept.idle();
    expect(said(await two.claim(key))).toBe("first");
  });
});
