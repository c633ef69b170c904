/** The open loop: calls start when they are due, and their latency counts from then on. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { RateJob } from "../../../bench/load-job.ts";
import { runRate } from "../../../bench/load-rate.ts";
import { until } from "../../support/wait.ts";

const ANSWER = JSON.stringify({ choices: [{ message: { content: "yes" } }] });

let server: Server | undefined;
afterEach(() => server?.close());

/** @param answer called with each call, numbered from 1 */
async function serve(answer: (call: number, response: ServerResponse) => void): Promise<RateJob> {
  let calls = 0;
  server = createServer((request, response) => {
    request.resume().on("end", () => answer(++calls, response));
  });
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return {
    kind: "rate",
    url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/v1/chat/completions`,
    headers: {},
    body: "{}",
    connections: 64,
    format: "chat",
    expected: { text: "yes", events: 0 },
    callsPerSecond: 400,
    seconds: 0.15,
    timeoutMs: 20_000,
  };
}

test("a stall delays every call that was due meanwhile", async () => {
  const waiting: ServerResponse[] = [];
  // 40 calls are due 2.5 ms apart. A closed loop of fewer connections would never send the fortieth.
  const job = await serve((call, response) => {
    if (call < 40) waiting.push(response);
    else for (const one of [...waiting.splice(0), response]) one.end(ANSWER);
  });
  const result = await runRate(job);
  expect(result).toMatchObject({ calls: 60, intact: 60, failed: 0, fault: "" });
  // The first waited for 39 gaps, the tenth for 30.
  expect(result.latencyMs.p999).toBeGreaterThanOrEqual(39 * 2.5 - 1);
  expect(result.latencyMs.p90).toBeGreaterThanOrEqual(30 * 2.5);
});

test("calls that fail are counted, with the first reason", async () => {
  const job = await serve((call, response) => {
    if (call % 3 === 0) response.socket?.destroy();
    else response.end(call % 3 === 1 ? ANSWER : "{}");
  });
  const result = await runRate(job);
  expect(result).toMatchObject({ calls: 40, intact: 20, failed: 20 });
  expect(result.fault).not.toBe("");
});

test("calls that are not answered end with the deadline", async () => {
  const tried = async () => {
    server?.close();
    const job = await serve((call, response) => {
      if (call === 1) response.end(ANSWER);
    });
    return await runRate({ ...job, timeoutMs: 300 });
  };
  // A late machine has the deadline come before the first answer.
  const result = await until("the first is answered in time", tried, ({ calls }) => calls > 0);
  expect(result).toMatchObject({ calls: 1, intact: 1, failed: 59, fault: "not finished after 300 ms" });
});
