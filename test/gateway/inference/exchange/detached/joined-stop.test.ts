/** Who repeats the request of a running call reads at his own pace: a stop of the gateway does not wait for him. */
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "vitest";
import { begin } from "../../../../support/detached/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { metric } from "../../../../support/observations.ts";
import { until } from "../../../../support/wait.ts";

const KEY = { "idempotency-key": "joined" };

/** The answer's head; its body waits until it is read. */
function openAnswer(gateway: TestGateway): Promise<IncomingMessage> {
  const call = request(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json", ...KEY },
  });
  const messages = [{ role: "user", content: "x" }];
  call.end(JSON.stringify({ model: "test/model", stream: true, messages, svc: { on_disconnect: "detach" } }));
  return new Promise((resolve, reject) => {
    call.once("response", resolve);
    call.once("error", reject);
  });
}

test("a stop does not wait for one that reads nothing, though its call has ended", async () => {
  const gateway = await testGateway({
    engine: false,
    // More than the kernel takes for a client that does not read.
    endpoints: [{ provider: "bulk", instruction: { first_ms: 2000, total_bytes: 14_000_000 } }],
    settings: { timeouts: { shutdown_ms: 3000 } },
  });
  const going = new AbortController();
  const first = begin(gateway, "chat", { headers: KEY, signal: going.signal });
  first.catch(() => {});
  await until("the upstream is asked", () => gateway.simulator.totalCalls > 0);
  const joined = await openAnswer(gateway);
  joined.on("error", () => {});
  expect(joined.headers["idempotent-replayed"]).toBe("true");
  expect(await metric(gateway, "weir_calls_live")).toBe(1);
  going.abort();
  await until("the call has ended", async () => (await metric(gateway, "weir_calls_live")) === 0);
  await gateway.stop();
  joined.resume();
  await until("the connection is closed", () => joined.closed);
  expect(joined.complete).toBe(false);
});
