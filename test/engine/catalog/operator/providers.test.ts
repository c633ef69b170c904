/** What providers refused, as an operator reads it of a gateway with its engine: from the call to the answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { recordOf, requestIdOf } from "../../../support/observations.ts";
import { until } from "../../../support/wait.ts";

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await testGateway({
    engine: true,
    endpoints: [
      { provider: "limits", instruction: { status: 429 } },
      { provider: "odd", instruction: { status: 418 } },
    ],
  });
  key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
});
afterAll(() => gateway?.stop());

const chat = (provider: string) =>
  gateway.chat({
    model: "test/model",
    messages: [{ role: "user", content: "A secret of mine" }],
    svc: { route: { providers: { only: [provider] } } },
  });

test("refusals are counted by meaning and status, those that no row knows too, without a word of a prompt", async () => {
  for (const provider of ["limits", "odd"]) {
    const answer = await chat(provider);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    await recordOf(gateway, requestIdOf(answer));
  }
  // An answer waits less than a second for the engine, which a loaded machine may take longer for.
  const { data } = await until(
    "the refusals are read",
    async () => (await gateway.call("GET", "/v1/operator/providers", { key })).json,
    ({ analytics }) => analytics,
  );
  const refusalsOf = (id: string) => data.find((one: { id: string }) => one.id === id).refusals;
  const counted = { attempts: expect.any(Number), own_key_attempts: 0, last_at: expect.any(String) };
  expect(refusalsOf("limits")).toMatchObject([
    { ...counted, meaning: "rate_limit", http_status: 429, error_class: "capacity" },
  ]);
  expect(refusalsOf("odd")).toMatchObject([
    { ...counted, meaning: "unmatched", row: "", http_status: 418, error_class: "client" },
  ]);
  expect(refusalsOf("simulator")).toEqual([]);
  const alone = await gateway.call("GET", "/v1/operator/providers/limits", { key });
  expect(alone.json).toMatchObject({ analytics: true, refusals: refusalsOf("limits") });
  expect(JSON.stringify([data, alone.json])).not.toContain("A secret");
});
