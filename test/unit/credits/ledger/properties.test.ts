import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { Hold } from "../../../../src/credits/ledger/purse.ts";
import type { Store } from "../../../../src/store/store.ts";
import {
  audit,
  ManualClock,
  openCredits,
  type TestCredits,
  tempStore,
  wholeLedger,
} from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());
const clock = new ManualClock("2026-03-01T10:00:00Z");

const amount = fc.integer({ min: 0, max: 2_000 });
const some = fc.integer({ min: 1, max: 2_000 });
const pick = fc.nat(1000);
const org = fc.nat(2);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant("hold" as const), org, amount }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("extend" as const), pick, amount }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("settle" as const), pick, part: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("overrun" as const), pick, amount: some }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("release" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("topup" as const), org, amount: some, pick }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("refund" as const), org, amount: some, pick }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("wait" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface OpenCall {
  readonly hold: Hold;
  readonly org: string;
  amount: number;
}

/** What the books must show, kept by plain arithmetic beside the real thing. */
class Model {
  readonly #credits: TestCredits;
  readonly #orgs: string[];
  readonly #holds: OpenCall[] = [];
  readonly #balances = new Map<string, number>();
  readonly #overrun = new Set<string>();
  readonly #pending: Promise<unknown>[] = [];
  #requests = 0;

  constructor(credits: TestCredits, orgs: string[]) {
    this.#credits = credits;
    this.#orgs = orgs;
  }

  async step(s: Step): Promise<void> {
    if (s.act === "wait") await this.idle();
    else if (s.act === "hold") this.#hold(this.#org(s.org), s.amount);
    else if (s.act === "topup") this.#post("topup", this.#org(s.org), s.amount, s.pick);
    else if (s.act === "refund") this.#post("refund", this.#org(s.org), -s.amount, s.pick);
    else if (this.#holds.length > 0) this.#onHold(s);
    this.check();
  }

  #onHold(s: Exclude<Step, { act: "wait" | "hold" | "topup" | "refund" }>): void {
    const index = s.pick % this.#holds.length;
    const open = this.#holds[index] as OpenCall;
    if (s.act === "extend") {
      const fits = this.#available(open.org) >= s.amount;
      expect(this.#credits.extend(open.hold, s.amount)).toBe(fits);
      if (fits) open.amount += s.amount;
      return;
    }
    this.#holds.splice(index, 1);
    if (s.act === "release") {
      this.#credits.release(open.hold);
      return;
    }
    const cost = s.act === "overrun" ? open.amount + s.amount : Math.floor((open.amount * s.part) / 100);
    if (s.act === "overrun") this.#overrun.add(open.org);
    const requestId = `R${++this.#requests}`;
    const settled = this.#credits.settle(open.hold, { requestId, amountMicroUsd: cost, atMs: clock.now() });
    this.#pending.push(settled);
    this.#balances.set(open.org, this.#balance(open.org) - cost);
  }

  #hold(org: string, amount: number): void {
    const fits = this.#available(org) >= amount;
    const hold = this.#credits.hold(org, amount);
    expect(hold !== undefined).toBe(fits);
    if (hold) this.#holds.push({ hold, org, amount });
  }

  /** References repeat now and then, as webhooks do. */
  #post(kind: "topup" | "refund", org: string, amountMicroUsd: number, pick: number): void {
    const before = this.#credits.balance(org).balanceMicroUsd;
    const posting = { kind, amountMicroUsd, refType: kind, refId: String(pick % 40) };
    this.#pending.push(this.#credits.post(org, posting));
    const change = this.#credits.balance(org).balanceMicroUsd - before;
    expect([0, amountMicroUsd]).toContain(change);
    this.#balances.set(org, this.#balance(org) + change);
  }

  check(): void {
    for (const org of this.#orgs) {
      const shown = this.#credits.balance(org);
      const held = this.#held(org);
      expect(shown.balanceMicroUsd).toBe(this.#balance(org));
      expect(shown.heldMicroUsd).toBe(held);
      if (!this.#overrun.has(org)) expect(shown.availableMicroUsd).toBeGreaterThanOrEqual(0);
    }
    expect(this.#credits.open().holds).toBe(this.#holds.length);
  }

  async idle(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
  }

  /** The books as another process would read them from disk. */
  checkOnDisk(store: Store): void {
    const fresh = openCredits({ store, clock });
    for (const org of this.#orgs) {
      expect(audit(wholeLedger(fresh, org))).toBe(this.#balance(org));
      expect(fresh.balance(org)).toMatchObject({ balanceMicroUsd: this.#balance(org), heldMicroUsd: 0 });
    }
  }

  #org = (index: number): string => this.#orgs[index] as string;
  #balance = (org: string): number => this.#balances.get(org) ?? 0;
  #held = (org: string): number =>
    this.#holds.filter((h) => h.org === org).reduce((sum, h) => sum + h.amount, 0);
  #available = (org: string): number => this.#balance(org) - this.#held(org);
}

let runs = 0;
const freshOrgs = (): string[] => {
  runs += 1;
  return [0, 1, 2].map((i) => `org_${runs}_${i}`);
};

const steps = fc.array(step, { minLength: 1, maxLength: 120 });

describe("whatever the order of holds, extensions, settles, releases and postings", () => {
  test("balance = sum of the ledger, held = open holds, available >= 0, seq without gaps", async () => {
    const act = async (list: Step[]) => {
      const model = new Model(openCredits({ store: folder.store, clock }), freshOrgs());
      for (const s of list) await model.step(s);
      await model.idle();
      model.check();
      model.checkOnDisk(folder.store);
    };
    await fc.assert(fc.asyncProperty(steps, act), { numRuns: 150 });
  });

  test("the same after the folder is closed and opened again", async () => {
    const act = async (list: Step[]) => {
      const model = new Model(openCredits({ store: folder.store, clock }), freshOrgs());
      for (const s of list) await model.step(s);
      // No wait: closing the store is what waits for the queue.
      model.checkOnDisk(await folder.reopen());
    };
    await fc.assert(fc.asyncProperty(steps, act), { numRuns: 15 });
  });
});

test("T35: until its commit a settle is not acknowledged, and its balance is already gone", async () => {
  const { store } = folder;
  const credits = openCredits({ store, clock });
  const posting = { kind: "topup", amountMicroUsd: 100, refType: "t", refId: "1" } as const;
  const posted = credits.post("org_full", posting);
  const hold = credits.hold("org_full", 100);
  if (hold === undefined) throw new Error("no credit");
  const acknowledged = credits.settle(hold, { requestId: "R", amountMicroUsd: 80, atMs: clock.now() });
  expect(credits.hold("org_full", 21)).toBeUndefined();
  expect(credits.entries("org_full", { limit: 9 })).toEqual([]);
  await Promise.all([posted, acknowledged]);
  expect(audit(wholeLedger(credits, "org_full"))).toBe(20);
});
