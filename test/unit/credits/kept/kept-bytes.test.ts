/** S4: bytes that are kept of orgs' calls are counted with their rows, whatever is repeated, removed, dropped or killed. */

import { afterEach, describe, expect, test } from "vitest";
import type { KeyContext } from "../../../../src/account/keyring.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/base/time.ts";
import { KeptBytes, type KeptOwner } from "../../../../src/credits/kept/kept-bytes.ts";
import { KeptRoom } from "../../../../src/credits/kept/kept-pool.ts";
import { answerBytes, IdempotentAnswers } from "../../../../src/inference/exchange/kept/idempotency.ts";
import { responseBytes, StoredResponses } from "../../../../src/inference/exchange/kept/stored-responses.ts";
import type { Store } from "../../../../src/store/store.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const MAX = 64 * 1024;
const live: KeptOwner = { orgId: "org_1", environment: "live" };
const test_: KeptOwner = { orgId: "org_1", environment: "test" };

let temp = tempStore();
let clock = new ManualClock("2026-03-01T10:00:00Z");
let retentionDays = 30;
let maxBytes = MAX;
const onFailure = (error: unknown) => expect.fail(String(error));

afterEach(async () => {
  await temp.dispose();
  temp = tempStore();
  clock = new ManualClock("2026-03-01T10:00:00Z");
  [retentionDays, maxBytes] = [30, MAX];
});

/** The rooms over a folder, as a start opens them. */
async function opened(store: Store = temp.store) {
  const kept = new KeptBytes({
    store,
    clock,
    onFailure,
    maxBytes: () => maxBytes,
    retentionDays: () => retentionDays,
  });
  const keeping = { store, clock, maxBytes: 10_000, onFailure, kept, orgOf: () => "org_1" };
  const answers = new IdempotentAnswers(keeping);
  const responses = new StoredResponses(keeping);
  await kept.countEarlier(function* () {
    yield* answers.kept();
    yield* responses.kept();
  });
  return { kept, answers, responses };
}

const answer = (bytes: number, more: object = {}) => ({
  orgId: "org_1",
  fingerprint: "f",
  requestId: "r",
  status: 200,
  isStream: false,
  body: Buffer.alloc(bytes),
  ...more,
});
const keyOf = (environment: "live" | "test") =>
  ({ orgId: "org_1", projectId: "p", environment, dataPolicy: { retentionDays: 7 } }) as KeyContext;
const response = (text: string) => ({
  response: text,
  items: text,
  itemIds: [`item_${text.length}`],
  endpointId: "e",
  provider: "p",
  keyId: "k",
});
const bytesOf = (kept: KeptBytes) => [kept.pool(live).bytes, kept.pool(test_).bytes];

describe("S4: rows", () => {
  test("S4: count with what they hold, apart for live and test; the same again counts once", async () => {
    const { kept, answers, responses } = await opened();
    for (let time = 0; time < 2; time++) {
      await temp.store.act(() => {
        answers.put("a", answer(1000));
        answers.put("b", answer(200, { isTest: true }));
        responses.put(keyOf("live"), "resp_1", response("x".repeat(300)));
        responses.put(keyOf("test"), "resp_1", response("x".repeat(30)));
      });
      expect(bytesOf(kept)).toEqual([
        answerBytes(1000) + responseBytes(response("x".repeat(300))),
        answerBytes(200) + responseBytes(response("x".repeat(30))),
      ]);
    }
  });

  test("S4: an act that is dropped counts nothing", async () => {
    const { kept, answers } = await opened();
    const act = () => {
      answers.put("a", answer(1000));
      throw new Error("dropped");
    };
    await expect(temp.store.act(act)).rejects.toThrow("dropped");
    expect(bytesOf(kept)).toEqual([0, 0]);
  });

  test("S4: after a start the sums are those of the rows", async () => {
    const { kept, answers, responses } = await opened();
    await temp.store.act(() => {
      answers.put("a", answer(1000));
      responses.put(keyOf("test"), "resp_1", response("x".repeat(30)));
    });
    const before = bytesOf(kept);
    expect(bytesOf((await opened(await temp.reopen())).kept)).toEqual(before);
  });

  test("S4: deleted, erased or expired they are free", async () => {
    const { kept, answers, responses } = await opened();
    const put = () =>
      temp.store.act(() => {
        for (let i = 0; i < 20; i++) {
          answers.put(`a${i}`, answer(i, i % 2 === 0 ? { isTest: true } : {}));
          responses.put(keyOf(i % 2 === 0 ? "test" : "live"), `resp_${i}`, response("x".repeat(i)));
        }
      });
    await put();
    for (let i = 0; i < 20; i++) await responses.remove(keyOf(i % 2 === 0 ? "test" : "live"), `resp_${i}`);
    expect(kept.pool(live).figures.responses).toBe(0);
    while (await temp.store.act(() => answers.erase("org_1", 7)));
    expect(bytesOf(kept)).toEqual([0, 0]);
    await put();
    while (await temp.store.act(() => responses.erase("p", 7)));
    expect(kept.pool(test_).figures.responses).toBe(0);
    clock.advance(9 * DAY_MS);
    await Promise.all([answers.sweep(), responses.sweep()]);
    expect(bytesOf(kept)).toEqual([0, 0]);
  });

  test("S4: rows of an earlier release are counted once, and freed as they go", async () => {
    const put = (table: string, key: (string | number)[], row: unknown) =>
      temp.store.table(table).put(key, row);
    const day = Math.floor(clock.now() / DAY_MS) + 3;
    await temp.store.act(() => {
      put("idempotent_answers", ["old"], answer(100));
      put("idempotent_answers", ["older"], { fingerprint: "f", body: Buffer.alloc(9) });
      put("idempotent_hours", [Math.floor(clock.now() / 3_600_000), "old"], true);
      const { response: text, items, itemIds } = response("xyz");
      put("responses", ["p/test", "resp_old"], { response: text, items, itemIds, expiresMs: clock.now() });
      put("response_days", [day, "p/test", "resp_old"], true);
    });
    const sums = [answerBytes(100), responseBytes(response("xyz"))];
    expect(bytesOf((await opened()).kept)).toEqual(sums);
    const { kept, answers, responses } = await opened(await temp.reopen());
    expect(bytesOf(kept)).toEqual(sums);
    clock.advance(5 * DAY_MS);
    await Promise.all([answers.sweep(), responses.sweep()]);
    expect(bytesOf(kept)).toEqual([0, 0]);
  });
});

