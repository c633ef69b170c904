/** A gateway that stops: what it has answered reaches its clients. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

test("the answer of the last call reaches its client, also where it closes the connection", async () => {
  const gateway = await testGateway({ cells: 0 });
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  await once(socket, "connect");
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
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
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text).toContain('"choices"');
});
