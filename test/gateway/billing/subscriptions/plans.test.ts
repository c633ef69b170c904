/** Plans of a whole gateway: what a change of plan does to the org's next call. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

const limits = { rpm: 0, tpm: 0, concurrency: 0, keys: 9, projects: 9 };
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    plans: [
      { id: "local", limits, features: { sso: true } },
      {
        id: "small",
        name: "Small",
        limits: { ...limits, rpm: 1, keys: 2 },
        monthly_minor: { INR: 90_000, USD: 1_000 },
        included_micro: 3_000_000,
      },
      { id: "hidden", limits, public: false },
    ],
  });
});
afterAll(() => gateway.stop());

const choose = (body: object, headers: object = {}) =>
  gateway.call("POST", "/v1/billing/subscription", { body, headers });

test("plans are listed in the org's currency, and the subscription is that of the default plan at first", async () => {
  const { json } = await gateway.call("GET", "/v1/plans");
  expect(json.data.map((plan: { id: string; currency: string }) => [plan.id, plan.currency])).toEqual([
    ["local", ""],
    ["small", "USD"],
  ]);
  expect(json.data[1]).toEqual({
    id: "small",
    name: "Small",
    description: "",
    public: true,
    sort: 0,
    monthly_minor: 1_000,
    currency: "USD",
    included_micro: 3_000_000,
    limits: { rpm: 1, tpm: 0, concurrency: 0, keys: 2, projects: 9 },
    features: { sso: false, priority_support: false },
  });
  const found = await gateway.call("GET", "/v1/billing/subscription");
  expect(found.json).toMatchObject({
    subscription: { plan_id: "local", status: "active" },
    plan: { id: "local" },
  });
});

test.each([
  [{}, "/plan_id"],
  [{ plan_id: 5 }, "/plan_id"],
  [{ plan_id: "x".repeat(65) }, "/plan_id"],
  [{ plan_id: "hidden" }, "/plan_id"],
  [{ plan_id: "small", effective: "soon" }, "/effective"],
  [{ plan_id: "small", effective: "period_end" }, "/effective"],
  [{ plan_id: "small", price: 1 }, "/price"],
])("%j is refused", async (body, param) => {
  const { status, json } = await choose(body);
  expect([status, json.error.param]).toEqual([400, param]);
});

test("a quote says what a change takes, and takes nothing; a change that costs more than was said is refused", async () => {
  const quote = (query: string) => gateway.call("GET", `/v1/billing/subscription/quote?${query}`);
  const before = await gateway.balance();
  const { status, json } = await quote("plan_id=small");
  expect([status, json]).toEqual([
    200,
    expect.objectContaining({
      changes: true,
      effective: "now",
      fee_micro: 10_000_000,
      fee_minor: 1_000,
      currency: "USD",
      included_micro: 3_000_000,
      prorated_bps: 10_000,
      available_micro: before.available,
      available_after_micro: before.available - 7_000_000,
      missing_micro: 0,
    }),
  ]);
  expect(json.subscription).toMatchObject({ plan_id: "small", status: "active" });
  expect(await gateway.balance()).toEqual(before);
  expect((await gateway.call("GET", "/v1/billing/subscription")).json.subscription.plan_id).toBe("local");
  expect((await quote("plan_id=local")).json).toMatchObject({ changes: false, fee_micro: 0 });
  for (const [query, param] of [
    ["", "/plan_id"],
    ["plan_id=hidden", "/plan_id"],
    ["plan_id=small&effective=period_end", "/effective"],
  ] as const) {
    const refused = await quote(query);
    expect([refused.status, refused.json.error.param]).toEqual([400, param]);
  }
  const dearer = await choose({ plan_id: "small", max_fee_micro: json.fee_micro - 1 });
  expect([dearer.status, dearer.json.error.code, dearer.json.error.details]).toEqual([
    409,
    "state",
    { fee_micro: json.fee_micro },
  ]);
  expect(await gateway.balance()).toEqual(before);
});

test("limits of the chosen plan hold from the next call on; keys beyond its number work, and no new ones are made", async () => {
  const keys = await Promise.all(
    ["a", "b", "c"].map(
      async (name) => (await gateway.call("POST", "/v1/keys", { body: { name } })).json.secret,
    ),
  );
  for (const key of keys) expect((await gateway.chat({}, { key })).status).toBe(200);
  const before = await gateway.balance();
  const made = await choose({ plan_id: "small" }, { "idempotency-key": "one" });
  expect([made.status, made.json.fee_micro, made.json.included_micro]).toEqual([200, 10_000_000, 3_000_000]);
  expect(await gateway.balance()).toEqual({ ...before, available: before.available - 7_000_000 });
  expect((await choose({ plan_id: "small" }, { "idempotency-key": "one" })).json).toEqual(made.json);

  for (const key of keys) {
    expect((await gateway.chat({}, { key })).status).toBe(200);
    expect((await gateway.chat({}, { key })).json.error.code).toBe("rpm");
  }
  const more = await gateway.call("POST", "/v1/keys", { body: { name: "d" } });
  expect([more.status, more.json.error.code]).toEqual([403, "plan_limit"]);
  expect((await gateway.call("GET", "/v1/limits")).json.plan).toMatchObject({ rpm: 1, keys: 2 });

  expect((await choose({ plan_id: "local", effective: "now" })).json.subscription.status).toBe("cancelled");
  expect((await gateway.chat({}, { key: keys[0] })).status).toBe(200);
  expect((await gateway.call("POST", "/v1/keys", { body: { name: "d" } })).status).toBe(201);
  const { data } = (await gateway.call("GET", "/v1/events")).json;
  expect(
    data.map(({ type }: { type: string }) => type).filter((type: string) => !type.startsWith("key.")),
  ).toEqual(["subscription.changed", "subscription.changed", "invoice.issued"]);
});

test("a test key cannot choose, and one without the scope neither", async () => {
  const body = { plan_id: "small" };
  const { json } = await gateway.call("POST", "/v1/billing/subscription", { body, key: gateway.testKey });
  expect(json.error.code).toBe("scope");
});

test("the pricing document is for anybody", async () => {
  const { status, json } = await gateway.call("GET", "/v1/pricing", { key: null });
  expect([status, json.currencies, json.minimums_minor]).toEqual([
    200,
    ["INR", "USD"],
    { INR: 10_000, USD: 500 },
  ]);
  expect(
    json.plans.map((plan: { id: string; currency: string; monthly_minor: number }) => [
      plan.id,
      plan.currency,
      plan.monthly_minor,
    ]),
  ).toEqual([
    ["local", "", 0],
    ["small", "INR", 90_000],
    ["small", "USD", 1_000],
  ]);
  expect(json.gst).toMatchObject({ rate_bps: 1800, supplier_state: "29" });
  expect(json.supplier).toEqual({ legal_name: "Weir Example Private Limited", state: "29", gstin: true });
  expect(json.rails.find(({ rail }: { rail: string }) => rail === "simulated").items).toEqual([
    { method: "upi", bps: 0 },
    { method: "card", bps: 290, fixed_minor: 30 },
  ]);
});
