/** Faults are planted in one book at a time; each is found, and nothing else is. */

import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import { HOUR_MS } from "../../../../src/base/time.ts";
import { GatewayError } from "../../../../src/billing/payments/gateway.ts";
import { FINDING_KINDS } from "../../../../src/billing/reconciliation/finding.ts";
import { missedDays, nextNight, reconciler } from "../../../../src/billing/reconciliation/job.ts";
import type { TopupRow } from "../../../../src/billing/topups/topup.ts";
import type { StoredEntry } from "../../../../src/credits/ledger/entry.ts";
import { someOrg } from "../fixtures.ts";
import { type Books, kindsOf, openBooks } from "./fixtures.ts";

const DAY = "2026-11-23";
const [ORG, ABROAD] = [someOrg(), someOrg("US")];
const ORGS = [ORG, ABROAD].sort((a, b) => (a.id < b.id ? -1 : 1));

let books: Books;
beforeEach(() => {
  books = openBooks(ORGS);
});
afterEach(() => books.close());

/** To the night after. */
const overnight = () => books.clock.set("2026-11-23T20:00:00Z");
const rowsOf = <V>(name: string) => books.store.table<V>(name);
const act = (run: () => void) => books.store.act(run);

/** A day on which all went well. */
async function goodDay(): Promise<TopupRow[]> {
  const rows = [await books.bought(ORG, 100_000), await books.bought(ABROAD, 2_500)];
  await books.spend(ORG.id, 1_000_000);
  await books.refunded(rows[1] as TopupRow, 500);
  return rows;
}

test("a day on which all went well has no findings, and its sums agree", async () => {
  await goodDay();
  overnight();
  const report = await books.run(DAY);
  expect([kindsOf(report), report.isComplete, books.alarms]).toEqual([[], true, []]);
  expect(report.totals.gateway_payments).toMatchObject([
    { currency: "INR", count: 1, minor: 118_000, feeMinor: 12 },
    { currency: "USD", count: 1, minor: 2_500 },
  ]);
  expect(report.totals.topups).toEqual(report.totals.gateway_payments);
  expect(report.totals.invoices.map(({ minor }) => minor)).toEqual([118_000, 2_500]);
  expect(report.totals.refunds).toMatchObject([{ minor: 500 }]);
  expect(report.totals.credit_notes).toMatchObject([{ minor: 500 }]);
  expect(report.ledger).toEqual({ entries: 4, orgs: 2 });
});

