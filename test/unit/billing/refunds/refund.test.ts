import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountTables } from "../../../../src/account/tables.ts";
import { newTicket } from "../../../../src/account/tickets/ticket.ts";
import { approveCorrection } from "../../../../src/billing/invoices/corrections/correction-operations.ts";
import type { PaymentGateway } from "../../../../src/billing/payments/gateway.ts";
import {
  askRefund,
  failRefund,
  refundableOf,
  refunder,
  sendRefund,
  settleRefund,
} from "../../../../src/billing/refunds/acts.ts";
import { followListed, followRefund } from "../../../../src/billing/refunds/foreign-refunds.ts";
import { settle } from "../../../../src/billing/topups/settlement.ts";
import type { TopupRow } from "../../../../src/billing/topups/topup.ts";
import { checkout, gatewayRefund, openBilling, payment, someOrg, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

async function paidTopup(org = someOrg(), amountMinor = 100_000): Promise<TopupRow> {
  const row = await billing.topup(org, amountMinor);
  await billing.store.act(() => settle(billing.deps, row.id, checkout(row, "complete", payment(row))));
  return row;
}

let keys = 0;
const ask = (row: TopupRow, amountMinor: number, idempotencyKey = `k${++keys}`) =>
  billing.store.act(() =>
    askRefund(billing.deps, row.orgId, row.id, { amountMinor, reason: "", idempotencyKey }),
  );
const refunded = (id: string) => billing.store.act(() => settleRefund(billing.deps, id, `re_${id}`));
const failed = (id: string) => billing.store.act(() => failRefund(billing.deps, id, "The bank refused it."));
const topup = (row: TopupRow) => billing.deps.topups.find(row.id) as TopupRow;
const refusal = (details: object) => expect.objectContaining({ kind: "not_refundable", details });

describe("a refund", () => {
  test("takes the credit when it is asked for, and writes a credit note when the money has gone back", async () => {
    const row = await paidTopup();
    const { refund } = await ask(row, 50_000);
    // Half of 11,077,877, rounded up.
    expect(billing.balance(row.orgId)).toBe(11_077_877 - 5_538_939);
    expect(billing.invoicesOf(row.orgId)).toHaveLength(1);
    await refunded(refund.id);
    await refunded(refund.id);
    expect(billing.invoicesOf(row.orgId).filter(({ kind }) => kind === "credit_note")).toMatchObject([
      { taxableMinor: 50_000, totalMinor: 59_000, heads: { cgstMinor: 4_500, sgstMinor: 4_500 } },
    ]);
    expect(topup(row)).toMatchObject({ status: "partially_refunded", refundedMinor: 50_000 });
    expect(billing.eventsOf(row.orgId).filter(({ type }) => type === "refund.settled")).toHaveLength(1);
  });

  test("that fails gives the credit back, once, and may be asked for again", async () => {
    const row = await paidTopup();
    const { refund } = await ask(row, 100_000);
    expect(billing.balance(row.orgId)).toBe(0);
    await failed(refund.id);
    await failed(refund.id);
    await refunded(refund.id);
    expect(billing.balance(row.orgId)).toBe(11_077_877);
    expect(topup(row)).toMatchObject({ status: "paid", refundedMinor: 0 });
    expect((await ask(row, 100_000)).refund.creditsMicroUsd).toBe(11_077_877);
  });

  test("asked for again with its key is the same one; with another amount it is refused", async () => {
    const row = await paidTopup();
    const first = await ask(row, 40_000, "same");
    expect(await ask(row, 40_000, "same")).toMatchObject({ refund: { id: first.refund.id }, replay: true });
    await expect(ask(row, 40_001, "same")).rejects.toMatchObject({ kind: "idempotency_mismatch" });
  });

  test("takes unspent paid credit only: what is spent, and what was granted, stays", async () => {
    const row = await paidTopup();
    const gift = { kind: "grant", amountMicroUsd: 3_000_000, refType: "grant", refId: row.id } as const;
    await billing.store.act(() => billing.book.post(row.orgId, gift));
    await billing.spend(row.orgId, 3_000_000);
    expect(refundableOf(billing.deps, topup(row)).minor).toBe(100_000);
    await billing.spend(row.orgId, 1);
    expect(refundableOf(billing.deps, topup(row)).minor).toBe(99_999);
    await expect(ask(row, 100_000)).rejects.toEqual(refusal({ refundable_minor: 99_999 }));
    await ask(row, 99_999);
    expect(billing.balance(row.orgId)).toBeGreaterThanOrEqual(0);
  });

  test("cannot take credit that is held for a call that runs", async () => {
    const row = await paidTopup();
    const hold = billing.purse.hold(row.orgId, 11_000_000);
    await expect(ask(row, 50_000)).rejects.toMatchObject({ kind: "not_refundable" });
    if (hold !== undefined) billing.purse.release(hold);
    await ask(row, 50_000);
  });

  test("of 200 at once is one; the others wait until it has ended", async () => {
    const row = await paidTopup();
    const asked = await Promise.allSettled(Array.from({ length: 200 }, () => ask(row, 10_000)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(topup(row).refundedMinor).toBe(10_000);
  });

  test("that failed while its answer was lost has failed, though the answer that was kept says otherwise", async () => {
    const row = await paidTopup();
    const { refund } = await ask(row, 100_000);
    const one = { ...gatewayRefund(row), ref: "re_kept", reference: refund.id, paymentRef: row.paymentRef };
    const gateway = {
      refundsOf: async () => [{ ...one, state: "failed" }],
      refund: async () => ({ ...one, state: "refunded" }),
      readRefund: async () => ({ ...one, state: "failed" }),
    } as unknown as PaymentGateway;
    const { run } = refunder({ ...billing.deps, gatewayOf: () => gateway });
    const job = { key: refund.id, orgId: row.orgId, createdAtMs: 0, attempt: 1 };
    for (let runs = 0; runs < 3; runs++) {
      const ending = await run({ refundId: refund.id }, { ...job, signal: new AbortController().signal });
      if (ending?.act !== undefined) await billing.store.act(ending.act);
    }
    expect(billing.deps.refunds.find(refund.id)).toMatchObject({ status: "failed", gatewayRef: "re_kept" });
    expect(billing.balance(row.orgId)).toBe(11_077_877);
    expect(billing.invoicesOf(row.orgId)).toHaveLength(1);
  });

  test("is the last one when a top-up was refunded a hundred times: each reads those before it", async () => {
    const row = await paidTopup();
    for (let n = 0; n < 100; n++) await refunded((await ask(row, 1)).refund.id);
    await expect(ask(row, 1)).rejects.toThrow("refunded 100 times already: ask the operator");
    expect(topup(row).refundedMinor).toBe(100);
  });

  test("after a correction has a credit note to the GSTIN that the invoice in force bears", async () => {
    const row = await paidTopup();
    const given = { kind: "invoice_correction", subject: "GSTIN", createdBy: "" } as const;
    const body = { invoice_id: topup(row).invoiceId, gstin: "29AABCT1332L1ZA", reason: "It was left out." };
    const ticket = newTicket({ ...given, orgId: row.orgId, body }, billing.clock.now());
    const { store, invoices: issuer, invoiceTables: tables, clock } = billing;
    const room = { accounts: new AccountTables(store), tables, issuer };
    const { invoice } = await store.act(() => approveCorrection(room, ticket, clock.now()));
    const { refund } = await ask(row, 50_000);
    await refunded(refund.id);
    expect(billing.invoicesOf(row.orgId).find(({ reference }) => reference.id === refund.id)).toMatchObject({
      originalId: invoice.id,
      recipient: invoice.recipient,
      irnStatus: invoice.irnStatus,
    });
    expect(invoice.recipient.gstin).toBe("29AABCT1332L1ZA");
  });

  test("of something that was not paid is refused", async () => {
    const row = await billing.topup(someOrg(), 100_000);
    await expect(ask(row, 1)).rejects.toEqual(refusal({ refundable_minor: 0 }));
  });

  test("refunds of a top-up are together what was paid, in money, tax and credit, whatever fails between", async () => {
    const step = fc.record({ share: fc.integer({ min: 1, max: 100 }), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 10_000, max: 5_000_003 }),
        fc.array(step, { maxLength: 6 }),
        async (amount, steps) => {
          const row = await paidTopup(someOrg(), amount);
          for (const { share, fails } of steps) {
            const left = refundableOf(billing.deps, topup(row)).minor;
            const part = Math.max(1, Math.floor((left * share) / 100));
            if (part > left) break;
            const { refund } = await ask(row, part);
            await (fails ? failed(refund.id) : refunded(refund.id));
          }
          const rest = refundableOf(billing.deps, topup(row)).minor;
          if (rest > 0) await refunded((await ask(row, rest)).refund.id);
          expect(topup(row).status).toBe("refunded");
          expect(billing.balance(row.orgId)).toBe(0);
          const documents = billing.invoicesOf(row.orgId);
          const [invoice] = documents.filter(({ kind }) => kind === "tax_invoice");
          const notes = documents.filter(({ kind }) => kind === "credit_note");
          for (const part of ["cgstMinor", "sgstMinor", "igstMinor"] as const)
            expect(notes.reduce((sum, { heads }) => sum + heads[part], 0)).toBe(invoice?.heads[part]);
          expect(notes.reduce((sum, { totalMinor }) => sum + totalMinor, 0)).toBe(invoice?.totalMinor);
          expect(invoice?.status).toBe("credited");
        },
      ),
      { numRuns: 40, seed: 14 },
    );
  });
});

describe("a refund that was made at the payment gateway", () => {
  const follow = (row: TopupRow, ...made: ReturnType<typeof gatewayRefund>[]) =>
    billing.store.act(() => {
      for (const one of made) followRefund(billing.deps, row.id, one);
    });
  const refundsOf = (row: TopupRow) => [...billing.deps.refunds.of(row.orgId)];
  const parkedOf = (row: TopupRow) =>
    [...billing.deps.parked.all()].filter(({ topupId }) => topupId === row.id);

  test("becomes one of ours, with its credit note, however often it is read", async () => {
    const row = await paidTopup();
    const made = gatewayRefund(row);
    await follow(row, made);
    await follow(row, made);
    expect(billing.ledger(row.orgId)).toEqual([
      ["refund", -11_077_877],
      ["topup", 11_077_877],
    ]);
    expect([...billing.deps.refunds.of(row.orgId)]).toMatchObject([
      { status: "refunded", gatewayRef: made.ref, totalMinor: 118_000 },
    ]);
    expect(topup(row).status).toBe("refunded");
  });

  test("takes credit that is spent already: the balance falls below zero", async () => {
    const row = await paidTopup();
    await billing.spend(row.orgId, 11_000_000);
    await follow(row, gatewayRefund(row));
    expect(billing.balance(row.orgId)).toBe(-11_000_000);
  });

  test("that is more than the top-up has left is parked", async () => {
    const row = await paidTopup();
    await follow(row, gatewayRefund(row), gatewayRefund(row, { ref: "re_again" }));
    expect([...billing.deps.parked.all()].filter(({ topupId }) => topupId === row.id)).toMatchObject([
      { reason: "refund_does_not_fit", ref: "re_again" },
    ]);
    expect(billing.balance(row.orgId)).toBe(0);
  });

  test("with our reference is the one that we asked for", async () => {
    const row = await paidTopup();
    const { refund } = await ask(row, 50_000);
    await follow(
      row,
      gatewayRefund(row, { reference: refund.id, total: { currency: "INR", minor: 59_000 } }),
    );
    expect([...billing.deps.refunds.of(row.orgId)]).toMatchObject([{ id: refund.id, status: "refunded" }]);
  });

  test("in parts of any size that make up the whole empties the top-up, its credit and its invoice", async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 117_999 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const row = await paidTopup(someOrg("IN"));
        const ends = [...new Set([...places, 118_000])].sort((a, b) => a - b);
        const parts = ends.map((end, i) => end - (ends[i - 1] ?? 0));
        for (const [i, minor] of parts.entries())
          await follow(
            row,
            gatewayRefund(row, { ref: `re_${row.id}_${i}`, total: { currency: "INR", minor } }),
          );
        expect(topup(row)).toMatchObject({ status: "refunded", refundedMinor: 100_000 });
        expect(billing.balance(row.orgId)).toBe(0);
        const notes = billing.invoicesOf(row.orgId).filter(({ kind }) => kind === "credit_note");
        expect(notes.reduce((sum, { totalMinor }) => sum + totalMinor, 0)).toBe(118_000);
        expect(parkedOf(row)).toEqual([]);
      }),
      { numRuns: 40, seed: 14 },
    );
  });

  test.each([
    ["within the supplier's State", "29"],
    ["in another State", "27"],
    ["abroad", "CA"],
  ])(
    "%s has a credit note of the very money that went back, beside others that are under way",
    async (_, stateCode) => {
      const step = fc.record({
        of: fc.constantFrom("dashboard", "ours"),
        share: fc.integer({ min: 1, max: 1000 }),
        ends: fc.constantFrom("now", "later", "fails"),
      });
      const country = stateCode === "CA" ? "US" : "IN";
      const org = someOrg(country);
      const address = { ...org.billingAddress, stateCode } as typeof org.billingAddress;
      let ref = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 10_000, max: 200_003 }),
          fc.array(step, { maxLength: 8 }),
          async (amount, steps) => {
            const row = await paidTopup(someOrg(country, { billingAddress: address }), amount);
            const { currency } = row.quote;
            const later: (() => Promise<unknown>)[] = [];
            const leftMinor = () =>
              row.quote.totalMinor -
              refundsOf(row).reduce(
                (sum, { status, totalMinor }) => sum + (status === "failed" ? 0 : totalMinor),
                0,
              );
            const dashboard = async (minor: number, ends: "now" | "later" | "fails") => {
              const made = gatewayRefund(row, {
                ref: `re_${stateCode}_${++ref}`,
                total: { currency, minor },
              });
              await follow(row, { ...made, state: ends === "now" ? "refunded" : "pending" });
              if (ends !== "now")
                later.push(() => follow(row, { ...made, state: ends === "later" ? "refunded" : "failed" }));
            };
            for (const { of, share, ends } of steps) {
              const minor = Math.floor((leftMinor() * share) / 1000);
              if (minor < 1) continue;
              if (of === "dashboard") await dashboard(minor, ends);
              else if (refundsOf(row).every(({ status }) => status !== "pending")) {
                const most = refundableOf(billing.deps, topup(row)).minor;
                const part = Math.floor((most * share) / 1000);
                if (part < 1) continue;
                const { refund } = await ask(row, part);
                if (ends === "now") await refunded(refund.id);
                else later.push(() => (ends === "later" ? refunded : failed)(refund.id));
              }
            }
            for (const end of later.reverse()) await end();
            if (leftMinor() > 0) await dashboard(leftMinor(), "now");
            expect(parkedOf(row)).toEqual([]);
            expect(topup(row)).toMatchObject({ status: "refunded", refundedMinor: amount });
            const documents = billing.invoicesOf(row.orgId);
            for (const { status, totalMinor, amountMinor, creditNoteId } of refundsOf(row)) {
              const note = documents.find(({ id }) => id === creditNoteId);
              if (status === "refunded")
                expect(note).toMatchObject({ totalMinor, taxableMinor: amountMinor });
              if (stateCode === "29") expect(note?.heads.cgstMinor).toBe(note?.heads.sgstMinor);
            }
            expect(documents.find(({ id }) => id === topup(row).invoiceId)?.status).toBe("credited");
          },
        ),
        { numRuns: 60, seed: 14 },
      );
    },
  );

  test("and is pending is looked after by a job, for the webhook of its end may be lost", async () => {
    const row = await paidTopup();
    await follow(row, gatewayRefund(row, { state: "pending" }));
    const [refund] = refundsOf(row);
    expect(billing.jobs.has(sendRefund, refund?.id ?? "")).toBe(true);
  });

  test("and fails after it had succeeded is parked, for the credit note stands", async () => {
    const row = await paidTopup();
    await follow(row, gatewayRefund(row));
    await follow(row, gatewayRefund(row, { state: "failed" }), gatewayRefund(row, { state: "failed" }));
    expect(refundsOf(row)).toMatchObject([{ status: "refunded" }]);
    expect(parkedOf(row)).toMatchObject([{ reason: "refund_failed_late" }]);
  });

  test("a second time for one that we asked for is parked", async () => {
    const row = await paidTopup();
    const { refund } = await ask(row, 50_000);
    const part = { reference: refund.id, total: { currency: "INR", minor: 59_000 } } as const;
    await follow(row, gatewayRefund(row, part), gatewayRefund(row, { ...part, ref: "re_twice" }));
    expect(parkedOf(row)).toMatchObject([{ reason: "refund_does_not_fit", ref: "re_twice" }]);
    expect(refundsOf(row)).toHaveLength(1);
  });

  test("with the reference of another payment's refund leaves that one alone", async () => {
    const [row, other] = [await paidTopup(), await paidTopup()];
    const { refund } = await ask(other, 50_000);
    await follow(row, gatewayRefund(row, { reference: refund.id }));
    expect(billing.deps.refunds.find(refund.id)?.status).toBe("pending");
    expect(refundsOf(row)).toMatchObject([{ topupId: row.id, status: "refunded" }]);
  });

  test("and is only listed is read again in its own turn, for the list may be old", async () => {
    const row = await paidTopup();
    const made = gatewayRefund(row);
    await billing.store.act(() => followListed(billing.deps, row.id, [made]));
    expect(refundsOf(row)).toEqual([]);
    expect(billing.jobs.row("payments.read", `simulated:listed:${made.ref}`)).toMatchObject({
      payload: { kind: "refund", ref: made.ref },
    });
  });
});
