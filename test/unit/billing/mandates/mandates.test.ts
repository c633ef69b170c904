/** Mandates: registered once, one an org, ended where they are cancelled. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OrgRow } from "../../../../src/account/org.ts";
import { followDispute } from "../../../../src/billing/disputes/dispute.ts";
import { endingOf } from "../../../../src/billing/mandates/return-page.ts";
import { onNotice } from "../../../../src/billing/notices/notices.ts";
import { NO_CREDIT } from "../../../support/billing/plans.fixtures.ts";
import { AutoTopupWorld, callerOf, DAY, HOUR, headWith, MINUTE } from "../auto-topup.fixtures.ts";
import { someOrg } from "../fixtures.ts";

let world: AutoTopupWorld;
beforeAll(async () => {
  world = await new AutoTopupWorld().start();
});
afterAll(() => world.dispose());

const refused = (kind: string) => expect.objectContaining({ kind });

describe("a mandate", () => {
  test("is pending with its page, and active once the payment gateway says so", async () => {
    const orgId = await world.org(someOrg());
    const { mandate, url } = await world.create(orgId, "upi");
    expect(mandate).toMatchObject({
      status: "pending",
      method: "upi",
      gateway: "simulated",
      currency: "INR",
      token_ref: "",
      max_amount_minor: 1_500_000,
      notify_hours: 24,
      consecutive_failures: 0,
      hosted_url: url,
      auto_topup: { enabled: false, threshold_micro: 0, amount_minor: 0 },
    });
    world.gateway.move(mandate.mandate_ref, "active");
    await world.pass(2 * MINUTE);
    expect(world.view(orgId).mandate).toMatchObject({
      id: mandate.id,
      status: "active",
      token_ref: `tok_${mandate.mandate_ref}`,
      registered_at: expect.any(String),
    });
    await world.tell(mandate.mandate_ref);
    expect(world.events(orgId)).toEqual(["mandate.active"]);
  });

  test("whose page did not open is opened by the next request, though failures are repeated to a key", async () => {
    const orgId = await world.org(someOrg("US"));
    world.gateway.failRegistrations = 1;
    await expect(world.create(orgId, "card", "same")).rejects.toEqual(refused("gateway_unavailable"));
    const { mandate, url } = await world.create(orgId, "card", "same");
    expect([mandate.status, url]).toEqual(["pending", `http://127.0.0.1/pay/${mandate.mandate_ref}`]);
    expect([...world.now.mandates.of(orgId)]).toHaveLength(1);
  });

  test("says at its return page what the payment gateway says, and nothing of the org but its id", async () => {
    const org = someOrg();
    const orgId = await world.org(org);
    const { mandate } = await world.create(orgId, "upi");
    const { mandateReturnPage } = world.now.room.operations;
    const input = { params: { id: mandate.id }, query: undefined, body: undefined };
    const page = async () => JSON.stringify(await mandateReturnPage.run(input, callerOf(""), headWith("")));
    expect(await page()).toContain("You left without allowing payments");
    expect(await page()).not.toMatch(/One moment|refresh/);
    world.gateway.isAway = true;
    expect(await page()).toMatch(/refresh.*One moment.*does not say yet how it ended/);
    world.gateway.isAway = false;
    world.gateway.move(mandate.mandate_ref, "active");
    const shown = await page();
    expect(shown).toContain("Automatic payments are allowed");
    expect(shown).toContain(`/console/${orgId}/billing`);
    for (const own of [`>${org.name}`, `/${org.slug}/`]) expect(shown).not.toContain(own);
    expect(world.status(orgId)).toBe("active");
  });

  test.each([
    ["pending", { isSubmitted: true }, "submitted"],
    ["pending", { isSubmitted: false }, "left"],
    ["pending", undefined, "unknown"],
    ["failed", undefined, "failed"],
    ["active", undefined, "active"],
  ] as const)("that is %s, as the payment gateway says %o, is shown as %s", (status, reading, ending) => {
    expect(endingOf({ status }, reading)).toBe(ending);
  });

  test("that is declined has failed, and one that nobody approves fails after a week", async () => {
    const orgId = await world.org(someOrg("US"));
    const { mandate } = await world.create(orgId, "card");
    world.gateway.move(mandate.mandate_ref, "failed");
    await world.tell(mandate.mandate_ref);
    expect(world.status(orgId)).toBe("failed");
    const other = await world.org(someOrg("US"));
    await world.create(other, "card");
    await world.pass(8 * DAY, 6 * HOUR);
    expect([world.status(other), world.events(other)]).toEqual(["failed", ["mandate.failed"]]);
  });

  test("replaces the one before once it is active, and that one ends at the payment gateway", async () => {
    const orgId = await world.org(someOrg("US"));
    const first = await world.mandate(orgId);
    await world.put(orgId, 1_000);
    const { mandate } = await world.create(orgId, "card");
    expect(world.view(orgId).mandate).toMatchObject({ id: first, status: "active" });
    world.gateway.move(mandate.mandate_ref, "active");
    await world.tell(mandate.mandate_ref);
    expect(world.view(orgId).mandate).toMatchObject({ id: mandate.id, status: "active" });
    expect(world.view(orgId).config).toMatchObject({ enabled: true });
    expect(world.gateway.mandates.get(`reg_${first}`)?.state).toBe("cancelled");
  });

  test("that replaces another has its debit announced at once, not when that of the other was due", async () => {
    const orgId = await world.org(someOrg());
    const ids = [await world.mandate(orgId, "card")];
    await world.put(orgId, 100_000);
    await world.quiet();
    ids.push(await world.mandate(orgId, "emandate"));
    const announced = world.eventData(orgId, "auto_topup.notified").map(({ mandate_id }) => mandate_id);
    expect(announced.sort()).toEqual(ids.sort());
  });

  test("is cancelled with its settings and at the payment gateway, and cancelled again it is the same", async () => {
    const orgId = await world.org(someOrg("US"));
    await expect(async () => world.cancel(orgId)).rejects.toEqual(refused("no_mandate"));
    const id = await world.mandate(orgId);
    await world.put(orgId, 1_000);
    expect((await world.cancel(orgId)).mandate).toMatchObject({ id, status: "cancelled" });
    expect((await world.cancel(orgId)).mandate).toMatchObject({ id, status: "cancelled" });
    await world.quiet();
    expect(world.gateway.mandates.get(`reg_${id}`)?.state).toBe("cancelled");
    expect(world.view(orgId).config).toMatchObject({ enabled: false });
    expect(world.events(orgId)).toEqual(["mandate.active", "mandate.cancelled"]);
    expect(world.eventData(orgId, "mandate.cancelled")).toMatchObject([{ cancelled_at: expect.any(String) }]);
  });

  test("that was cancelled is looked at as often as anyone likes", async () => {
    const orgId = await world.org(someOrg());
    await world.create(orgId, "upi");
    await world.cancel(orgId);
    await world.create(orgId, "upi");
    await world.cancel(orgId);
    // LMDB has 126 places for reads that have not ended.
    for (let i = 0; i < 150; i++) {
      expect(world.view(orgId).mandate).toMatchObject({ status: "cancelled" });
      await world.org(someOrg());
      await world.now.store.caughtUp();
    }
  });

  test("that was cancelled before the payer approved it is ended, and never active", async () => {
    const orgId = await world.org(someOrg("US"));
    const { mandate } = await world.create(orgId, "card");
    await world.cancel(orgId);
    world.gateway.move(mandate.mandate_ref, "active");
    await world.tell(mandate.mandate_ref);
    expect(world.status(orgId)).toBe("cancelled");
    expect(world.gateway.mandates.get(mandate.mandate_ref)?.state).toBe("cancelled");
  });

  test("that the bank pauses or ends follows, and is active again when the bank says so", async () => {
    const orgId = await world.org(someOrg());
    const ref = `reg_${await world.mandate(orgId, "upi")}`;
    for (const state of ["paused", "active", "cancelled"] as const) {
      world.gateway.move(ref, state);
      await world.tell(ref);
      expect(world.status(orgId)).toBe(state);
    }
    const types = ["mandate.active", "mandate.paused", "mandate.active", "mandate.cancelled"];
    expect(world.events(orgId)).toEqual(types);
  });

  test("that the bank pauses is not resumed by the org before the bank does, whatever else paused it", async () => {
    const orgId = await world.org(someOrg());
    const ref = `reg_${await world.mandate(orgId, "upi")}`;
    await world.put(orgId, 50_000);
    await world.now.store.act(() => world.now.room.onDispute(orgId));
    world.gateway.move(ref, "paused");
    await world.tell(ref);
    await world.put(orgId, 50_000);
    expect(world.status(orgId)).toBe("paused");
    world.gateway.move(ref, "active");
    await world.put(orgId, 50_000);
    expect(world.status(orgId)).toBe("active");
  });

  test("that the bank pauses is looked at each day, for its webhook may be lost", async () => {
    const orgId = await world.org(someOrg());
    const ref = `reg_${await world.mandate(orgId, "upi")}`;
    world.gateway.move(ref, "paused");
    await world.tell(ref);
    await world.pass(2 * DAY);
    expect(world.status(orgId)).toBe("paused");
    world.gateway.move(ref, "active");
    await world.pass(DAY);
    expect(world.status(orgId)).toBe("active");
  });

  test("asked for with one key is one, also two hundred at once; another method is refused", async () => {
    const orgId = await world.org(someOrg());
    const asked = await Promise.all(Array.from({ length: 200 }, () => world.create(orgId, "upi", "same")));
    expect(new Set(asked.map(({ mandate }) => mandate.id)).size).toBe(1);
    await expect(world.create(orgId, "card", "same")).rejects.toEqual(refused("idempotency_mismatch"));
  });

  test("without a key, two hundred at once leave one that is pending", async () => {
    const orgId = await world.org(someOrg());
    const asked = await Promise.allSettled(Array.from({ length: 200 }, () => world.create(orgId, "upi")));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    await world.quiet();
    const states = [...world.now.mandates.of(orgId)].map(({ status }) => status);
    expect(states.filter((status) => status === "pending")).toHaveLength(1);
  });

  test("of a closed org is cancelled", async () => {
    const org = someOrg("US");
    const orgId = await world.org(org);
    await world.mandate(orgId);
    const { orgClosed } = await import("../../../../src/account/account-events.ts");
    const { orgWire } = await import("../../../../src/account/org-wire.ts");
    await world.now.store.act(() =>
      world.now.events.emit(orgClosed, orgId, { ...orgWire(org), closing: NO_CREDIT }),
    );
    expect(world.status(orgId)).toBe("cancelled");
  });

  test("is paused by the first dispute of any payment of the org", async () => {
    const orgId = await world.org(someOrg("US"));
    await world.mandate(orgId);
    await world.put(orgId, 1_000);
    await world.quiet();
    const [topup] = world.topups(orgId);
    const dispute = { ref: "dp", paymentRef: "", amount: { currency: "USD", minor: 1_000 } } as const;
    await world.now.store.act(() =>
      followDispute(world.now.notices, topup?.id ?? "", { ...dispute, state: "warning", reason: "fraud" }),
    );
    expect(world.status(orgId)).toBe("paused");
    expect(world.eventData(orgId, "mandate.paused")).toMatchObject([{ reason: "dispute" }]);
  });

  test("is found by a webhook's notice, and one of nobody does nothing", async () => {
    const orgId = await world.org(someOrg());
    const { mandate } = await world.create(orgId, "upi");
    world.gateway.move(mandate.mandate_ref, "active");
    const notice = (ref: string) => ({
      eventId: "e",
      subject: { kind: "mandate", ref, reference: "" } as const,
    });
    const signal = AbortSignal.timeout(5000);
    const ended = await onNotice(world.now.notices, "simulated", notice(mandate.mandate_ref), signal);
    await world.now.store.act(() => ended?.act?.());
    expect(world.status(orgId)).toBe("active");
    expect(await onNotice(world.now.notices, "simulated", notice("reg_unknown"), signal)).toBeUndefined();
  });
});

describe("registering a mandate", () => {
  test("refuses a method that the payment gateway does not take in the org's currency", async () => {
    const orgId = await world.org(someOrg("US"));
    await expect(world.create(orgId, "upi")).rejects.toEqual(refused("invalid_value"));
  });

  test("refuses an org whose invoices could not be written", async () => {
    const billingAddress = { line1: "", city: "", stateCode: "", postalCode: "", country: "IN" };
    const orgId = await world.org(someOrg("IN", { billingAddress }));
    await expect(world.create(orgId, "upi")).rejects.toEqual(refused("billing_profile_incomplete"));
  });
});

describe("the settings", () => {
  test("name the payment gateway, its methods and bounds", async () => {
    const orgId = await world.org(someOrg());
    expect(world.view(orgId)).toEqual({
      mandate: null,
      registering: null,
      debit: null,
      rail: "simulated",
      methods: ["upi", "emandate", "card"],
      currency: "INR",
      cap_minor: 1_500_000,
      notify_hours: 24,
      min_amount_minor: 10_000,
      config: { enabled: false, threshold_micro: 0, amount_minor: 0 },
    });
  });

  test("have bounds in the org's currency, though its mandate is in the one before", async () => {
    const orgId = await world.org(someOrg());
    await world.create(orgId, "upi");
    const { id, slug, createdAtMs } = world.now.accounts.org(orgId) as OrgRow;
    const moved = { ...someOrg("US"), id, slug, createdAtMs };
    await world.now.store.act(() => world.now.accounts.replaceOrg(moved));
    expect(world.view(orgId)).toMatchObject({ currency: "USD", cap_minor: 100_000, notify_hours: 0 });
  });

  test("are not switched on without a mandate that is active or paused", async () => {
    const orgId = await world.org(someOrg("US"));
    await expect(world.put(orgId, 1_000)).rejects.toEqual(refused("no_mandate"));
    await world.create(orgId, "card");
    await expect(world.put(orgId, 1_000)).rejects.toEqual(refused("no_mandate"));
    await world.put(orgId, 0, 0, false);
  });

  test("bound the amount: the minimum before tax, the cap with tax", async () => {
    const orgId = await world.org(someOrg());
    await world.mandate(orgId, "upi");
    await expect(world.put(orgId, 9_999)).rejects.toEqual(refused("below_minimum"));
    // 1,271,186 and 18 % are 1,499,999.48; each head is rounded.
    await world.put(orgId, 1_271_186);
    await expect(world.put(orgId, 1_271_188)).rejects.toEqual(refused("above_cap"));
  });

  test("set two hundred times at once end with one of them, and one look", async () => {
    const orgId = await world.org(someOrg("US"));
    await world.mandate(orgId);
    await Promise.all(Array.from({ length: 200 }, (_, i) => world.put(orgId, 1_000 + i)));
    await world.quiet();
    expect(world.gateway.debits.filter(({ order }) => order.payer.orgId === orgId)).toHaveLength(1);
  });
});