/** Each plants one fault beside a good day. @returns what healed it must leave */
const FAULTS: Record<string, { plant: (rows: TopupRow[]) => Promise<void>; found: string; after: string[] }> =
  {
    "a payment that nobody told us of": {
      async plant() {
        await books.pay(await books.topup(ORG, 50_000));
      },
      found: "paid_not_credited open",
      after: ["paid_not_credited healed"],
    },
    "a payment without a top-up": {
      async plant([row]) {
        await books.pay(row as TopupRow, { ref: "pay_stranger", reference: "" });
        books.told.lines.push({
          ...(books.told.lines.pop() as never as (typeof books.told.lines)[0]),
          reference: "",
        });
      },
      found: "paid_not_credited open",
      after: ["paid_not_credited parked"],
    },
    "a second payment of a top-up": {
      async plant([row]) {
        await books.pay(row as TopupRow, { ref: "pay_twice" });
      },
      found: "paid_not_credited open",
      after: ["paid_not_credited parked"],
    },
    "a payment of another amount": {
      async plant() {
        await books.pay(await books.topup(ORG, 50_000), { total: { currency: "INR", minor: 58_999 } });
      },
      found: "amount_differs open",
      after: ["amount_differs parked"],
    },
    "a payment that the payment gateway lost": {
      async plant([row]) {
        books.told.payments.delete(row?.paymentRef ?? "");
        books.told.lines.splice(
          0,
          books.told.lines.length,
          ...books.told.lines.filter(({ ref }) => ref !== row?.paymentRef),
        );
      },
      found: "credited_not_paid open",
      after: ["credited_not_paid parked"],
    },
    "a payment whose amount changed after it was credited": {
      async plant() {
        const [line] = books.told.lines.splice(0, 1);
        if (line !== undefined)
          books.told.lines.push({ ...line, amount: { ...line.amount, minor: 117_999 } });
      },
      found: "amount_differs open",
      after: ["amount_differs parked"],
    },
    "a refund in the dashboard": {
      plant: async ([row]) => void books.refundAt(row as TopupRow, "re_dashboard", "", 59_000),
      found: "refund_unknown open",
      after: ["refund_unknown healed"],
    },
    "a refund that the payment gateway never made": {
      async plant() {
        const [refund] = books.told.refunds.keys();
        books.told.refunds.clear();
        books.told.lines.splice(
          0,
          books.told.lines.length,
          ...books.told.lines.filter(({ ref }) => ref !== refund),
        );
      },
      found: "refund_missing open",
      after: ["refund_missing parked"],
    },
    "a dispute that nobody told us of": {
      async plant([row]) {
        const amount = { currency: "INR", minor: 118_000 } as const;
        const ids = { ref: "dp_1", paymentRef: row?.paymentRef ?? "" };
        books.told.disputes.set("dp_1", { ...ids, amount, state: "withdrawn", reason: "fraudulent" });
        books.lineOf("dispute", { ...ids, reference: "" }, amount);
      },
      found: "dispute_unknown open",
      after: ["dispute_unknown healed"],
    },
    "a top-up without its ledger entry": {
      async plant([row]) {
        await act(() => rowsOf("ledger.references").remove([ORG.id, "topup", row?.id ?? ""]));
      },
      found: "no_ledger_entry open",
      after: ["no_ledger_entry parked"],
    },
    "a top-up in the ledger that was never paid": {
      async plant() {
        const { id } = await books.topup(ORG, 70_000);
        const posting = { kind: "topup", amountMicroUsd: 5, refType: "topup", refId: id } as const;
        await act(() => void books.book.post(ORG.id, posting));
      },
      found: "ledger_without_topup open",
      after: ["ledger_without_topup open"],
    },
    "a refund in the ledger that nobody asked for": {
      async plant() {
        const posting = { kind: "refund", amountMicroUsd: -5, refType: "refund", refId: "rfd_0" } as const;
        await act(() => void books.book.post(ORG.id, posting));
      },
      found: "ledger_without_refund open",
      after: ["ledger_without_refund open"],
    },
    "a top-up without its invoice": {
      async plant([row]) {
        await act(() => rowsOf("invoices.references").remove([ORG.id, "topup", row?.id ?? ""]));
      },
      found: "no_invoice open",
      after: ["no_invoice parked"],
    },
    "a refund without its credit note": {
      async plant() {
        const [refund] = books.deps.refunds.of(ABROAD.id);
        await act(() => rowsOf("invoices.references").remove([ABROAD.id, "refund", refund?.id ?? ""]));
      },
      found: "no_credit_note open",
      after: ["no_credit_note parked"],
    },
    "an invoice of a top-up that was not paid": {
      async plant([row]) {
        const { id } = await books.topup(ORG, 70_000);
        const [invoice] = books.invoicesOf(ORG.id);
        const order = { ...invoice, reference: { type: "topup", id }, topupId: id, kind: "payment" };
        await act(() => void books.invoices.issue(order as never));
        expect(row).toBeDefined();
      },
      found: "invoice_without_payment open",
      after: ["invoice_without_payment open"],
    },
    "a number that a series lacks": {
      async plant() {
        await act(() => void rowsOf<number>("invoices.series").put(["TI", "2026-27"], 3));
        await books.bought(ORG, 20_000);
      },
      found: "series_gap open",
      after: ["series_gap open"],
    },
    "a balance that is not the sum": {
      async plant() {
        const ledger = rowsOf<StoredEntry>("ledger");
        const [kind, amount, balance, ...rest] = ledger.get([ORG.id, 2]) as StoredEntry;
        await act(() => ledger.put([ORG.id, 2], [kind, amount, balance + 1, ...rest] as never));
      },
      found: "balance_not_sum open",
      after: ["balance_not_sum open"],
    },
    "a payment that is parked": {
      async plant([row]) {
        const given = {
          gateway: "simulated",
          ref: "pay_odd",
          orgId: ORG.id,
          topupId: row?.id ?? "",
          detail: "",
        };
        const what = { ...given, currency: "INR", minor: 1, reason: "fraud_warning" } as const;
        await act(() => void books.deps.parked.park(what, books.clock.now()));
      },
      found: "parked_open parked",
      after: ["parked_open parked"],
    },
    "a fee that the payment gateway corrected": {
      async plant() {
        const [line] = books.told.lines.splice(0, 1);
        if (line !== undefined) books.told.lines.push({ ...line, feeMinor: 99 });
      },
      found: "fee_differs open",
      after: ["fee_differs open"],
    },
  };

