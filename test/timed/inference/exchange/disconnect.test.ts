/** Within what time the gateway closes its call to the upstream once its client has left. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

/** What docs/traps.md promises: an upstream call that runs on costs money. */
const MOST_MS = 1000;
const TRIES = 3;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.stop());

/** @returns milliseconds from a client's leaving until its upstream call is closed */
async function leave(stream: boolean): Promise<number> {
  const going = new AbortController();
  const pace = stream ? "tokens=1000 gap_ms=20" : "first_ms=60000";
  const messages = [{ role: "user", content: `Hello [[sim ${pace}]]` }];
  const call = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "weir/sim-small", stream, messages }),
    signal: going.signal,
  });
  const over = call.then((answer) => answer.text()).catch(() => "left");
  await until("the call is open", () => gateway.simulator.openCalls === 1);
  const fromMs = performance.now();
  going.abort();
  await until("the upstream call is closed", () => gateway.simulator.openCalls === 0);
  const tookMs = performance.now() - fromMs;
  await over;
  expect(gateway.simulator.calls.at(-1)?.closedByPeer).toBe(true);
  return tookMs;
}

test.each([
  ["streams", true],
  ["waits for the whole answer", false],
])("a client that leaves while it %s: within a second", async (_, stream) => {
  const tookMs: number[] = [];
  for (let attempt = 0; attempt < TRIES; attempt++) tookMs.push(await leave(stream));
  expect(Math.min(...tookMs)).toBeLessThan(MOST_MS);
});
