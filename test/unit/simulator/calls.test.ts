/**
 * What the simulated provider keeps of its calls, for tests to look at and wait for, and its life as a server.
 */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { until } from "../../support/wait.ts";

const JSON_BODY = JSON.stringify({
  model: "sim-small",
  messages: [{ role: "user", content: "What is a weir?" }],
  simulator: { tokens: 1 },
});
const REQUEST = `POST /v1/chat/completions HTTP/1.1\r\nhost: sim\r\ncontent-length: ${JSON_BODY.length}\r\n\r\n${JSON_BODY}`;

/** Sends the bytes on one connection, waits until so many calls are over, and leaves. */
async function exchange(simulator: Simulator, batches: readonly string[], calls: number): Promise<void> {
  const client = connect({ port: simulator.port, host: "127.0.0.1" });
  client.resume();
  for (const batch of batches) client.write(batch);
  await until(
    "all calls were made and are over",
    () => simulator.totalCalls === calls && simulator.openCalls === 0,
  );
  client.destroy();
}

test("a request cut at every byte is read, and connection: close is honoured", async () => {
  const simulator = await startSimulator();
  const socket = connect({ port: simulator.port, host: "127.0.0.1", noDelay: true });
  const reply = text(socket);
  for (const byte of Buffer.from(REQUEST.replace("\r\n", "\r\nconnection: close\r\n"))) {
    socket.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  // Resolves only because the simulator ends the connection.
  expect(await reply).toMatch(/^HTTP\/1.1 200 OK[\s\S]*"completion_tokens":1/);
  expect(simulator.calls.at(-1)).toMatchObject({ ended: true, closedByPeer: false });
  await simulator.close();
});

test("a body of 32 MB is taken and kept for the test to see", async () => {
  const simulator = await startSimulator();
  const body = JSON.stringify({ ...JSON.parse(JSON_BODY), image: "A".repeat(32 * 1024 * 1024) });
  const reply = await fetch(`${simulator.url}/v1/chat/completions`, { method: "POST", body });
  expect(reply.status).toBe(200);
  const call = simulator.calls.at(-1);
  expect(call?.bodyBytes).toBe(body.length);
  expect(call?.body.equals(Buffer.from(body))).toBe(true);
  await simulator.close();
});

test("only the last 10,000 calls are kept", async () => {
  const simulator = await startSimulator();
  // Enough for the log to trim itself.
  const total = 20_050;
  await exchange(
    simulator,
    Array.from({ length: total / 50 }, () => REQUEST.repeat(50)),
    total,
  );
  expect(simulator.calls).toHaveLength(10_000);
  expect(simulator.calls.every((call) => call.ended && call.body.length === JSON_BODY.length)).toBe(true);
  await simulator.close();
});

test("keepBodyBytes bounds the bodies kept, youngest first; their sizes stay known", async () => {
  const size = JSON_BODY.length;
  const simulator = await startSimulator({ keepBodyBytes: 2 * size });
  await exchange(simulator, [REQUEST.repeat(5)], 5);
  expect(simulator.calls.map((call) => call.body.length)).toEqual([0, 0, 0, size, size]);
  expect(simulator.calls.map((call) => call.bodyBytes)).toEqual([size, size, size, size, size]);
  await simulator.close();
});

test("a taken port is an error, and close frees it", async () => {
  const own = await startSimulator();
  await expect(startSimulator({ port: own.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  await own.close();
  const again = await startSimulator({ port: own.port });
  await again.close();
});
