import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openCredits } from "../../../../src/credits/ledger/credits.ts";
import { type CreditLots, REFUND_FAILED } from "../../../../src/credits/ledger/lots.ts";
import type { Posting } from "../../../../src/credits/ledger/posting.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());
const clock = new ManualClock("2026-03-01T10:00:00Z");
let orgs = 0;

/** One org's credit, with what a test does to it. */
function open() {
  const { book, lots } = openCredits({ store: folder.store, clock });
  const org = `lots_${++orgs}`;
  let calls = 0;
  let posts = 0;
  return {
    lots: lots as CreditLots,
    org,
    balance: () => book.balance(org).balanceMicroUsd,
    post: (kind: Posting["kind"], amountMicroUsd: number, more: Partial<Posting> = {}) =>
      folder.store.act(() =>
        book.post(org, {
          kind,
          amountMicroUsd,
          refType: kind,
          refId: `p${++posts}`,
          mayOverdraw: true,
          ...more,
        }),
      ),
    grant: (amountMicroUsd: number, refId: string, expiresAtMs: number | null) =>
      folder.store.act(() => {
        book.post(org, { kind: "grant", amountMicroUsd, refType: "grant", refId });
        if (expiresAtMs !== null) lots.expires(org, refId, expiresAtMs);
      }),
    async spend(amountMicroUsd: number) {
      await folder.store.act(() =>
        book.charge(org, { requestId: `R${org}${++calls}`, amountMicroUsd, atMs: clock.now() }),
      );
    },
    shown() {
      const { paidMicroUsd, grants } = lots.of(org);
      return { paid: paidMicroUsd, grants: Object.fromEntries(grants.map((g) => [g.refId, g.leftMicroUsd])) };
    },
  };
}

describe("kinds of credit", () => {
  test("spending takes the grant that expires first, then other grants, then what was paid", async () => {
    const a = open();
    await a.post("topup", 50);
    await a.grant(30, "for ever", null);
    await a.grant(20, "late", 900);
    await a.grant(10, "soon", 500);
    await a.spend(15);
    expect(a.shown()).toEqual({ paid: 50, grants: { late: 15, "for ever": 30 } });
    await a.spend(40);
    expect(a.shown()).toEqual({ paid: 50, grants: { "for ever": 5 } });
    await a.spend(15);
    expect(a.shown()).toEqual({ paid: 40, grants: {} });
  });

  test("a refund takes paid credit, and gives it back where it fails", async () => {
    const a = open();
    await a.post("topup", 50);
    await a.grant(30, "g", null);
    await a.post("refund", -20);
    expect(a.shown()).toEqual({ paid: 30, grants: { g: 30 } });
    await a.post("adjustment", 20, { refType: REFUND_FAILED });
    expect(a.shown()).toEqual({ paid: 50, grants: { g: 30 } });
  });

  test("an operator's gift is a grant, and what an operator takes is spent", async () => {
    const a = open();
    await a.post("adjustment", 7, { refId: "gift" });
    await a.post("topup", 5);
    expect(a.shown()).toEqual({ paid: 5, grants: { gift: 7 } });
    await a.post("adjustment", -8);
    expect(a.shown()).toEqual({ paid: 4, grants: {} });
  });

  test("what expires is what is left of its grant", async () => {
    const a = open();
    await a.grant(10, "soon", 500);
    await a.spend(4);
    await a.post("expiry", -6, { refType: "expiry", refId: "soon" });
    expect(a.shown()).toEqual({ paid: 0, grants: {} });
  });

  test("a dispute may leave a debt, which the next credit pays, a grant too", async () => {
    const a = open();
    await a.post("topup", 50);
    await a.spend(30);
    await a.post("dispute", -50);
    expect(a.shown()).toEqual({ paid: -30, grants: {} });
    await a.grant(40, "g", null);
    expect(a.shown()).toEqual({ paid: 0, grants: { g: 10 } });
    await a.post("dispute_reversal", 50);
    expect(a.shown()).toEqual({ paid: 50, grants: { g: 10 } });
  });

  test("remembering where it stood changes nothing, and all parts together are the balance", async () => {
    const step = fc.oneof(
      fc.record({ what: fc.constant("spend" as const), n: fc.integer({ min: 1, max: 40 }) }),
      fc.record({
        what: fc.constant("grant" as const),
        n: fc.integer({ min: 1, max: 40 }),
        at: fc.option(fc.nat(5)),
      }),
      fc.record({
        what: fc.constantFrom("topup" as const, "dispute_reversal" as const),
        n: fc.integer({ min: 1, max: 40 }),
      }),
      fc.record({
        what: fc.constantFrom("refund" as const, "dispute" as const, "subscription" as const),
        n: fc.integer({ min: 1, max: 40 }),
      }),
      fc.record({ what: fc.constant("advance" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const a = open();
        const b = open();
        for (const [i, s] of steps.entries()) {
          for (const one of [a, b]) {
            if (s.what === "spend") await one.spend(s.n);
            else if (s.what === "grant") await one.grant(s.n, `g${i}`, s.at);
            else if (s.what === "advance") one === a && (await folder.store.act(() => a.lots.advance(a.org)));
            else await one.post(s.what, ["refund", "dispute", "subscription"].includes(s.what) ? -s.n : s.n);
          }
          expect(a.shown()).toEqual(b.shown());
          const { paid, grants } = a.shown();
          expect(Object.values(grants).reduce((sum, left) => sum + left, paid)).toBe(a.balance());
          // Grants are never left beside a debt.
          if (paid < 0) expect(grants).toEqual({});
        }
      }),
      { numRuns: 60, seed: 14 },
    );
  });
});
