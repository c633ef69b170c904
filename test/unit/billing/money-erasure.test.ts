/** What is left of an org's rows of money when it is erased, and that its mandates end at the payment gateway before that. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ErasureStep, runStep } from "../../../src/account/erasure/erasure-steps.ts";
import type { MandateRow } from "../../../src/billing/mandates/mandate.ts";
import { endingOfMandates, moneyErasure } from "../../../src/billing/money-erasure.ts";
import { SubscriptionTables } from "../../../src/billing/subscriptions/tables.ts";
import { AutoTopupWorld, HOUR } from "./auto-topup.fixtures.ts";
import { someOrg } from "./fixtures.ts";

let world: AutoTopupWorld;
beforeAll(async () => {
  world = await new AutoTopupWorld().start();
});
afterAll(() => world.dispose());

const subscriptions = () => new SubscriptionTables(world.now.store);
const deps = () => ({ ...world.now, clock: world.time, subscriptions: subscriptions() });
const run = (step: ErasureStep, orgId: string) =>
  runStep(
    { accounts: world.now.accounts, clock: world.time, caughtUp: () => world.now.real.caughtUp() },
    step,
    orgId,
    new AbortController().signal,
  );

/** An org of which the erasure has begun, with a mandate that a client's key made. */
async function erasedOrg(): Promise<{ orgId: string; id: string }> {
  const orgId = await world.org(someOrg("US"));
  const { mandate } = await world.create(orgId, "card", `~key of ${orgId}`.replaceAll(" ", "_"));
  world.gateway.move(mandate.mandate_ref, "active");
  await world.tell(mandate.mandate_ref);
  const row = world.now.accounts.org(orgId);
  if (row === undefined) throw new Error("no org");
  const begun = { erasureBegunAtMs: world.time.now(), status: "closed" as const };
  await world.now.store.act(() => world.now.accounts.replaceOrg({ ...row, ...begun }));
  return { orgId, id: mandate.id };
}

test("a mandate ends at the payment gateway, then its token and its client's key go, and its row stays", async () => {
  const { orgId, id } = await erasedOrg();
  const before = world.now.mandates.get(orgId, id) as MandateRow;
  expect([before.status, before.tokenRef === "", before.idempotencyKey === ""]).toEqual([
    "active",
    false,
    false,
  ]);
  expect(await run(endingOfMandates(deps()), orgId)).toBe(false);
  await world.quiet();
  expect(world.gateway.mandates.get(before.ref)?.state).toBe("cancelled");
  expect(await run(endingOfMandates(deps()), orgId)).toBe(true);
  await world.now.store.act(() => {
    const change = { planId: "p", effective: "now", feeMicroUsd: 0, includedMicroUsd: 0 } as const;
    for (const key of ["~", "~~", "a"])
      subscriptions().putKey(orgId, key, {
        planId: "p",
        effective: "",
        change: { ...change, proratedBps: 0, invoiceId: "" },
      });
  });
  for (let i = 0; i < 2; i++) {
    for (const step of moneyErasure(deps())) expect(await run(step, orgId)).toBe(true);
    expect(world.now.mandates.get(orgId, id)).toEqual({
      ...before,
      status: "cancelled",
      cancelledAtMs: world.time.now(),
      tokenRef: "",
      hostedUrl: "",
      idempotencyKey: "",
    });
    expect(world.now.mandates.ofKey(orgId, before.idempotencyKey)).toBeUndefined();
    for (const key of ["~", "~~", "a"]) expect(subscriptions().ofKey(orgId, key)).toBeUndefined();
  }
});

test("a payment gateway that is away holds it up for an hour; the mandate ends there when it is back", async () => {
  const { orgId, id } = await erasedOrg();
  const { ref } = world.now.mandates.get(orgId, id) as MandateRow;
  world.gateway.isAway = true;
  expect(await run(endingOfMandates(deps()), orgId)).toBe(false);
  await world.pass(HOUR - 1);
  expect(await run(endingOfMandates(deps()), orgId)).toBe(false);
  await world.pass(1);
  expect(await run(endingOfMandates(deps()), orgId)).toBe(true);
  for (const step of moneyErasure(deps())) await run(step, orgId);
  // As the erasure forgets the org's jobs.
  await world.now.store.act(() => world.now.jobs.erase(orgId, 1_000));
  expect(world.now.mandates.get(orgId, id)?.tokenRef).toBe("");
  world.gateway.isAway = false;
  await world.pass(2 * HOUR);
  expect(world.gateway.mandates.get(ref)?.state).toBe("cancelled");
});
