/** What every payment gateway must do, held against its adapter over sockets: one list for all of them. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WeirError } from "../../../../src/base/errors.ts";
import { MINUTE_MS } from "../../../../src/base/time.ts";
import { account, failures, mandates } from "./conformance.debits.ts";
import {
  Bench,
  failure,
  HOOK_SECRET,
  nextKey,
  type ReceivedHook,
  type ServiceUnderTest,
  START_MS,
} from "./fixtures.ts";

let bench: Bench;

export function conformance(service: ServiceUnderTest): void {
  describe(`the gateway ${service.house}`, () => {
    beforeEach(async () => {
      bench = await Bench.open(service);
    });
    afterEach(() => bench.close());
    describe("checkouts", checkouts);
    describe("refunds and disputes", refunds);
    describe("webhooks", webhooks);
    describe("calls that fail", () => failures(() => bench));
    describe("mandates and debits", () => mandates(() => bench));
    describe("the day's account", () => account(() => bench));
  });
}

function checkouts(): void {
  test("a payer pays, and the payment is known by its id, our reference, its amount and its method", async () => {
    const { ref, url, reference } = await bench.checkout();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(await bench.gateway.readCheckout(ref, bench.call())).toEqual({ ref, state: "open", payments: [] });
    const sold = bench.simulator.engine.pay(ref, { method: bench.service.method });
    const checkout = await bench.gateway.readCheckout(ref, bench.call());
    const payment = {
      ref: sold.id,
      reference,
      state: "paid",
      total: bench.order().total,
      failure: null,
      feeMinor: sold.feeMinor,
      method: bench.service.method,
      paidAtMs: START_MS,
      refundedMinor: 0,
    };
    expect(checkout).toEqual({ ref, state: "complete", payments: [payment] });
    expect(sold.feeMinor).toBeGreaterThan(0);
    expect(await bench.gateway.readPayment(sold.id, bench.call())).toEqual(payment);
  });

  test("a payment that fails says why, and a later one of the same checkout may succeed", async () => {
    const { ref } = await bench.checkout();
    bench.simulator.engine.pay(ref, { method: bench.service.method, outcome: "insufficient_funds" });
    const before = await bench.gateway.readCheckout(ref, bench.call());
    expect(before.state).toBe("open");
    expect(before.payments[0]).toMatchObject({ state: "failed", paidAtMs: null, failure: { kind: "soft" } });
    bench.simulator.engine.pay(ref, { method: bench.service.method });
    const after = await bench.gateway.readCheckout(ref, bench.call());
    expect(after.payments.at(-1)).toMatchObject({ state: "paid", failure: null });
  });

  test.each(["decline_hard", "decline_soft"] as const)("a %s is told apart", async (outcome) => {
    const { ref } = await bench.checkout();
    bench.simulator.engine.pay(ref, { method: bench.service.method, outcome });
    const { payments } = await bench.gateway.readCheckout(ref, bench.call());
    expect(payments[0]?.failure?.kind).toBe(outcome.slice("decline_".length));
  });

  test("a payer without an e-mail address may pay too", async () => {
    const { ref } = await bench.checkout({ payer: { orgId: "org_1", name: "Asha", email: "" } });
    expect((await bench.gateway.readCheckout(ref, bench.call())).state).toBe("open");
  });

  test("a checkout that is ended takes no payment, and ending it twice is the same", async () => {
    const { ref } = await bench.checkout();
    await bench.gateway.expireCheckout(ref, bench.call());
    await bench.gateway.expireCheckout(ref, bench.call());
    expect(await bench.gateway.readCheckout(ref, bench.call())).toEqual({
      ref,
      state: "expired",
      payments: [],
    });
    expect(() => bench.simulator.engine.pay(ref)).toThrow();
  });

  test("a checkout ends by time", async () => {
    const { ref } = await bench.checkout();
    bench.clock.nowMs += 31 * MINUTE_MS;
    expect((await bench.gateway.readCheckout(ref, bench.call())).state).toBe("expired");
  });

  test("money that comes after the end of a checkout is seen", async () => {
    const { ref } = await bench.checkout();
    await bench.gateway.expireCheckout(ref, bench.call());
    bench.simulator.engine.pay(ref, { method: bench.service.method, force: true });
    const { state, payments } = await bench.gateway.readCheckout(ref, bench.call());
    expect([state, payments.map((payment) => payment.state)]).toEqual(["expired", ["paid"]]);
  });

  test("another amount than asked for is told as it is", async () => {
    const { ref } = await bench.checkout();
    bench.simulator.engine.pay(ref, { method: bench.service.method, amount: 99 });
    const { payments } = await bench.gateway.readCheckout(ref, bench.call());
    expect(payments[0]?.total).toEqual({ currency: bench.service.currency, minor: 99 });
  });

  test("an authorized payment is captured, and captured once if asked twice", async () => {
    const { ref } = await bench.checkout();
    const { id } = bench.simulator.engine.pay(ref, { method: bench.service.method, outcome: "authorized" });
    expect((await bench.gateway.readPayment(id, bench.call())).state).toBe("authorized");
    const { total } = bench.order();
    expect((await bench.gateway.capture(id, total, bench.call())).state).toBe("paid");
    expect((await bench.gateway.capture(id, total, bench.call())).state).toBe("paid");
    expect(bench.simulator.engine.account.linesOf(bench.service.house, 0, Infinity)).toHaveLength(1);
  });

  test("what does not exist is missing", async () => {
    const reads = [
      bench.gateway.readPayment("nothing_1", bench.call()),
      bench.gateway.readCheckout("nothing_1", bench.call()),
      bench.gateway.readDispute("nothing_1", bench.call()),
      bench.gateway.readRefund("nothing_1", bench.call()),
    ];
    const errors = await Promise.all(reads.map(failure));
    expect(errors.map(({ kind }) => kind)).toEqual(["missing", "missing", "missing", "missing"]);
  });
}

function refunds(): void {
  const amount = (minor: number) => ({ currency: bench.service.currency, minor });

  test("a payment is refunded in parts to the last penny, and not beyond", async () => {
    const { paymentRef } = await bench.paid();
    const part = { reference: "rfd_1", paymentRef, total: amount(18_000) };
    const first = await bench.gateway.refund(part, bench.call());
    expect(first).toMatchObject({ reference: "rfd_1", paymentRef, total: amount(18_000), failure: null });
    const over = bench.gateway.refund({ ...part, reference: "rfd_2", total: amount(100_001) }, bench.call());
    expect(await failure(over)).toMatchObject({ kind: "declined", failure: { kind: "hard" } });
    await bench.gateway.refund({ ...part, reference: "rfd_3", total: amount(100_000) }, bench.call());
    const all = await bench.gateway.refundsOf(paymentRef, bench.call());
    expect(all.map(({ reference }) => reference).sort()).toEqual(["rfd_1", "rfd_3"]);
    expect((await bench.gateway.readPayment(paymentRef, bench.call())).refundedMinor).toBe(118_000);
  });

  test("the same refund asked twice is one", async () => {
    const { paymentRef } = await bench.paid();
    const order = { reference: "rfd_1", paymentRef, total: amount(500) };
    const key = nextKey();
    const [a, b] = [
      await bench.gateway.refund(order, bench.call(key)),
      await bench.gateway.refund(order, bench.call(key)),
    ];
    expect(b.ref).toBe(a.ref);
    expect(await bench.gateway.refundsOf(paymentRef, bench.call())).toHaveLength(1);
  });

  test("a refund may be pending, and fail later: the payment has its money back then", async () => {
    const { paymentRef } = await bench.paid();
    bench.simulator.engine.nextRefunds.push("pending");
    const order = { reference: "rfd_1", paymentRef, total: amount(500) };
    const refund = await bench.gateway.refund(order, bench.call());
    expect(refund.state).toBe("pending");
    expect(await bench.gateway.readRefund(refund.ref, bench.call())).toEqual(refund);
    bench.simulator.engine.finishRefund(bench.service.house, refund.ref, "failed");
    const [failed] = await bench.gateway.refundsOf(paymentRef, bench.call());
    expect(failed).toMatchObject({ state: "failed", ref: refund.ref });
    expect(await bench.gateway.readRefund(refund.ref, bench.call())).toEqual(failed);
    expect((await bench.gateway.readPayment(paymentRef, bench.call())).refundedMinor).toBe(0);
  });

  test("a refund that was made in the dashboard is listed without a reference of ours", async () => {
    const { paymentRef } = await bench.paid();
    bench.simulator.engine.refund(bench.service.house, paymentRef, 700, "");
    const [refund] = await bench.gateway.refundsOf(paymentRef, bench.call());
    expect(refund).toMatchObject({ reference: "", total: amount(700), state: "refunded" });
    expect(await bench.gateway.readRefund(refund?.ref ?? "", bench.call())).toEqual(refund);
  });

  test("a dispute is opened, takes the money and gives it back", async () => {
    const { paymentRef } = await bench.paid();
    const { engine } = bench.simulator;
    const { id } = engine.dispute(bench.service.house, paymentRef, { state: "open" });
    const read = () => bench.gateway.readDispute(id, bench.call());
    expect(await read()).toMatchObject({ state: "open", paymentRef, amount: amount(118_000) });
    engine.moveDispute(bench.service.house, id, "withdrawn");
    expect((await read()).state).toBe("withdrawn");
    engine.moveDispute(bench.service.house, id, "reinstated");
    expect(["reinstated", "won"]).toContain((await read()).state);
    // A dispute leaves the payment paid.
    expect((await bench.gateway.readPayment(paymentRef, bench.call())).state).toBe("paid");
  });
}

function webhooks(): void {
  const read = ({ bytes, header }: ReceivedHook, nowMs = bench.clock.nowMs) =>
    bench.gateway.readWebhook(bytes, header, nowMs);

  /** All webhooks about one payment, in the order in which they were sent. */
  async function sent(order?: readonly number[]): Promise<ReceivedHook[]> {
    await bench.simulator.notices.flush(order);
    return bench.receiver.received.splice(0);
  }

  test("say which object changed, and nothing else", async () => {
    const { ref, reference } = await bench.checkout();
    const { id } = bench.simulator.engine.pay(ref, { method: bench.service.method });
    bench.simulator.engine.refund(bench.service.house, id, 5, "");
    bench.simulator.engine.dispute(bench.service.house, id);
    const subjects = (await sent()).flatMap((hook) => read(hook)).map(({ subject }) => subject);
    const kinds = subjects.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["payment", "checkout", "refund", "dispute"]));
    expect(subjects).toContainEqual({ kind: "payment", ref: id, reference });
    expect(subjects).toContainEqual({ kind: "checkout", ref, reference });
  });

  test("keep their id when they are repeated, and can be read in any order", async () => {
    const { ref } = await bench.checkout();
    bench.simulator.engine.pay(ref, { method: bench.service.method });
    expect(bench.simulator.notices.held).toBeGreaterThan(1);
    const [b, a, again] = (await sent([1, 0, 1])).map((hook) => read(hook)[0]?.eventId);
    expect(again).toBe(b);
    expect(a).not.toBe(b);
  });

  test("are refused when they are forged, altered or not signed, and say nothing of the right signature", async () => {
    await bench.paid();
    const [hook] = (await sent()) as [ReceivedHook];
    expect(read(hook)).toHaveLength(1);
    const altered = Buffer.from(hook.bytes);
    altered[altered.length - 2] = (altered[altered.length - 2] as number) ^ 1;
    const messages = [
      { ...hook, bytes: altered },
      { ...hook, header: () => "" },
      { ...hook, header: (name: string) => hook.header(name).replace(/[0-9a-f]{8}$/, "00000000") },
      { ...hook, header: (name: string) => `${hook.header(name)}zz` },
    ].map((forged) => {
      try {
        return String(read(forged));
      } catch (error) {
        expect(error).toBeInstanceOf(WeirError);
        return (error as WeirError).message;
      }
    });
    expect(new Set(messages)).toEqual(new Set(["The webhook's signature is not valid."]));
    expect(messages.join()).not.toContain(HOOK_SECRET);
  });

  test("are refused when they are stale, where the service signs a time", async () => {
    await bench.paid();
    const [hook] = (await sent()) as [ReceivedHook];
    const late = bench.clock.nowMs + 6 * MINUTE_MS;
    if (bench.service.house === "razorpay") expect(read(hook, late)).toHaveLength(1);
    else expect(() => read(hook, late)).toThrow("signature");
  });
}
