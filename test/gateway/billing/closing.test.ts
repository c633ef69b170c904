/** C12: an org that is closed has no subscription any more, and says what became of its credit. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

const limits = { rpm: 0, tpm: 0, concurrency: 0, keys: 9, projects: 9 };
let gateway: TestGateway;
let owner: SignedInPerson;
beforeAll(async () => {
  gateway = await testGateway({
    plans: [
      { id: "local", limits },
      {
        id: "small",
        name: "Small",
        limits,
        included_micro: 3_000_000,
        monthly_minor: { INR: 90_000, USD: 1_000 },
      },
    ],
  });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
});
afterAll(() => gateway.stop());

async function madeOrg(slug: string) {
  const body = { slug, name: slug, billing_country: "US" };
  expect((await owner.call("POST", "/v1/orgs", { body })).status).toBe(201);
  const call = (method: string, path: string, asked?: object) =>
    owner.call(method, path, { org: slug, ...(asked && { body: asked }) });
  const subscription = async () => (await call("GET", "/v1/billing/subscription")).json;
  const events = async () => (await call("GET", "/v1/events")).json.data;
  const close = (refundRequested: boolean) =>
    call("POST", `/v1/orgs/${slug}/close`, { confirm: slug, refund_requested: refundRequested });
  return { call, subscription, events, close };
}

async function paid({ call }: Awaited<ReturnType<typeof madeOrg>>, minor: number): Promise<void> {
  const { json } = await call("POST", "/v1/credits/topups", { amount_minor: minor });
  await fetch(json.checkout_url, {
    method: "POST",
    body: new URLSearchParams({ act: "pay" }),
    redirect: "manual",
  });
  await until("the top-up is paid", async () => {
    const topup = await call("GET", `/v1/credits/topups/${json.topup.id}`);
    return topup.json.status === "paid";
  });
}

test("C12: closing ends a paid plan in its act, and tells of paid and granted credit that was left", async () => {
  const org = await madeOrg("paying");
  await paid(org, 2_500);
  expect((await org.call("POST", "/v1/billing/subscription", { plan_id: "small" })).status).toBe(200);
  const closed = await org.close(true);
  expect([closed.status, closed.json.status, closed.json.plan_id]).toEqual([200, "closed", "local"]);
  expect(await org.subscription()).toMatchObject({
    subscription: { status: "cancelled", plan_id: "local" },
    plan: { id: "local" },
  });
  const [changed, event] = await org.events();
  expect([changed, event]).toMatchObject([
    { type: "subscription.changed", data: { status: "cancelled", plan_id: "local" } },
    {
      type: "org.closed",
      data: {
        closing: {
          by: "owner",
          refund_requested: true,
          ticket_id: expect.stringMatching(/^tkt_/),
          paid_micro: 15_000_000,
          granted_micro: 3_000_000,
          refunds: [],
        },
      },
    },
  ]);
  const tickets = (await org.call("GET", "/v1/tickets")).json.data;
  expect(tickets).toMatchObject([{ kind: "close_org", body: { refundable_micro: 15_000_000 } }]);
});

test("C12: an org that never paid for a plan has none either once it is closed", async () => {
  const org = await madeOrg("free");
  expect((await org.subscription()).subscription.status).toBe("active");
  await org.close(false);
  expect((await org.subscription()).subscription.status).toBe("cancelled");
});
