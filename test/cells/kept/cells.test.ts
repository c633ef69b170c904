/** S4: three cells share an org's quota of kept bytes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import {
  fill,
  fillWithAnswers,
  type KeptPool,
  keptOf,
  PROSE,
  respond,
  SETTINGS,
} from "../../support/kept/fixtures.ts";
import { until } from "../../support/wait.ts";

/** Many times what a call takes, because each cell claims some ahead. */
const MAX = 500_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    cells: 3,
    engine: false,
    settings: { limits: { ...SETTINGS.limits, max_kept_test_bytes: MAX } },
  });
});
afterAll(() => gateway.stop());

/** Without payloads, which each cell counts for the others some at a time. */
async function countedAt(url: string): Promise<number> {
  const headers = { authorization: `Bearer ${gateway.liveKey}` };
  const answer = await fetch(`${url}/v1/limits`, { headers });
  const { kept } = (await answer.json()) as { kept: { test: KeptPool } };
  return kept.test.responses_bytes + kept.test.answers_bytes;
}

test("S4: together they keep no more than the quota, each knows of all, and a deletion at one makes room at all", async () => {
  const { stored, refused } = await fill(gateway, gateway.testKey);
  expect([refused.status, refused.json.error.code]).toEqual([403, "plan_limit"]);
  // A call is refused, too, where its cell could not ask the others in time for what they have claimed and do not need.
  await until("no room stays claimed that no cell needs", async () => {
    await fillWithAnswers(gateway, gateway.testKey);
    return (await keptOf(gateway, "test")).bytes > MAX * 0.8;
  });
  const urls = gateway.cellUrls ?? [];
  expect(urls.length).toBe(3);
  const same = async () => new Set(await Promise.all(urls.map(countedAt))).size === 1;
  await until("all cells know the same", same);
  const before = await keptOf(gateway, "test");
  expect(before.bytes).toBeLessThanOrEqual(MAX);
  expect(before.responses_bytes).toBeGreaterThanOrEqual(stored.length * 2 * PROSE.length);

  for (const { json } of stored) {
    const gone = await gateway.call("DELETE", `/v1/responses/${json.id}`, { key: gateway.testKey });
    expect(gone.status).toBe(200);
  }
  await until("all cells know that the responses are gone", async () => {
    const { responses_bytes } = await keptOf(gateway, "test");
    return responses_bytes === 0 && (await same());
  });
  await until("a response is stored again", async () => {
    const { status } = await respond(gateway, { store: true }, { key: gateway.testKey });
    return status === 200;
  });
});
