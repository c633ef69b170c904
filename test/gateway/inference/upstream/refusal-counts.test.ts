/** What the operator sees of refusals: the row that matched, in the record, the metrics and the log; and what none matches, by provider. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Script, ScriptedUpstream } from "../../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { recordOf } from "../../../support/observations.ts";

const log: string[] = [];
let up: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  up = await ScriptedUpstream.start();
  const baseUrl = `${up.url}/v1`;
  gateway = await testGateway({ endpoints: [{ provider: "refuser", baseUrl }], log });
});
afterAll(async () => {
  await gateway.stop();
  await up.close();
});

const refused = (message: string, status = 400) => ({
  status,
  body: JSON.stringify({ error: { message, type: "some_error" } }),
});

/** The record's attempt, and the line of the log. */
async function asked(...scripts: readonly Script[]) {
  up.script(...scripts);
  const { headers } = await gateway.chat({ model: "test/model", messages: [{ role: "user", content: "a" }] });
  const id = headers.get("x-svc-request-id") ?? "";
  const line = log.map((text) => JSON.parse(text)).find(({ requestId }) => requestId === id);
  return { attempt: (await recordOf(gateway, id)).attempt_rows[0], line };
}

async function counted(name: string): Promise<number> {
  const { text } = await gateway.call("GET", "/metrics", { key: null });
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}

test("a refusal that a row matches", async () => {
  const { attempt, line } = await asked(refused("prompt is too long: 215692 tokens > 200000 maximum"));
  expect(attempt).toMatchObject({ outcome: "http_error", refusal: "anthropic.prompt_too_long" });
  expect(line).toMatchObject({ refusal: "anthropic.prompt_too_long", provider: "refuser" });
  expect(await counted('weir_upstream_refusals_total{row="anthropic.prompt_too_long"}')).toBe(1);
  expect(await counted('weir_unmatched_refusals_total{provider="refuser"}')).toBe(0);
});

test("refusals that no row matches; a failure of the provider's own is none", async () => {
  const { attempt, line } = await asked(refused("Computer says no."));
  expect(attempt).toMatchObject({ outcome: "http_error", refusal: "" });
  expect(line).toMatchObject({ refusal: "(none)" });
  await asked(refused("Go away.", 418));
  expect((await asked(refused("Sorry.", 500))).line).not.toHaveProperty("refusal");
  expect(await counted('weir_unmatched_refusals_total{provider="refuser"}')).toBe(2);
  expect(log.join()).not.toContain("Computer says no");
});
