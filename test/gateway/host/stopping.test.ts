/** A gateway that stops: what it has answered reaches its clients. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { testGateway } from "../../support/gateway.ts";
import { metric } from "../../support/observations.ts";
import { sooner } from "../../support/pace.ts";
import { until } from "../../support/wait.ts";

/** A connection to a gateway, and what came over it. */
async function connected(url: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  const parts: Buffer[] = [];
  socket.on("data", (bytes: Buffer) => parts.push(bytes));
  return { socket, text: () => Buffer.concat(parts).toString() };
}

test("the answer of the last call reaches its client, also where it closes the connection", async () => {
  const gateway = await testGateway({ cells: 0 });
  const { socket, text } = await connected(gateway.url);
  const closed = once(socket, "close");
  const messages = [{ role: "user", content: "[[sim first_ms=300]]" }];
  const body = JSON.stringify({ model: "weir/sim-small", messages });
  // Behind a chunked body nothing more is read: such an answer closes its connection, and leaves a turn later.
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.liveKey}\r\n` +
      `content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n` +
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );
  await until("its provider has the call", () => gateway.simulator.calls.length > 0);
  await gateway.stop();
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text()).toContain('"choices"');
});

test("a request that is under way when the gateway stops is answered, though it is no model call", async () => {
  const gateway = await testGateway({ cells: 0, engine: false });
  const [asking, tailing] = [await connected(gateway.url), await connected(gateway.url)];
  const authorized = `host: x\r\nauthorization: Bearer ${gateway.liveKey}\r\n`;
  // A tail has no end: no stop waits for it.
  tailing.socket.write(`GET /v1/requests/tail HTTP/1.1\r\n${authorized}\r\n`);
  await until("the tail has begun", () => tailing.text().includes("text/event-stream"));
  const body = JSON.stringify({ name: "asked at the end" });
  const head = `POST /v1/keys HTTP/1.1\r\n${authorized}content-type: application/json\r\n`;
  asking.socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
  await until("the request is being read", async () => (await metric(gateway, "weir_bodies_bytes")) > 0);
  const stopped = gateway.stop();
  expect(await sooner(stopped, 1000)).toBe("the rest");
  asking.socket.write(body.slice(5));
  await stopped;
  await until("the connection is closed", () => asking.socket.closed && tailing.socket.closed);
  expect(asking.text()).toMatch(/^HTTP\/1\.1 201 /);
});
