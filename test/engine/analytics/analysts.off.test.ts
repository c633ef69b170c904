/** Analysts' users of an installation whose operator, or whose system, does not let their statements run. */
import { expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { testGateway } from "../../support/gateway.ts";

test("S1: makes no user where analysts are off, for orgs and for operators, and says why and what to do", async () => {
  const settings = { analytics: { analysts: "off" }, operators: ["owner@example.com"] };
  const gateway = await testGateway({ engine: true, settings });
  try {
    const owner = await signInAt(gateway.url, { email: "owner@example.com" });
    for (const path of ["/v1/analytics/users", "/v1/operator/analytics/users"]) {
      const { status, json } = await owner.call("POST", path, { body: { name: "A dashboard" } });
      expect([path, status, json.error.code]).toEqual([path, 409, "state"]);
      expect(json.error.message).toMatch(/^Analysts' users are off: .*weir\.yaml.*CLICKHOUSE_URL/);
      expect((await owner.call("GET", path)).json.data).toEqual([]);
    }
  } finally {
    await gateway.stop();
  }
});