describe("a planted fault is found, and nothing else", () => {
  test.each(Object.entries(FAULTS))("%s", async (_, { plant, found, after }) => {
    await plant(await goodDay());
    overnight();
    const before = JSON.stringify([books.ledger(ORG.id), [...books.deps.parked.all()].length]);
    expect(kindsOf(await books.compare(DAY))).toEqual([found]);
    expect(JSON.stringify([books.ledger(ORG.id), [...books.deps.parked.all()].length])).toBe(before);
    expect(kindsOf(await books.run(DAY))).toEqual(after);
    const isLeft = !after[0]?.endsWith("healed") && !found.startsWith("fee");
    expect(books.alarms).toHaveLength(isLeft ? 1 : 0);
    // A second run finds the same, and does nothing twice.
    const once = JSON.stringify([
      books.ledger(ORG.id),
      books.invoicesOf(ORG.id),
      [...books.deps.parked.all()],
    ]);
    expect(kindsOf(await books.run(DAY))).toEqual(after);
    expect(
      JSON.stringify([books.ledger(ORG.id), books.invoicesOf(ORG.id), [...books.deps.parked.all()]]),
    ).toBe(once);
  });
});

test("numbers that are missing between two days are found on the second one", async () => {
  await goodDay();
  overnight();
  expect(kindsOf(await books.run(DAY))).toEqual([]);
  await act(() => void rowsOf<number>("invoices.series").put(["TI", "2026-27"], 3));
  await books.bought(ORG, 20_000);
  books.clock.set("2026-11-24T20:00:00Z");
  const { findings } = await books.run("2026-11-24");
  expect(findings.map(({ kind, detail }) => [kind, detail])).toEqual([
    ["series_gap", "TI 2026-27: 4 follows 2"],
  ]);
});

test("a payment around midnight is no fault, on whichever day each side has it", async () => {
  books.clock.set("2026-11-23T18:29:59Z"); // One second before midnight in India.
  const row = await books.topup(ORG, 100_000);
  const made = await books.pay(row);
  books.clock.advance(5_000);
  await books.settled(row, { ...made, paidAtMs: null });
  books.clock.set("2026-11-25T00:00:00Z");
  for (const day of [DAY, "2026-11-24"]) expect(kindsOf(await books.run(day))).toEqual([]);
});

test("what an operator has closed is found no more", async () => {
  const row = await books.topup(ORG, 50_000);
  await books.pay(row, { total: { currency: "INR", minor: 1 } });
  overnight();
  expect(kindsOf(await books.run(DAY))).toEqual(["amount_differs parked"]);
  for (const parked of [...books.deps.parked.all()])
    await act(() => void books.deps.parked.close(parked, "sent back", books.clock.now()));
  expect(kindsOf(await books.run(DAY))).toEqual([]);
});

test("a payment gateway that is away fails the run, and a later run heals what it then tells", async () => {
  await books.pay(await books.topup(ORG, 50_000));
  overnight();
  books.told.failure = new GatewayError("unclear", "no answer");
  await expect(books.run(DAY)).rejects.toMatchObject({ kind: "gateway_unavailable" });
  expect(books.reconciliation.stored(DAY)).toBeUndefined();
  books.told.failure = undefined;
  expect(kindsOf(await books.run(DAY))).toEqual(["paid_not_credited healed"]);
});

test.each(["2026-02-30", "2026-11-24", "2027-01-01"])("%s cannot be reconciled", async (day) => {
  overnight();
  await expect(books.compare(day)).rejects.toMatchObject({ kind: "invalid_value" });
});

