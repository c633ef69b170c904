/** Which connection carries a request: an idle one that is young enough, or a new one. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConnectionPool } from "../../../../../src/inference/upstream/http/pool.ts";
import { until } from "../../../../support/wait.ts";
import { answerOf, type RawProvider, send, startRawProvider } from "./raw-provider.ts";

let provider: RawProvider;
let pool: ConnectionPool;
let nowMs = 0;
beforeEach(async () => {
  provider = await startRawProvider();
  pool = new ConnectionPool(provider.origin, 5_000, { now: () => nowMs, monotonic: () => nowMs });
});
afterEach(async () => {
  const closed = pool.close();
  await provider.close();
  await closed;
});

/** Makes a call that gets this answer. @returns the number of its connection, from 1 */
async function connectionOf(answer = answerOf("a")): Promise<number> {
  const call = send(pool);
  const socket = await provider.asked();
  socket.write(answer);
  await call.done;
  return provider.sockets.indexOf(socket) + 1;
}

test("the one that was used last, so that the others can become old", async () => {
  const calls = [send(pool), send(pool)];
  const sockets = [await provider.asked(), await provider.asked()];
  for (const number of [1, 0]) {
    sockets[number]?.write(answerOf("a"));
    await Promise.race(calls.splice(number).map(({ done }) => done));
  }
  const last = provider.sockets.indexOf(sockets[0] as (typeof sockets)[0]) + 1;
  expect([await connectionOf(), await connectionOf()]).toEqual([last, last]);
});

test.each([
  ["connection: close\r\n"],
  ["Connection: x , CLOSE\r\n"],
  // It says that it is about to close.
  ["keep-alive: timeout=1\r\n"],
])("a new one behind an answer with %j", async (fields) => {
  expect([await connectionOf(answerOf("a", fields)), await connectionOf()]).toEqual([1, 2]);
});

test("an idle one for 30 s, or for as long as the provider says, less 2 s", async () => {
  const after = (idleMs: number, fields?: string) => {
    nowMs += idleMs;
    return connectionOf(answerOf("a", fields));
  };
  expect([await after(0), await after(29_999), await after(30_000)]).toEqual([1, 1, 2]);
  const hint = "Keep-Alive: max=9, timeout=5\r\n";
  expect([await after(0, hint), await after(2_999, hint), await after(3_000)]).toEqual([2, 2, 3]);
});

test("old ones are closed without another request", async () => {
  await connectionOf();
  nowMs += 30_000;
  await until("it is closed", () => pool.connections === 0);
});

test.each([
  ["before its head", ""],
  ["within its head", "HTTP/1.1 200 OK\r\ncontent-"],
  ["within a body of known length", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"],
  ["within a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nok"],
  ["before the last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n"],
  ["within the trailer", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b\r\n"],
])("an answer that ends %s has failed, and is not sent again", async (_, beginning) => {
  const call = send(pool);
  (await provider.asked()).end(beginning);
  await call.done;
  expect(call.heard.at(-1)).toBe("connection_closed");
  expect(provider.sockets).toHaveLength(1);
});
