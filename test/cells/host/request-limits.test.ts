/** Limits of control-plane requests over three cells behind a proxy that gives each request to the next one. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import { missingRedis } from "../../support/redis-server.ts";

const missing = missingRedis();
const CELLS = 3;
const APPS = 7;

describe.skipIf(missing !== undefined)(`over cells${missing === undefined ? "" : `: ${missing}`}`, () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({
      cells: CELLS,
      settings: { request_limits: { key: { changes: 300 }, address: { reads: 20 } }, quotas: { apps: APPS } },
    });
  });
  afterAll(() => gateway.stop());

  const statuses = async (count: number, send: () => Promise<Answer>) => {
    const answers: Answer[] = [];
    while (answers.length < count) {
      const some = await Promise.all(Array.from({ length: 40 }, send));
      // One that stood still admits nothing before it has caught up.
      answers.push(...some.filter(({ status }) => status !== 503));
    }
    return Map.groupBy(answers, ({ status }) => status);
  };

  test("S7: of 90 who ask at once over all cells as many are admitted as the quota has room for", async () => {
    const made = await Promise.all(
      Array.from({ length: 90 }, (_, i) => gateway.call("POST", "/v1/apps", { body: { name: `App ${i}` } })),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(APPS);
    const refused = made.find(({ status }) => status === 403);
    expect(refused?.json.error).toMatchObject({
      code: "plan_limit",
      details: { quota: "apps", limit: APPS },
    });
    expect((await gateway.call("GET", "/v1/apps")).json.data).toHaveLength(APPS);
  });

  test("S7: of 600 changes in a burst over all cells a key makes 300", async () => {
    const org = (await gateway.call("GET", "/v1/orgs")).json.data[0].id;
    const answers = await statuses(600, () => gateway.call("PATCH", `/v1/orgs/${org}`, { body: {} }));
    const made = answers.get(200)?.length ?? 0;
    expect(made).toBeLessThanOrEqual(300);
    // The apps were changes too.
    expect(made).toBeGreaterThanOrEqual(280 - 90);
    const [limited] = answers.get(429) ?? [];
    expect(limited?.json.error).toMatchObject({ code: "rpm" });
    expect(limited?.headers.get("x-ratelimit-limit-requests")).toBe("300");
  });

  test("S7: an address has its limit at each cell", async () => {
    const answers = await statuses(200, () => gateway.call("GET", "/v1/providers", { key: null }));
    expect(answers.get(200)).toHaveLength(20 * CELLS);
  });
});
