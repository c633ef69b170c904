/** A reader that is slower than a stream is kept holds nothing of it back: what a bound forgets is gone from memory, too. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leftAfter } from "../../../../support/detached/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { metric } from "../../../../support/observations.ts";
import { equals, until } from "../../../../support/wait.ts";

/** One call fills it, and is more than the system takes for a reader that does not read. */
const MOST = 16 * 1024 * 1024;
const TOKENS = 40_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [{ provider: "sudden", instruction: { tokens: TOKENS } }],
    settings: { limits: { max_detached_call_bytes: MOST, max_detached_org_bytes: MOST } },
  });
});
afterAll(() => gateway?.stop());

/** The head of the call's stream, whose body waits until it is read. */
async function reading(id: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${gateway.liveKey}` };
  const call = request(`${gateway.url}/v1/generation/${id}/stream`, { agent: false, headers });
  call.end();
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return response;
}

/** A call that has ended. @returns its id */
async function ended(policy: Record<string, unknown>): Promise<string> {
  const { id } = await leftAfter(gateway, "chat", 1, { svc: policy });
  await until("it has ended", () => metric(gateway, "weir_calls_detached"), equals(0));
  return id;
}

test.for<[string, Record<string, unknown>]>([
  ["in the store", {}],
  ["in memory alone", { data_policy: "zdr" }],
])("its answer breaks off where it has not all of a call %s", async ([, policy]) => {
  const response = await reading(await ended(policy));
  expect(response.statusCode).toBe(200);
  await ended(policy);
  await until("the first is forgotten", () => metric(gateway, "weir_detached_logs"), equals(1));
  let bytes = 0;
  response.on("data", (part: Buffer) => {
    bytes += part.length;
  });
  await expect(once(response, "end")).rejects.toThrow("aborted");
  expect(bytes).toBeLessThan(MOST / 2);
});
