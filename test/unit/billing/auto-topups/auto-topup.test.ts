/** Automatic top-ups: announced, debited once, credited once, bounded, and stopped where the payer or the bank says no. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { settle } from "../../../../src/billing/topups/settlement.ts";
import { lookNow } from "../../../../src/billing/topups/watch.ts";
import { AutoTopupWorld, DAY, HOUR, MINUTE } from "../auto-topup.fixtures.ts";
import { checkout, someOrg } from "../fixtures.ts";

let world: AutoTopupWorld;
beforeAll(async () => {
  world = await new AutoTopupWorld().start();
});
afterAll(() => world.dispose());

async function cross(orgId: string): Promise<void> {
  await world.spend(orgId, 16_000_000);
  await world.quiet();
}
const debitsOf = (orgId: string) => world.gateway.debits.filter(({ order }) => order.payer.orgId === orgId);
const statuses = (orgId: string) => world.topups(orgId).map(({ status }) => status);
const ists = (ms: number) => new Date(ms + 5.5 * HOUR).toISOString().slice(11, 16);

describe("a balance that falls below the threshold", () => {
  test("in USD is topped up at once, with one entry, one invoice and the events", async () => {
    const orgId = await world.american();
    expect(debitsOf(orgId)).toHaveLength(0);
    await cross(orgId);
    expect(world.balance(orgId)).toBe(14_000_000);
    expect(world.topups(orgId)).toMatchObject([
      { status: "paid", source: "auto_topup", gateway: "simulated", method: "card", feeMinor: 7 },
    ]);
    const [mandate] = world.now.mandates.of(orgId);
    expect(world.events(orgId)).toEqual([
      "mandate.active",
      "invoice.issued",
      "topup.paid",
      "auto_topup.charged",
    ]);
    expect(world.eventData(orgId, "auto_topup.charged")).toMatchObject([
      { mandate_id: mandate?.id, source: "auto_topup", status: "paid", total_minor: 1_000 },
    ]);
    expect(world.now.autoTopups.of(orgId).debit).toBeNull();
  });

  test("is not topped up at the threshold itself, nor while it is switched off", async () => {
    const orgId = await world.american();
    await world.spend(orgId, 15_000_000);
    await world.quiet();
    expect(debitsOf(orgId)).toHaveLength(0);
    await world.put(orgId, 1_000, 5_000_000, false);
    await world.spend(orgId, 1);
    await world.quiet();
    expect(debitsOf(orgId)).toHaveLength(0);
    await world.put(orgId, 1_000);
    await world.quiet();
    expect(debitsOf(orgId)).toHaveLength(1);
  });

  test("whose news is lost with the process is found by the sweep", async () => {
    const orgId = await world.american();
    await world.spend(orgId, 16_000_000);
    expect(debitsOf(orgId)).toHaveLength(0);
    await world.restart();
    expect(debitsOf(orgId)).toHaveLength(1);
  });

  test("far below zero is topped up until the day's ceiling of debits, and on when the day is over", async () => {
    const orgId = await world.american();
    await world.spend(orgId, 80_000_000);
    await world.quiet();
    await world.pass(HOUR);
    expect(debitsOf(orgId)).toHaveLength(3);
    await world.pass(22 * HOUR, HOUR);
    expect(debitsOf(orgId)).toHaveLength(3);
    await world.pass(2 * HOUR);
    expect(debitsOf(orgId)).toHaveLength(6);
  });

  test("is debited three times in any 24 hours at most, counted from when the money could be taken", async () => {
    const orgId = await world.american();
    await world.spend(orgId, 80_000_000);
    world.gateway.confirmWith(orgId, ...Array<"unclear_none">(12).fill("unclear_none"));
    await world.quiet();
    await world.pass(30 * HOUR, 10 * MINUTE);
    const times = world.gateway.paid(orgId).map(({ payment }) => payment?.paidAtMs ?? 0);
    expect(times.length).toBeGreaterThanOrEqual(3);
    for (const fromMs of times)
      expect(times.filter((ms) => ms >= fromMs && ms < fromMs + DAY).length).toBeLessThanOrEqual(3);
  });

  test("is topped up by no more than twice the cap a day", async () => {
    const orgId = await world.org(someOrg("US"));
    await world.mandate(orgId);
    await world.put(orgId, 70_000, 900_000_000_000);
    await world.quiet();
    await world.pass(20 * HOUR, HOUR);
    expect(world.gateway.taken(orgId)).toBe(140_000);
  });
});

describe("in INR", () => {
  test("a debit is announced at least 24 hours before it, with its amount and time", async () => {
    const orgId = await world.indian("card");
    await cross(orgId);
    const announcedMs = world.time.now();
    const [notice] = world.eventData(orgId, "auto_topup.notified");
    expect(notice).toMatchObject({ currency: "INR", amount_minor: 100_000, total_minor: 118_000 });
    expect(Date.parse(String(notice?.due_at))).toBeGreaterThanOrEqual(announcedMs + DAY);
    await world.pass(DAY);
    expect(debitsOf(orgId)).toHaveLength(0);
    await world.pass(2 * HOUR);
    expect(debitsOf(orgId).map(({ order }) => order.total)).toEqual([{ currency: "INR", minor: 118_000 }]);
    expect(world.eventData(orgId, "auto_topup.notified")).toHaveLength(1);
    expect(statuses(orgId)).toEqual(["paid"]);
  });

  test("by UPI no debit begins from 10:00 to 13:00 and 17:00 to 21:30", async () => {
    for (const hours of [4, 5, 6, 7, 8, 11, 12, 14]) {
      const orgId = await world.indian();
      const untilMs = Math.ceil((world.time.now() - 18.5 * HOUR) / DAY) * DAY + 18.5 * HOUR + hours * HOUR;
      await world.pass(untilMs - world.time.now() + 90 * MINUTE, HOUR);
      await cross(orgId);
      await world.pass(32 * HOUR, 10 * MINUTE);
      const [topup] = world.topups(orgId);
      const at = ists(topup?.createdAtMs ?? 0);
      expect([at >= "10:00" && at < "13:00", at >= "17:00" && at < "21:30"], at).toEqual([false, false]);
    }
  });

  test("by UPI a debit whose preparation lasts into such hours begins after them", async () => {
    const orgId = await world.indian();
    // 08:50 in India, 25 hours before 09:50.
    const fromMs =
      Math.ceil((world.time.now() - 3 * HOUR - 20 * MINUTE) / DAY) * DAY + 3 * HOUR + 20 * MINUTE;
    await world.pass(fromMs - world.time.now(), HOUR);
    await cross(orgId);
    world.gateway.prepareWith(orgId, "busy", "busy");
    await world.pass(32 * HOUR, 10 * MINUTE);
    expect(world.topups(orgId).map(({ createdAtMs }) => ists(createdAtMs))).toEqual(["09:50"]);
    expect(world.now.autoTopups.of(orgId).recent.map(({ atMs }) => ists(atMs))).toEqual(["13:00"]);
    expect(statuses(orgId)).toEqual(["paid"]);
  });

  test("the debit is dropped where the balance has risen before it, and announced anew when it falls again", async () => {
    const orgId = await world.indian("card");
    await cross(orgId);
    await world.grant(orgId, 30_000_000);
    await world.pass(30 * HOUR);
    expect(debitsOf(orgId)).toHaveLength(0);
    await world.spend(orgId, 32_000_000);
    await world.quiet();
    expect(world.eventData(orgId, "auto_topup.notified")).toHaveLength(2);
  });

  test("another amount is announced anew", async () => {
    const orgId = await world.indian("card");
    await cross(orgId);
    await world.pass(20 * HOUR, HOUR);
    await world.put(orgId, 200_000);
    await world.pass(10 * HOUR, HOUR);
    expect(debitsOf(orgId)).toHaveLength(0);
    await world.pass(20 * HOUR, HOUR);
    expect(debitsOf(orgId).map(({ order }) => order.total.minor)).toEqual([236_000]);
  });

  test("an announcement whose day has passed is made again", async () => {
    const orgId = await world.indian("card");
    await cross(orgId);
    world.now.mortal.isDead = true;
    world.time.advance(5 * DAY);
    await world.quiet();
    expect(world.eventData(orgId, "auto_topup.notified")).toHaveLength(2);
    expect(debitsOf(orgId)).toHaveLength(0);
  });

  test("a debit by UPI is not failed before 48 hours, and may still be paid", async () => {
    const [failing, paying] = [await world.indian(), await world.indian()];
    for (const orgId of [failing, paying]) world.gateway.confirmWith(orgId, "soft");
    await cross(failing);
    await cross(paying);
    await world.pass(40 * HOUR, HOUR);
    for (const orgId of [failing, paying]) {
      expect(debitsOf(orgId)).toHaveLength(1);
      const [row] = world.topups(orgId);
      if (row !== undefined) await lookNow(world.now.notices, row, 1000);
      expect([statuses(orgId), world.view(orgId).mandate?.consecutive_failures]).toEqual([["pending"], 0]);
    }
    const [debit] = debitsOf(paying);
    if (debit?.payment != null) debit.payment = { ...debit.payment, state: "paid", failure: null };
    await world.pass(40 * HOUR, HOUR);
    expect(statuses(paying)).toEqual(["paid"]);
    expect(statuses(failing).at(-1)).toBe("failed");
    expect(world.eventData(failing, "auto_topup.failed")).toMatchObject([{ consecutive_failures: 1 }]);
  });
});

describe("a debit that fails", () => {
  test("softly is tried again after a while; three in a row pause the mandate, and PUT resumes it", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "soft", "soft", "soft");
    await cross(orgId);
    expect(debitsOf(orgId)).toHaveLength(1);
    const [first] = world.eventData(orgId, "auto_topup.failed");
    expect(first).toMatchObject({ consecutive_failures: 1, failure: "It is soft." });
    expect(Date.parse(String(first?.retry_at))).toBeGreaterThan(world.time.now());
    await world.pass(20 * HOUR, HOUR);
    expect([debitsOf(orgId).length, world.status(orgId)]).toEqual([3, "paused"]);
    expect(world.eventData(orgId, "auto_topup.failed")[0]).not.toHaveProperty("retry_at");
    expect(world.eventData(orgId, "mandate.paused")).toMatchObject([
      { reason: "failures", consecutive_failures: 3 },
    ]);
    await world.pass(3 * DAY, 6 * HOUR);
    expect(debitsOf(orgId)).toHaveLength(3);
    await world.put(orgId, 1_000);
    await world.quiet();
    expect([world.status(orgId), world.gateway.paid(orgId).length]).toEqual(["active", 1]);
    expect(world.view(orgId).mandate).toMatchObject({ consecutive_failures: 0 });
  });

  test("hard pauses the mandate at once", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "hard");
    await cross(orgId);
    await world.pass(3 * DAY, 6 * HOUR);
    expect([debitsOf(orgId).length, world.status(orgId)]).toEqual([1, "paused"]);
    expect(world.events(orgId)).toEqual([
      "mandate.active",
      "topup.failed",
      "auto_topup.failed",
      "mandate.paused",
    ]);
  });

  test("softly once is forgotten with the next one that is paid", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "soft");
    await cross(orgId);
    await world.pass(2 * HOUR);
    expect(statuses(orgId)).toEqual(["paid", "failed"]);
    expect(world.view(orgId).mandate).toMatchObject({ consecutive_failures: 0, status: "active" });
  });

  test("because the payer opted out of it is no failure, and none follows for a day", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "opt_out");
    await cross(orgId);
    await world.pass(23 * HOUR, HOUR);
    expect([debitsOf(orgId).length, statuses(orgId)]).toEqual([1, ["expired"]]);
    expect(world.events(orgId)).toEqual(["mandate.active"]);
    await world.pass(2 * HOUR);
    expect(statuses(orgId)).toEqual(["paid", "expired"]);
  });

  test("at its preparation fails like any other", async () => {
    const orgId = await world.american();
    world.gateway.prepareWith(orgId, "declined");
    await cross(orgId);
    expect([statuses(orgId), world.status(orgId)]).toEqual([["failed"], "paused"]);
  });

  test("is told of in the same way where a webhook says it first", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "processing");
    await cross(orgId);
    const [row] = world.topups(orgId);
    const [debit] = debitsOf(orgId);
    if (row === undefined || debit?.payment == null) throw new Error("nothing was debited");
    const failure = { code: "late", message: "The bank sent it back.", kind: "hard" } as const;
    debit.payment = { ...debit.payment, state: "failed", failure };
    await world.now.store.act(() =>
      settle(world.now.notices, row.id, checkout(row, "complete", debit.payment as never)),
    );
    await world.quiet();
    expect(world.eventData(orgId, "auto_topup.failed")).toMatchObject([
      { failure: "The bank sent it back." },
    ]);
    expect(world.status(orgId)).toBe("paused");
  });
});

describe("a debit whose answer is lost", () => {
  test.each(["unclear_paid", "unclear_none", "unclear_late", "busy"] as const)(
    "(%s) is read, and made once",
    async (step) => {
      const orgId = await world.american();
      world.gateway.confirmWith(orgId, step);
      await cross(orgId);
      await world.pass(2 * HOUR, MINUTE);
      expect([debitsOf(orgId).length, statuses(orgId), world.balance(orgId)]).toEqual([
        1,
        ["paid"],
        14_000_000,
      ]);
      expect(world.eventData(orgId, "auto_topup.charged")).toHaveLength(1);
    },
  );

  test("keeps its place until no request can have an effect any more, though it is not wanted now", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "unclear_none");
    await cross(orgId);
    await world.grant(orgId, 50_000_000);
    await world.pass(10 * MINUTE, MINUTE);
    expect(world.now.autoTopups.of(orgId).debit?.phase).toBe("confirming");
    await world.pass(20 * MINUTE, MINUTE);
    expect([world.now.autoTopups.of(orgId).debit, statuses(orgId)]).toEqual([null, ["expired"]]);
  });

  test("at its preparation is prepared again by the same key", async () => {
    const orgId = await world.american();
    world.gateway.prepareWith(orgId, "unclear", "busy", "unclear");
    await cross(orgId);
    await world.pass(HOUR, MINUTE);
    expect([debitsOf(orgId).length, statuses(orgId)]).toEqual([1, ["paid"]]);
  });

  test("that a reader of the top-up asks after before it is confirmed is not failed by that", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "unclear_none");
    await cross(orgId);
    const [row] = world.topups(orgId);
    if (row !== undefined) await lookNow(world.now.notices, row, 1000);
    expect(statuses(orgId)).toEqual(["pending"]);
  });
});

describe("a debit", () => {
  test("of another amount than was asked is parked, and pauses the mandate", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "wrong_amount");
    await cross(orgId);
    await world.pass(2 * DAY, 6 * HOUR);
    expect(world.balance(orgId)).toBe(4_000_000);
    expect([...world.now.parked.all()].filter((row) => row.orgId === orgId)).toMatchObject([
      { reason: "amount_differs" },
    ]);
    expect([debitsOf(orgId).length, world.status(orgId)]).toEqual([1, "paused"]);
  });

  test("of another amount that is paid after it was given up pauses the mandate too", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "opt_out");
    await cross(orgId);
    await world.pass(HOUR);
    const [[debit], [topup]] = [debitsOf(orgId), world.topups(orgId)];
    if (debit?.payment === undefined || topup === undefined) throw new Error("nothing was debited");
    const { total } = debit.payment;
    debit.payment = { ...debit.payment, state: "paid", total: { ...total, minor: total.minor - 1 } };
    expect(world.status(orgId)).toBe("active");
    await lookNow(world.now.notices, topup, 1000);
    expect(world.status(orgId)).toBe("paused");
  });

  test("that takes hours is the only one, and is credited when the money is there", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "processing");
    await cross(orgId);
    await world.spend(orgId, 1_000_000);
    await world.pass(HOUR, MINUTE);
    expect([debitsOf(orgId).length, world.balance(orgId)]).toEqual([1, 3_000_000]);
    await world.pass(2 * HOUR, 10 * MINUTE);
    expect(world.balance(orgId)).toBe(13_000_000);
  });

  test("that was asked for goes on when the mandate is cancelled, and none follows", async () => {
    const orgId = await world.american();
    world.gateway.confirmWith(orgId, "processing");
    await world.spend(orgId, 80_000_000);
    await world.quiet();
    await world.cancel(orgId);
    await world.pass(3 * HOUR, 10 * MINUTE);
    expect([statuses(orgId), debitsOf(orgId).length]).toEqual([["paid"], 1]);
  });

  test("is dropped without a debit where tax has risen above the cap, and the org is told", async () => {
    const orgId = await world.org(someOrg());
    await world.mandate(orgId, "card");
    const ref = `reg_${world.now.mandates.inForce(orgId)?.id}`;
    await world.put(orgId, 1_271_186);
    const mandate = world.now.mandates.inForce(orgId);
    if (mandate !== undefined)
      await world.now.store.act(() => world.now.mandates.put({ ...mandate, capMinor: 1_400_000 }));
    await world.pass(30 * HOUR, HOUR);
    expect(world.gateway.mandates.get(ref)?.state).toBe("active");
    expect(debitsOf(orgId)).toHaveLength(0);
    expect(world.eventData(orgId, "auto_topup.failed")).toHaveLength(1);
    expect(world.view(orgId).config).toMatchObject({ enabled: false });
  });
});
