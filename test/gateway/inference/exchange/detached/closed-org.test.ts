/** An org that is closed ends its detached calls, and nothing of their streams is left. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../../../support/console.fixtures.ts";
import { leftAfter } from "../../../../support/detached/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { atRest, metric } from "../../../../support/observations.ts";
import { equals, until } from "../../../../support/wait.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "endless", instruction: { tokens: 4000, gap_ms: 20 } },
      { provider: "brief", instruction: { tokens: 5 } },
    ],
  });
});
afterAll(() => gateway?.stop());

const by = (provider: string) => ({ route: { providers: { only: [provider] } } });

test("its running calls end, and streams of ended ones go", async () => {
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  await leftAfter(gateway, "chat", 3, { svc: by("brief") });
  await leftAfter(gateway, "chat", 3, { svc: by("endless") });
  await until("both are kept", () => metric(gateway, "weir_detached_logs"), equals(2));
  const body = { slug: "second", name: "Second", billing_country: "IN" };
  expect((await owner.call("POST", "/v1/orgs", { body })).status).toBe(201);
  const closed = await owner.call("POST", "/v1/orgs/first/close", {
    org: "first",
    body: { confirm: "first" },
  });
  expect(closed.status).toBeLessThan(300);
  await until("the running one has ended", () => metric(gateway, "weir_calls_detached"), equals(0));
  await atRest(gateway);
  // The one that ran has an end, which its readers get.
  expect(await metric(gateway, "weir_detached_logs")).toBe(1);
});