test("the nightly job runs each day once, and fails where the payment gateway is away", async () => {
  const { reconciliation, clock, told } = books;
  const job = reconciler(reconciliation, clock);
  const given = {
    key: "installation",
    orgId: "",
    createdAtMs: 0,
    attempt: 1,
    signal: AbortSignal.timeout(60_000),
  };
  await books.pay(await books.topup(ORG, 50_000));
  overnight();
  told.failure = new GatewayError("busy", "no answer");
  await expect(job.run({}, given)).rejects.toMatchObject({ kind: "gateway_unavailable" });
  told.failure = undefined;
  const next = { againAtMs: Date.parse("2026-11-24T20:00:00Z") };
  expect(await job.run({}, given)).toEqual(next);
  const made = reconciliation.stored(DAY)?.ranAtMs;
  clock.advance(1000);
  expect(await job.run({}, given)).toEqual(next);
  expect([reconciliation.stored(DAY)?.ranAtMs, books.ledger(ORG.id).length]).toEqual([made, 1]);
});

test("nights that were missed are made up for, the oldest first", async () => {
  const at = (day: string) => ({
    newest: () => (day === "" ? undefined : ({ day } as never)),
    stored: () => undefined,
  });
  const yesterday = () => DAY;
  expect(missedDays({ ...at(""), yesterday })).toEqual([DAY]);
  expect(missedDays({ ...at("2026-11-21"), yesterday })).toEqual(["2026-11-22", DAY]);
  expect(missedDays({ ...at(DAY), yesterday })).toEqual([]);
  expect(missedDays({ ...at("2026-01-01"), yesterday })).toHaveLength(7);
  expect(new Date(nextNight(Date.parse("2026-11-23T10:00:00Z"))).toISOString()).toBe(
    "2026-11-23T20:00:00.000Z",
  );
  expect(new Date(nextNight(Date.parse("2026-11-23T20:00:00Z"))).toISOString()).toBe(
    "2026-11-24T20:00:00.000Z",
  );
});

test("thirty random days: every planted fault is found, and nothing else", async () => {
  const random = seededRandom(141);
  const some = (n: number) => Math.floor(random() * n);
  const unpaid = ["a payment that nobody told us of", "a payment of another amount"];
  books.clock.set("2026-10-20T04:00:00Z");
  for (let i = 0; i < 30; i++) {
    const day = new Date(books.clock.now()).toISOString().slice(0, 10);
    const planted: string[] = [];
    for (let n = some(5); n > 0; n--) {
      const row = await books.bought(ORGS[some(2)] as typeof ORG, 10_000 + some(90_000));
      if (random() < 0.4) await books.refunded(row, 1 + some(5_000));
      if (random() < 0.3) {
        books.refundAt(row, `re_dash_${i}_${n}`, "", 1_000);
        planted.push("refund_unknown healed");
      }
      books.clock.advance(some(HOUR_MS));
    }
    const fault = FAULTS[unpaid[some(3)] ?? ""];
    if (fault !== undefined) {
      await fault.plant([]);
      planted.push(...fault.after);
    }
    books.clock.set(`${day}T20:00:00Z`);
    const report = await books.run(day);
    const today = report.findings.filter(({ kind }) => kind !== "parked_open");
    expect([day, kindsOf({ findings: today })]).toEqual([day, planted.sort()]);
    books.clock.set(Date.parse(`${day}T04:00:00Z`) + 24 * HOUR_MS);
  }
});

test("a day of many payments leaves room for other work", async () => {
  const [row] = await goodDay();
  const [line] = books.told.lines.filter(({ ref }) => ref === row?.paymentRef);
  const many = Array.from({ length: 20_000 }, () => ({ ...line }) as NonNullable<typeof line>);
  for (const one of many) books.told.lines.push(one);
  overnight();
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const report = await books.compare(DAY);
  isOver = true;
  expect(report.totals.gateway_payments[0]?.count).toBe(20_001);
  // One for each fifty lines.
  expect(turns).toBeGreaterThan(400 - 2);
});

test("the document lists the kinds as the code has them", () => {
  const text = readFileSync(new URL("../../../../docs/reconciliation.md", import.meta.url), "utf8");
  const listed = [...text.matchAll(/^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$/gm)].map(([, kind, meaning]) => [
    kind,
    meaning,
  ]);
  const known = Object.entries(FINDING_KINDS).map(([kind, { meaning }]) => [kind, meaning]);
  expect(listed).toEqual(known);
});
