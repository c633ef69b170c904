import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ManualClock, openCredits, type TestCredits, tempStore } from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

const clock = new ManualClock("2026-03-01T10:00:00Z");
let credits: TestCredits;
let org: string;
let orgs = 0;

async function fund(microUsd: number) {
  await credits.post(org, { kind: "topup", amountMicroUsd: microUsd, refType: "topup", refId: "t" });
}
function take(microUsd: number) {
  const hold = credits.hold(org, microUsd);
  if (hold === undefined) throw new Error("no credit");
  return hold;
}
const cost = (amountMicroUsd: number) => ({ requestId: "R", amountMicroUsd, atMs: clock.now() });
/** balance, held, available */
const state = () => {
  const b = credits.balance(org);
  return [b.balanceMicroUsd, b.heldMicroUsd, b.availableMicroUsd];
};

beforeEach(() => {
  credits = openCredits({ store: folder.store, clock });
  org = `org_h${++orgs}`;
});

describe("holds", () => {
  test("a call is held, extended and settled for less", async () => {
    await fund(1000);
    expect(state()).toEqual([1000, 0, 1000]);
    const hold = take(300);
    expect(state()).toEqual([1000, 300, 700]);
    expect(credits.extend(hold, 200)).toBe(true);
    expect(state()).toEqual([1000, 500, 500]);
    const settled = credits.settle(hold, cost(120));
    // Before the commit already: the next hold must see it.
    expect(state()).toEqual([880, 0, 880]);
    expect(await settled).toMatchObject({ entry: { seq: 2, amountMicroUsd: -120 }, exceeded: false });
    expect(credits.open()).toEqual({ holds: 0, heldMicroUsd: 0 });
  });

  test("T24 T25: credit for one call admits exactly one of 200 at once, whoever asks", async () => {
    await fund(1000);
    const admitted = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const hold = credits.hold(org, 600);
        if (hold === undefined) return 0;
        await credits.settle(hold, cost(600));
        return 1;
      }),
    );
    expect(admitted.filter(Boolean)).toHaveLength(1);
    expect(state()).toEqual([400, 0, 400]);
  });

  test("T40: a hold grows only into what is available, never into another call's hold", async () => {
    await fund(1000);
    const stream = take(400);
    const other = take(500);
    expect(credits.extend(stream, 101)).toBe(false);
    expect(state()).toEqual([1000, 900, 100]);
    expect(credits.extend(stream, 100)).toBe(true);
    credits.release(other);
    expect(credits.extend(stream, 500)).toBe(true);
    await credits.settle(stream, cost(1000));
    expect(state()).toEqual([0, 0, 0]);
  });

  test("only an upstream that reports more than was held takes the balance below zero, and that is flagged", async () => {
    await fund(1000);
    const settled = await credits.settle(take(1000), cost(1050));
    expect(settled).toMatchObject({ entry: { amountMicroUsd: -1050, balanceMicroUsd: -50 }, exceeded: true });
    expect(state()).toEqual([-50, 0, -50]);
    expect(credits.hold(org, 1)).toBeUndefined();
  });

  test("T26: each hold closes exactly once; a second close throws and changes nothing", async () => {
    await fund(1000);
    const released = take(100);
    credits.release(released);
    const settled = take(100);
    await credits.settle(settled, cost(40));
    for (const hold of [released, settled]) {
      expect(() => credits.release(hold)).toThrow("settled or released before");
      await expect(credits.settle(hold, cost(1))).rejects.toThrow("settled or released before");
      expect(() => credits.extend(hold, 1)).toThrow("settled or released before");
    }
    expect(state()).toEqual([960, 0, 960]);
  });

  test("T26: a settle for what is no amount throws and leaves the hold open to be released", async () => {
    await fund(1000);
    const hold = take(100);
    for (const wrong of [-1, 0.5, Number.NaN, 2 ** 53]) {
      await expect(credits.settle(hold, cost(wrong))).rejects.toThrow("not an amount");
    }
    credits.release(hold);
    expect(state()).toEqual([1000, 0, 1000]);
  });

  test("T26: holds are memory only: a restart has none, and the balance as settled", async () => {
    await fund(1000);
    await credits.settle(take(200), cost(150));
    take(800);
    credits = openCredits({ store: await folder.reopen(), clock });
    expect(state()).toEqual([850, 0, 850]);
  });

  test("a settle's further puts commit with its entry, also when the cost is zero", async () => {
    const outbox = folder.store.table<string>("outbox-of-this-test");
    await fund(1000);
    const settle = (id: string, amount: number) =>
      credits.settle(take(10), { ...cost(amount), requestId: id, also: () => outbox.put(id, "row") });
    expect(await settle("A", 10)).toMatchObject({ entry: { seq: 2 } });
    expect(await settle("B", 0)).toEqual({ entry: undefined, exceeded: false });
    expect([outbox.get("A"), outbox.get("B")]).toEqual(["row", "row"]);
    expect(credits.entries(org, { limit: 9 }).map((e) => e.seq)).toEqual([2, 1]);
  });
});
