/**
 * What the simulated provider refuses, and how: errors as told, requests that a provider would refuse, non-HTTP.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const user = (content: string) => ({ model: "sim-small", messages: [{ role: "user", content }] });
const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;

const post = (body: unknown, prefix = "", headers: Record<string, string> = {}) =>
  fetch(`${simulator.url}${prefix}/v1/chat/completions`, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

test("as told, with retry headers", async () => {
  const reply = await post(
    user('[[sim status=429 retry_after=2 retry_after_ms=1500 error_message="Slow down."]]'),
  );
  expect(reply.status).toBe(429);
  expect(reply.headers.get("retry-after")).toBe("2");
  expect(reply.headers.get("retry-after-ms")).toBe("1500");
  expect(await reply.json()).toEqual({
    error: { message: "Slow down.", type: "requests", param: null, code: "rate_limit_exceeded" },
  });
});

test("times: the first calls fail, the next is well", async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await post(user("[[sim status=500 times=2]]"))).status);
  expect(statuses).toEqual([500, 500, 200, 200]);
});

test("reject: a field that this provider does not know", async () => {
  const path = withPath({ reject: ["stream_options"] });
  const body = { ...user("Hi"), stream: true };
  expect((await post({ ...body, stream_options: { include_usage: true } }, path)).status).toBe(400);
  expect((await post(body, path)).status).toBe(200);
});

test("a bearer token of 'invalid' is a 401", async () => {
  const reply = await post(user("Hi"), "", { authorization: "Bearer invalid" });
  expect(reply.status).toBe(401);
  expect(await reply.json()).toMatchObject({ error: { code: "invalid_api_key" } });
});

test.each([
  ["{", 400],
  ["[]", 400],
  ["\u0000", 400],
  [{ messages: [] }, 400],
  [{ model: "m", messages: "Hi" }, 400],
  [{ ...user("Hi"), n: 0 }, 400],
  [{ ...user("Hi"), max_tokens: "9" }, 400],
  [{ ...user("Hi"), stream_options: { include_usage: true } }, 400],
])("a body that OpenAI refuses is refused: %j", async (body, status) => {
  const reply = await post(body);
  expect(reply.status).toBe(status);
  expect(await reply.json()).toMatchObject({ error: { type: "invalid_request_error" } });
});

test("an unknown path is 404, a wrong method 405", async () => {
  expect((await fetch(`${simulator.url}/v1/nothing`)).status).toBe(404);
  expect((await fetch(`${simulator.url}/v1/chat/completions`)).status).toBe(405);
});

test.each([
  ["GET / HTTP/1.0\r\n\r\n", 505],
  ["nonsense\r\n\r\n", 400],
  ["GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n", 400],
  ["POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400],
  ["POST / HTTP/1.1\r\ncontent-length: 999999999\r\n\r\n", 413],
  [`GET / HTTP/1.1\r\nx: ${"x".repeat(70_000)}`, 431],
])("what is not HTTP/1.1 within bounds is refused and the connection closed: %j", async (bytes, status) => {
  const socket = connect({ port: simulator.port, host: "127.0.0.1" });
  await once(socket, "connect");
  socket.write(bytes);
  expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(simulator.openCalls).toBe(0);
});
