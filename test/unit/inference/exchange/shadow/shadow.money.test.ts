/** Who pays for a shadow call, out of what, and that nothing stays held. */
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { giveData } from "../../../../support/upstream/give-data.ts";
import { ANSWER_MICRO_USD, answerWhole, bench, ENDED, type Sent, turn } from "../shadow.fixtures.ts";

const b = bench();
const { credits, faults, rows, sent } = b;
beforeEach(() => {
  for (const list of [sent, rows, faults]) list.length = 0;
});
afterAll(() => b.dispose());

const last = (): Sent => sent.at(-1) as Sent;
const committed = () => b.deps.store.act(() => {});
const NOTHING_HELD = { holds: 0, heldMicroUsd: 0 };

describe("who pays", () => {
  const settled = (orgId: string) =>
    credits.entries(orgId, { limit: 10 }).filter(({ kind }) => kind === "settle");
  test("the platform: the org's ledger and holds stay as they are", async () => {
    const orgId = await b.org(1_000_000);
    const run = b.open().start(b.begun({ key: { orgId } }));
    await turn();
    expect(credits.open()).toEqual(NOTHING_HELD);
    answerWhole(last());
    run?.primaryEnded(ENDED);
    await committed();
    expect(settled(orgId)).toEqual([]);
    expect(rows).toEqual([expect.objectContaining({ charged: false, shadowCostMicroUsd: ANSWER_MICRO_USD })]);
  });

  test("the org: an entry of the copy's own over exactly its cost, out of a hold of its worst case", async () => {
    const orgId = await b.org(1_000_000);
    const run = b.open().start(b.begun({ bill: "org", key: { orgId } }));
    await turn();
    // 100 tokens out at 800 nano-USD are the most of it; nobody knows the prompt's tokens yet.
    expect(credits.open()).toEqual({ holds: 1, heldMicroUsd: expect.any(Number) });
    expect(credits.open().heldMicroUsd).toBeGreaterThan(80);
    answerWhole(last());
    expect(settled(orgId)).toEqual([]);
    run?.primaryEnded(ENDED);
    await committed();
    const [row] = rows;
    expect(settled(orgId)).toEqual([
      expect.objectContaining({ requestId: row?.shadowRequestId, amountMicroUsd: -ANSWER_MICRO_USD }),
    ]);
    expect(row).toMatchObject({ charged: true, bill: "org", shadowCostMicroUsd: ANSWER_MICRO_USD });
    expect([credits.open(), faults]).toEqual([NOTHING_HELD, []]);
  });

  test("the org, for a copy that was cut: what had come of it, never beyond its hold", async () => {
    const orgId = await b.org(1_000_000);
    const shadows = b.open();
    const run = shadows.start(
      b.begun({ bill: "org", key: { orgId }, body: { stream: true, max_tokens: 2 } }),
    );
    await turn();
    const { heldMicroUsd } = credits.open();
    const text = { choices: [{ index: 0, delta: { content: "word ".repeat(1000) }, finish_reason: null }] };
    last().handler.onHead(200, { "content-type": "text/event-stream" });
    giveData(last().handler, `data: ${JSON.stringify({ id: "x", created: 1, model: "m", ...text })}\n\n`);
    await Promise.resolve();
    run?.primaryEnded({ ...ENDED, status: "cancelled" });
    await committed();
    const [entry] = settled(orgId);
    expect(-(entry?.amountMicroUsd ?? 0)).toBe(rows[0]?.shadowCostMicroUsd);
    expect(rows[0]).toMatchObject({ shadowStatus: "cancelled", shadowOutputTokens: 2 });
    expect(rows[0]?.shadowCostMicroUsd).toBeLessThanOrEqual(heldMicroUsd);
    expect(credits.open()).toEqual(NOTHING_HELD);
  });

  test("nobody, where the call itself could not be settled: the copy ends, and nothing stays held", async () => {
    const orgId = await b.org(1_000_000);
    const run = b.open().start(b.begun({ bill: "org", key: { orgId } }));
    await turn();
    run?.primaryEnded(undefined);
    run?.primaryEnded(ENDED);
    await committed();
    expect([last().cancelled, settled(orgId), credits.open()]).toEqual([true, [], NOTHING_HELD]);
    expect(rows.map(({ primaryStatus }) => primaryStatus)).toEqual(["cancelled"]);
  });

  test("an org without the credit for it has no copy", async () => {
    const orgId = await b.org(10);
    const shadows = b.open();
    shadows.start(b.begun({ bill: "org", key: { orgId } }));
    await turn();
    expect([sent, shadows.counts()]).toEqual([[], { live: 0, sent: 0, dropped: 1 }]);
    expect(credits.balance(orgId).availableMicroUsd).toBe(10);
  });

  test("C14: an org whose calls wait for credit pays for no copy, and has those that the platform pays for", async () => {
    const orgId = await b.org(1_000_000);
    const shadows = b.open({ isAwaited: (id) => id === orgId });
    shadows.start(b.begun({ bill: "org", key: { orgId } }));
    shadows.start(b.begun({ bill: "platform", key: { orgId } }));
    await turn();
    expect(sent).toHaveLength(1);
    expect(shadows.counts()).toEqual({ live: 1, sent: 0, dropped: 1 });
  });

  test("the org's budgets count its copies; one without room for a copy has none, and is not told to be used up", async () => {
    const orgId = await b.org(1_000_000);
    const keyed = (keyId: string, dailyMicroUsd: number) => ({
      orgId,
      keyId,
      projectId: "prj_budget",
      timeZone: "UTC",
      keyBudget: { dailyMicroUsd, hard: true },
    });
    const shadows = b.open();
    const run = shadows.start(b.begun({ bill: "org", key: keyed("key_roomy", 1000) }));
    await turn();
    expect(b.budgets.openHolds()).toBe(1);
    answerWhole(last());
    run?.primaryEnded(ENDED);
    await committed();
    const scope = { orgId, keyId: "key_roomy", projectId: "prj_budget", timeZone: "UTC" };
    expect([b.budgets.spendOfKey(scope).todayMicroUsd, b.budgets.openHolds()]).toEqual([ANSWER_MICRO_USD, 0]);

    shadows.start(b.begun({ bill: "org", key: keyed("key_tight", 20) }));
    await turn();
    expect([shadows.counts().dropped, credits.open(), b.usedUp]).toEqual([1, NOTHING_HELD, []]);
  });

  test("the org, where the operator pays for no copies", async () => {
    const orgId = await b.org(1_000_000);
    const run = b.open({ platformShadows: false }).start(b.begun({ key: { orgId } }));
    await turn();
    answerWhole(last());
    run?.primaryEnded(ENDED);
    await committed();
    expect(settled(orgId)).toHaveLength(1);
    expect(rows).toEqual([expect.objectContaining({ charged: true, bill: "org" })]);
  });

  test("nobody, where a test key asks", async () => {
    const orgId = await b.org(0);
    const run = b.open().start(b.begun({ bill: "org", key: { orgId, environment: "test" } }));
    await turn();
    answerWhole(last());
    run?.primaryEnded(ENDED);
    await committed();
    expect(rows).toEqual([expect.objectContaining({ charged: false, bill: "org" })]);
    expect(settled(orgId)).toEqual([]);
  });

  test("nobody, for a copy that failed; its hold is gone", async () => {
    const orgId = await b.org(1_000_000);
    const run = b.open().start(b.begun({ bill: "org", key: { orgId } }));
    await turn();
    answerWhole(last(), "{}", 500);
    run?.primaryEnded(ENDED);
    await committed();
    expect([settled(orgId), credits.open(), rows.length]).toEqual([[], NOTHING_HELD, 1]);
  });
});