describe("S4: payloads", () => {
  const keep = (kept: KeptBytes, bytes: number) => {
    const pool = kept.pool(live);
    if (!pool.fitsUsual(bytes)) return Promise.resolve(false);
    pool.payloadBytes += bytes;
    return temp.store.act(() => kept.cover(pool)).then(() => true);
  };

  test("S4: leave a quarter of the quota to what clients ask for", async () => {
    const { kept } = await opened();
    let count = 0;
    while (await keep(kept, 1000)) count++;
    expect(count).toBe(Math.floor((MAX * 0.75) / 1000));
    expect(kept.pool(live).fits(MAX * 0.25)).toBe(true);
    expect(kept.pool(live).fits(MAX * 0.25 + 1000)).toBe(false);
  });

  test("S4: after a start they count no less, and a step more at most", async () => {
    const { kept } = await opened();
    for (let i = 0; i < 10; i++) await keep(kept, 999);
    expect(kept.pool(live).bytes).toBe(9990);
    const { kept: again } = await opened(await temp.reopen());
    expect(again.pool(live).bytes).toBeGreaterThanOrEqual(9990);
    expect(again.pool(live).bytes).toBeLessThanOrEqual(9990 + 1024);
  });

  test("S4: are free once the retention of their day is over, by the retention of now", async () => {
    const { kept } = await opened();
    await keep(kept, 5000);
    clock.advance(5 * DAY_MS);
    await keep(kept, 7000);
    clock.advance(25 * DAY_MS);
    expect(kept.pool(live).bytes).toBe(12_000);
    clock.advance(2 * DAY_MS);
    kept.pool(live);
    await temp.store.act(() => {});
    expect(kept.pool(live).bytes).toBeLessThanOrEqual(7000);
    expect(kept.pool(live).bytes).toBeGreaterThan(7000 - 1024);
    retentionDays = 3;
    kept.orgChanged("org_1");
    clock.advance(DAY_MS);
    kept.pool(live);
    await temp.store.act(() => {});
    expect(kept.pool(live).bytes).toBe(0);
  });

  test("S4: a shorter retention frees them once it has held for a day, so that what ClickHouse still has counts", async () => {
    const { kept } = await opened();
    await keep(kept, 5000);
    clock.advance(10 * DAY_MS);
    const shorten = async (days: number) => {
      retentionDays = days;
      kept.orgChanged("org_1");
      kept.pool(live);
      await temp.store.act(() => {});
    };
    const later = async (ms: number) => {
      clock.advance(ms);
      kept.pool(live);
      await temp.store.act(() => {});
      return kept.pool(live).bytes;
    };
    for (let hour = 0; hour < 40; hour++) {
      await shorten(1);
      expect(await later(HOUR_MS)).toBe(5000);
      await shorten(30);
      expect(await later(HOUR_MS)).toBe(5000);
    }
    await shorten(1);
    expect(await later(23 * HOUR_MS)).toBe(5000);
    await shorten(2);
    expect(await later(HOUR_MS)).toBe(0);
  });

  test("S4: of an erased org are free", async () => {
    const { kept } = await opened();
    for (let day = 0; day < 5; day++) {
      await keep(kept, 2000);
      clock.advance(DAY_MS);
    }
    while (await temp.store.act(() => kept.erase("org_1", 2)));
    expect(bytesOf(kept)).toEqual([0, 0]);
    expect(bytesOf((await opened(await temp.reopen())).kept)).toEqual([0, 0]);
  });
});

describe("S4: room", () => {
  test("S4: calls under way never take the same bytes", async () => {
    const pool = (await opened()).kept.pool(live);
    const rooms: KeptRoom[] = [];
    while (pool.fits(1000)) rooms.push(new KeptRoom(pool, 1000));
    expect(rooms.length).toBe(Math.floor(MAX / 1000));
    // All of one is used, another needs what is left, and a third more than that.
    expect([rooms[0]?.use(600), rooms[0]?.use(400)]).toEqual([true, true]);
    expect(rooms[1]?.use(1000 + (MAX % 1000))).toBe(true);
    expect(rooms[2]?.use(1001)).toBe(false);
    expect(rooms[2]?.use(1000)).toBe(true);
    for (const room of [...rooms, ...rooms]) room.release();
    expect(pool.reservedBytes).toBe(0);
    expect(pool.fits(MAX)).toBe(true);
  });

  test("S4: a quota of 0 is none, and another plan counts at once", async () => {
    const { kept } = await opened();
    const pool = kept.pool(live);
    expect(pool.fits(MAX + 1)).toBe(false);
    maxBytes = 0;
    kept.orgChanged("org_1");
    expect(pool.fits(Number.MAX_SAFE_INTEGER)).toBe(true);
    maxBytes = 10;
    kept.orgChanged("org_1");
    expect([pool.fits(10), pool.fits(11)]).toEqual([true, false]);
  });
});
