/** The catalog for a signed-in person who may only look: the pages of a console need no key, and show what a key is shown. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
let viewer: SignedInPerson;
const email = "viewer@example.com";
beforeAll(async () => {
  gateway = await testGateway({ endpoints: [{ provider: "seen", price: { input: 2, output: 8 } }] });
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  await owner.call("POST", "/v1/orgs/first/members", { body: { email, role: "viewer" } });
  viewer = await signInAt(gateway.url, { email });
  const [invitation] = (await viewer.call("GET", "/auth/invitations")).json.data;
  await viewer.call("POST", `/auth/invitations/${invitation.id}/accept`);
});
afterAll(() => gateway?.stop());

test.each([
  "/v1/models",
  "/v1/models?q=sim-small&sort=price",
  "/v1/models/test/model",
  "/v1/models/test%2Fmodel",
  "/v1/models/test/model/endpoints",
  "/v1/models/test/model/stats",
  "/v1/providers",
  "/v1/rankings",
  "/v1/pricing",
])("a viewer reads GET %s as a key does", async (path) => {
  const seen = await viewer.call("GET", path, { org: "first" });
  const byKey = await gateway.call("GET", path);
  expect([seen.status, byKey.status]).toEqual([200, 200]);
  const { generated_at: _, ...shown } = seen.json;
  expect(byKey.json).toMatchObject(shown);
});

test("a model's record for a person is the whole one, and its endpoint's prices have their instants", async () => {
  const { data } = (await viewer.call("GET", "/v1/models", { org: "first" })).json;
  const model = data.find(({ id }: { id: string }) => id === "test/model");
  expect(model).toMatchObject({
    object: "model",
    owned_by: "test",
    vendor: "test",
    pricing_from: { input: 2, output: 8, cache_read: 2 },
    endpoints: 1,
    capabilities: expect.objectContaining({ tools: expect.any(Boolean) }),
    uptime_30d: 1,
    ttft_p50_ms: 0,
  });
  const stats = (await viewer.call("GET", "/v1/models/test/model/stats", { org: "first" })).json;
  expect(stats.prices).toEqual([
    {
      endpoint_id: expect.stringContaining("seen"),
      effective_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      price: { input: 2, output: 8, cache_read: 2 },
      markup_bps: 0,
      price_version: expect.stringMatching(/^pv_/),
    },
  ]);
});
