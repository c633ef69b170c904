/** An org with thousands of grants: what a reading of its lots follows, and what is stored of them, stays small. */
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openCredits } from "../../../../src/credits/ledger/credits.ts";
import type { Lots } from "../../../../src/credits/ledger/lots.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

test("of 1,000 grants without an end few lots are kept, no entry but the last is followed again, and the sum is the balance", async () => {
  const { store } = folder;
  const { book, lots } = openCredits({ store, clock: new ManualClock("2026-03-01T10:00:00Z") });
  const org = "org_many";
  for (let i = 0; i < 1_000; i += 100) {
    await store.act(() => {
      for (let j = i; j < i + 100; j++)
        book.post(org, { kind: "grant", amountMicroUsd: 10 + j, refType: "grant", refId: `g${j}` });
    });
    await store.act(() => book.charge(org, { requestId: `R${i}`, amountMicroUsd: 50, atMs: 1 }));
  }
  const { grants, paidMicroUsd, seq } = lots.of(org);
  expect(grants.length).toBeLessThanOrEqual(20);
  const sum = grants.reduce((left, { leftMicroUsd }) => left + leftMicroUsd, 0);
  expect([sum, paidMicroUsd]).toEqual([book.balance(org).balanceMicroUsd, 0]);
  expect(store.table<Lots>("credits.lots").get([org])?.seq).toBe(seq - 1);
});

test("of 500 grants that expire few lots are kept, and a first reading after a restart follows few entries", async () => {
  const { store } = folder;
  const clock = new ManualClock("2026-03-01T10:00:00Z");
  const { book, lots } = openCredits({ store, clock });
  const org = "org_expiring";
  for (let i = 0; i < 500; i += 10) {
    await store.act(() => {
      for (let j = i; j < i + 10; j++) {
        book.post(org, { kind: "grant", amountMicroUsd: 10 + j, refType: "grant", refId: `e${j}` });
        lots.expires(org, `e${j}`, 1_000 + ((j * 37) % 1_009));
      }
    });
  }
  const { balanceMicroUsd, grantedMicroUsd } = book.balance(org);
  const again = openCredits({ store, clock });
  const row = store.table<Lots>("credits.lots").get([org]);
  expect([row?.grants.length, 500 - (row?.seq ?? 0) < 10]).toEqual([100, true]);
  expect(again.book.balance(org)).toEqual({ balanceMicroUsd, grantedMicroUsd });
  const { grants } = again.lots.of(org);
  expect(grants.length).toBe(100);
  expect(grants.reduce((sum, { leftMicroUsd }) => sum + leftMicroUsd, 0)).toBe(balanceMicroUsd);
});

test("a row that an earlier release let grow is short after the next entry, and says what was granted", async () => {
  const { store } = folder;
  const clock = new ManualClock("2026-03-01T10:00:00Z");
  const { book, lots } = openCredits({ store, clock });
  const org = "org_long";
  const lot = (i: number) => ({
    refType: "grant",
    refId: `l${i}`,
    seq: i + 1,
    leftMicroUsd: 5,
    expiresAtMs: i,
  });
  for (let i = 0; i < 300; i++)
    await store.act(() => {
      book.post(org, { kind: "grant", amountMicroUsd: 5, refType: "grant", refId: `l${i}` });
      lots.expires(org, `l${i}`, i);
    });
  const grants = Array.from({ length: 300 }, (_, i) => lot(i));
  const old = { seq: 300, balanceMicroUsd: 1_500, paidMicroUsd: 0, grants };
  await store.act(() => store.table<Lots>("credits.lots").put([org], old));
  const again = openCredits({ store, clock });
  expect(again.book.balance(org)).toEqual({ balanceMicroUsd: 1_500, grantedMicroUsd: 1_500 });
  for (const refId of ["a", "b"])
    await store.act(
      () => void again.book.post(org, { kind: "topup", amountMicroUsd: 1, refType: "topup", refId }),
    );
  const row = store.table<Lots>("credits.lots").get([org]);
  expect([row?.grants.length, row?.grantedMicroUsd]).toEqual([100, 1_500]);
});

