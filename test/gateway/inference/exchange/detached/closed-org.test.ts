/** An org that is closed ends its detached calls, and nothing of their streams is left. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../../../support/console.fixtures.ts";
import { eventsIn, leftAfter, resumed } from "../../../../support/detached/fixtures.ts";
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

test("its running calls end, which their readers are told, and the streams of all go", async () => {
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  await leftAfter(gateway, "chat", 3, { svc: by("brief") });
  const { id } = await leftAfter(gateway, "chat", 3, { svc: by("endless") });
  await leftAfter(gateway, "chat", 3, { svc: { route: { ...by("endless").route, require: { zdr: true } } } });
  await until("all are kept", () => metric(gateway, "weir_detached_logs"), equals(3));
  const reading = resumed(gateway, id);
  const body = { slug: "second", name: "Second", billing_country: "IN" };
  expect((await owner.call("POST", "/v1/orgs", { body })).status).toBe(201);
  const closed = await owner.call("POST", "/v1/orgs/first/close", {
    org: "first",
    body: { confirm: "first" },
  });
  expect(closed.status).toBeLessThan(300);
  expect(eventsIn((await reading).text).at(-1)).toContain('"code":"cancelled"');
  await until("the running ones have ended", () => metric(gateway, "weir_calls_detached"), equals(0));
  await atRest(gateway);
  await until("nothing of them is left", () => metric(gateway, "weir_detached_logs"), equals(0));
});
