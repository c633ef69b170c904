/** Months that end: the next fee once, retries where credit is short, and any history of changes over a year. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OrgRow } from "../../../../src/account/org.ts";
import type { JobRow } from "../../../../src/store/jobs/job.ts";
import { expectBooks } from "../../../support/billing/books.fixtures.ts";
import { DAY, openPlans, type TestPlans } from "../../../support/billing/plans.fixtures.ts";
import { rounds } from "../../../support/effort.ts";
import { someOrg } from "../fixtures.ts";

let plans: TestPlans;
beforeAll(() => {
  plans = openPlans();
});
afterAll(() => plans.dispose());

async function subscribed(microUsd: number, planId = "team") {
  plans.clock.set("2026-01-31T10:00:00Z");
  const org = await plans.addOrg(someOrg("US"), microUsd);
  await plans.choose(org, planId);
  return org;
}
const fees = (orgId: string) => plans.entries(orgId).filter(([kind]) => kind === "subscription");
const ends = (orgId: string) => new Date(plans.row(orgId)?.periodEndMs ?? 0).toISOString().slice(0, 10);

describe("a month that ends", () => {
  test("is followed by the next one, on the day of the start", async () => {
    const org = await subscribed(1_000_000_000);
    const seen: string[] = [];
    for (let day = 0; day < 92; day++) {
      await plans.pass(org.id, 1);
      if (seen.at(-1) !== ends(org.id)) seen.push(ends(org.id));
    }
    expect(seen).toEqual(["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]);
    // Each month's credit is granted anew, and expires whole.
    const month = [
      ["expiry", -30_000_000],
      ["subscription", -100_000_000],
      ["grant", 30_000_000],
    ];
    expect(plans.entries(org.id).slice(3).map(String).sort()).toEqual(
      [...month, ...month, ...month].map(String).sort(),
    );
    expect(plans.statements(org.id)).toMatchObject([
      { plan: { planId: "team" }, lines: [{ kind: "plan" }] },
      { taxableMinor: 10_000 },
      { taxableMinor: 10_000 },
      { taxableMinor: 10_000 },
    ]);
    expect(plans.eventTypes(org.id).filter((type) => type === "subscription.renewed")).toHaveLength(3);
  });

  test("without enough credit is past due, tried again after 1, 3 and 7 days, and then the plan is the default one", async () => {
    const org = await subscribed(100_000_000);
    await plans.pass(org.id, 28);
    expect([plans.row(org.id)?.status, plans.row(org.id)?.planId]).toEqual(["past_due", "team"]);
    expect(plans.rooms.accounts.org(org.id)?.planId).toBe("team");
    const tries: number[] = [];
    for (let day = 1; day <= 8; day++) {
      const before = plans.row(org.id);
      await plans.pass(org.id, 1);
      const after = plans.row(org.id);
      if (after?.missed !== before?.missed || after?.status !== before?.status) tries.push(day);
    }
    expect(tries).toEqual([1, 3, 7]);
    expect(plans.row(org.id)).toMatchObject({ status: "cancelled", planId: "local" });
    expect(plans.rooms.accounts.org(org.id)?.planId).toBe("local");
    expect(plans.eventTypes(org.id).slice(2)).toEqual(["subscription.past_due", "subscription.changed"]);
    expect(fees(org.id)).toHaveLength(1);
  });

  test("that is past due is paid by a retry, or by choosing a plan, from when the last one ended", async () => {
    for (const way of ["retry", "choose"]) {
      const org = await subscribed(100_000_000);
      await plans.pass(org.id, 29);
      await expect(plans.choose(org, "team")).rejects.toMatchObject({ code: "insufficient_credits" });
      const { book, store } = plans.rooms;
      const more = { kind: "topup", amountMicroUsd: 100_000_000, refType: "topup", refId: "second" } as const;
      await store.act(() => void book.post(org.id, more));
      if (way === "choose") expect((await plans.choose(org, "team")).fee_micro).toBe(100_000_000);
      else await plans.pass(org.id, 2);
      expect(plans.row(org.id)).toMatchObject({ status: "active", planId: "team", month: 1, missed: 0 });
      expect(ends(org.id)).toBe("2026-03-31");
      await plans.pass(org.id, 4);
      expect(fees(org.id)).toHaveLength(2);
    }
  });

  test("without an exchange rate waits for one, however long, and then the month that runs is paid once", async () => {
    plans.clock.set("2026-01-31T10:00:00Z");
    const org = await plans.addOrg(someOrg("IN"), 1_000_000_000);
    await plans.choose(org, "team");
    await plans.reopen({ rate: "" });
    // A thousand failed tries at most an hour apart take 42 days at the most.
    await plans.pass(org.id, 28 + 60);
    expect(plans.row(org.id)).toMatchObject({ status: "active", planId: "team", month: 0, missed: 0 });
    expect(fees(org.id)).toHaveLength(1);
    await plans.reopen();
    await plans.pass(org.id, 1);
    expect(plans.row(org.id)).toMatchObject({ status: "active", planId: "team", month: 3 });
    expect([fees(org.id).length, ends(org.id)]).toEqual([2, "2026-05-31"]);
  });

  test("is not paid for by credit that expired with it", async () => {
    const org = await subscribed(170_000_000);
    expect(plans.balance(org.id)).toBe(100_000_000);
    plans.clock.advance(28 * DAY);
    // Before any job has run.
    expect((await plans.choose(org, "local")).subscription.status).toBe("cancelled");
    expect([fees(org.id).length, plans.balance(org.id)]).toEqual([1, 70_000_000]);
    await plans.runJobs(org.id);
    expect(plans.entries(org.id).at(-1)).toEqual(["expiry", -30_000_000]);
  });

  test("can be given up while it is past due, and then nothing is taken", async () => {
    const org = await subscribed(100_000_000);
    await plans.pass(org.id, 28);
    expect((await plans.choose(org, "local")).subscription).toMatchObject({
      plan_id: "local",
      status: "cancelled",
    });
    await plans.pass(org.id, 20);
    expect(fees(org.id)).toHaveLength(1);
  });

  test("takes nothing for months that passed while nothing ran", async () => {
    const org = await subscribed(1_000_000_000);
    plans.clock.set("2026-06-10T00:00:00Z");
    await plans.runJobs(org.id);
    expect([fees(org.id).length, plans.row(org.id)?.month, ends(org.id)]).toEqual([2, 4, "2026-06-30"]);
  });

  describe("C12: of an org that is closed", () => {
    const close = async (org: OrgRow) => {
      const { accounts, closed } = plans.rooms;
      await accounts.act(() => {
        const now = accounts.org(org.id) ?? org;
        accounts.replaceOrg({ ...now, status: "closed", closedAtMs: plans.clock.now() });
        closed(org.id);
      });
    };

    test.each([
      ["active", 1_000_000_000, 3],
      ["past_due", 100_000_000, 28],
    ] as const)(
      "is never charged: the subscription, which is %s, ends with it",
      async (status, microUsd, days) => {
        const org = await subscribed(microUsd);
        await plans.pass(org.id, days);
        expect(plans.row(org.id)?.status).toBe(status);
        const before = [plans.eventTypes(org.id).length, fees(org.id).length];
        await close(org);
        expect(plans.row(org.id)).toMatchObject({ status: "cancelled", planId: "local", nextPlanId: "" });
        expect(plans.rooms.accounts.org(org.id)).toMatchObject({ status: "closed", planId: "local" });
        expect(plans.eventTypes(org.id).slice(before[0])).toEqual(["org.closed", "subscription.changed"]);
        // Closing it twice, and all the months after it, change nothing.
        await close(org);
        await plans.pass(org.id, 70);
        expect(plans.eventTypes(org.id).slice(before[0])).toEqual([
          "org.closed",
          "subscription.changed",
          "org.closed",
        ]);
        expect(fees(org.id)).toHaveLength(before[1] ?? 0);
      },
    );

    test("is not charged by a renewal that had begun", async () => {
      const org = await subscribed(1_000_000_000);
      plans.clock.advance(28 * DAY);
      const renewal = plans.due(org.id).find(({ kind }) => kind === "billing.renew") as JobRow;
      const ending = await plans.rooms.run(renewal);
      expect(ending?.act).toBeDefined();
      await close(org);
      await plans.rooms.store.act(() => ending?.act?.());
      expect([fees(org.id).length, plans.row(org.id)?.status]).toEqual([1, "cancelled"]);
    });

    test("is shown as cancelled, also where no plan was ever paid for", async () => {
      const org = await plans.addOrg(someOrg("US"));
      expect((await plans.shown(org.id)).status).toBe("active");
      await close(org);
      expect(await plans.shown(org.id)).toMatchObject({ plan_id: "local", status: "cancelled" });
    });
  });

  test.each(["closed", "suspended"] as const)("takes nothing of an org that is %s", async (status) => {
    const org = await subscribed(1_000_000_000);
    const { accounts } = plans.rooms;
    await accounts.act(() => accounts.replaceOrg({ ...org, planId: "team", status }));
    await plans.pass(org.id, 40);
    expect([fees(org.id).length, plans.row(org.id)?.status]).toEqual([1, "cancelled"]);
  });

  test("waits for a rate of exchange, and the plan stays meanwhile", async () => {
    const noRate = openPlans();
    const org = await noRate.addOrg(someOrg("IN"), 500_000_000);
    await noRate.choose(org, "team");
    noRate.clock.advance(28 * DAY);
    await noRate.reopen({ rate: "" });
    await noRate.runJobs(org.id);
    await expect(noRate.choose(org, "starter")).rejects.toMatchObject({ code: "fx_stale" });
    expect(noRate.row(org.id)).toMatchObject({ status: "active", planId: "team", month: 0 });
    await noRate.reopen();
    await noRate.pass(org.id, 1);
    expect(noRate.row(org.id)).toMatchObject({ status: "active", month: 1 });
    await noRate.dispose();
  });

  test("with a clock that is set back is not renewed again", async () => {
    const org = await subscribed(1_000_000_000);
    await plans.pass(org.id, 28);
    plans.clock.set("2026-02-20T10:00:00Z");
    await plans.pass(org.id, 8);
    expect(fees(org.id)).toHaveLength(2);
  });
});

/** What people and the world do, one after another. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("pass" as const), days: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("choose" as const),
      planId: fc.constantFrom("local", "starter", "team", "business"),
      effective: fc.constantFrom(undefined, "now" as const, "period_end" as const),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("spend" as const),
      microUsd: fc.integer({ min: 1, max: 60_000_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("topup" as const),
      microUsd: fc.integer({ min: 1, max: 900_000_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("stall" as const), days: fc.integer({ min: 1, max: 40 }) }),
  },
);

test("any history over a year, with lost acts and restarts: balance is the ledger's sum, each month is paid and included once at most", async () => {
  const each = openPlans({ actsTwice: false });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 30 }),
      fc.array(fc.boolean(), { maxLength: 10 }),
      async (steps, losses) => {
        each.clock.set("2026-01-31T10:00:00Z");
        const org = await each.addOrg(someOrg("US"), 300_000_000);
        let n = 0;
        const drops = () => losses[n++ % Math.max(1, losses.length)] === true && n < losses.length;
        for (const [i, now] of steps.entries()) {
          if (now.do === "pass") {
            each.clock.advance(now.days * DAY);
            await each.runJobs(org.id, drops);
          } else if (now.do === "choose") {
            // Refusals are part of it.
            const asked = Array.from({ length: now.times }, () =>
              each.choose(org, now.planId, now.effective),
            );
            await Promise.allSettled(asked);
          } else if (now.do === "spend") {
            const amount = Math.min(now.microUsd, each.rooms.purse.available(org.id));
            if (amount > 0) await each.spend(org.id, amount);
          } else if (now.do === "topup") {
            const posting = {
              kind: "topup",
              amountMicroUsd: now.microUsd,
              refType: "topup",
              refId: `t${i}`,
            } as const;
            await each.rooms.store.act(() => void each.rooms.book.post(org.id, posting));
          } else if (now.do === "stall") {
            // Jobs are late: whoever asks meanwhile comes before them.
            each.clock.advance(now.days * DAY);
          } else await each.reopen();
          expectBooks(each, org.id);
        }
      },
    ),
    { numRuns: rounds(400), endOnFailure: true },
  );
  await each.dispose();
});