/** Each grant apart, however many: what lots stand for. */
class PlainCredit {
  paid = 0;
  grants: { atMs: number; left: number }[] = [];

  grant(amount: number, atMs: number): void {
    this.grants.push({ atMs, left: amount });
    this.grants.sort((a, b) => a.atMs - b.atMs);
    this.#payDebt();
  }

  spend(amount: number): void {
    let left = amount;
    for (const grant of this.grants) {
      const taken = Math.min(left, grant.left);
      grant.left -= taken;
      left -= taken;
    }
    this.grants = this.grants.filter((grant) => grant.left > 0);
    this.paid -= left;
  }

  topUp(amount: number): void {
    this.paid += amount;
    this.#payDebt();
  }

  #payDebt(): void {
    const debt = -this.paid;
    if (debt <= 0) return;
    this.paid = 0;
    this.spend(debt);
  }
}

const MICRO = { min: 1, max: 40 };
const STEP = fc.oneof(
  fc.record({
    do: fc.constant("grant" as const),
    ends: fc.array(fc.nat(10_000), { minLength: 40, maxLength: 60, size: "max" }),
    n: fc.integer(MICRO),
  }),
  fc.record({ do: fc.constant("spend" as const), n: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ do: fc.constant("topup" as const), n: fc.integer(MICRO) }),
);
type Step = typeof STEP extends fc.Arbitrary<infer S> ? S : never;

function doPlainly(plain: PlainCredit, step: Step): void {
  if (step.do === "spend") plain.spend(step.n);
  else if (step.do === "topup") plain.topUp(step.n);
  else for (const atMs of step.ends) plain.grant(step.n, atMs);
}

const creditUntil = (all: readonly { left: number; atMs: number }[], ms = Number.POSITIVE_INFINITY) =>
  all.reduce((total, { left, atMs }) => (atMs <= ms ? total + left : total), 0);

test("with any number of grants, sums are those of each grant apart, and no credit expires sooner", async () => {
  const { store } = folder;
  const { book, lots } = openCredits({ store, clock: new ManualClock("2026-03-01T10:00:00Z") });
  const act = (org: string, step: Step, name: string) =>
    store.act(() => {
      const { n: amountMicroUsd } = step;
      if (step.do === "spend") book.charge(org, { requestId: `R${org}${name}`, amountMicroUsd, atMs: 1 });
      if (step.do === "topup")
        book.post(org, { kind: "topup", amountMicroUsd, refType: "topup", refId: name });
      if (step.do !== "grant") return;
      for (const [j, atMs] of step.ends.entries()) {
        book.post(org, { kind: "grant", amountMicroUsd, refType: "grant", refId: `${name}.${j}` });
        lots.expires(org, `${name}.${j}`, atMs);
      }
    });
  let orgs = 0;
  let most = 0;
  const property = fc.asyncProperty(
    fc.array(STEP, { minLength: 8, maxLength: 12, size: "max" }),
    async (steps) => {
      const org = `plain_${++orgs}`;
      const plain = new PlainCredit();
      let given = 0;
      for (const [i, step] of steps.entries()) {
        await act(org, step, `s${i}`);
        doPlainly(plain, step);
        if (step.do === "grant") given += step.ends.length;
        const { paidMicroUsd, grants } = lots.of(org);
        const known = grants.map(({ leftMicroUsd, expiresAtMs }) => ({
          left: leftMicroUsd,
          atMs: expiresAtMs ?? 0,
        }));
        expect([paidMicroUsd, creditUntil(known)]).toEqual([plain.paid, creditUntil(plain.grants)]);
        expect(known.length).toBeLessThanOrEqual(100);
        for (const { atMs } of known)
          expect(creditUntil(known, atMs)).toBeLessThanOrEqual(creditUntil(plain.grants, atMs));
        if (given <= 100) expect(known.map(({ left }) => left)).toEqual(plain.grants.map(({ left }) => left));
        most = Math.max(most, plain.grants.length);
      }
    },
  );
  await fc.assert(property, { numRuns: 6, seed: 15 });
  expect(most).toBeGreaterThan(150);
});
