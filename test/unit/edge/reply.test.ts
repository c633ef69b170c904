/** When an answer counts as sent: once the system has all of it, so that a server that stops then loses none of it. */
import { expect, test } from "vitest";
import type { Afterwards } from "../../../src/edge/reply.ts";
import { ASK, clientOf, serverWith } from "../../support/edge/reply-server.fixtures.ts";
import { until } from "../../support/wait.ts";

/** More than the system takes of an answer that is not read. */
const MUCH = 16 * 1024 * 1024;

/** A server that answers each request with these bytes, and what its stop would wait for. */
const serverOf = (body: Buffer | string, afterwards: Afterwards) =>
  serverWith((reply) => {
    reply.afterwards = afterwards;
    reply.sendJson(200, "", body);
  });

/** What is behind the head of an answer, and the values of a header in it. */
function parted(answer: Buffer, header: string) {
  const end = answer.indexOf("\r\n\r\n");
  const lines = answer.subarray(0, end).toString().toLowerCase().split("\r\n");
  return {
    body: answer.subarray(end + 4),
    values: lines
      .filter((line) => line.startsWith(`${header}: `))
      .map((line) => line.slice(header.length + 2)),
  };
}

test.for<[Afterwards, string]>([
  ["keep", ""],
  ["keep", "connection: close\r\n"],
  ["drain", ""],
  ["close", ""],
  ["close", "connection: close\r\n"],
])(
  "an answer is being sent until a slow client has taken so much that the system has the rest: %s, asked with %j",
  async ([afterwards, line]) => {
    const body = Buffer.from(`"${"a".repeat(MUCH)}"`);
    const { port, counts } = await serverOf(body, afterwards);
    const { socket, read } = await clientOf(port);
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\n${line}\r\n`);
    await until("the answer has begun", () => socket.bytesRead > 0 && counts.answered === 1);
    expect(counts.sending).toBe(1);
    socket.resume();
    await until("it is whole", () => read().length > MUCH);
    await until("it is no longer being sent", () => counts.sending === 0);
    const { body: got, values } = parted(read(), "connection");
    expect(got.equals(body)).toBe(true);
    expect(values).toEqual(afterwards === "keep" ? [] : ["close"]);
    if (afterwards === "close" || line !== "")
      await until("the server has closed", () => counts.connections === 0);
    socket.destroy();
  },
);

test("a closing answer that the system takes at once closes its connection, too", async () => {
  const body = Buffer.from(`"${"a".repeat(100_000)}"`);
  const { port, counts } = await serverOf(body, "close");
  const { socket, read } = await clientOf(port);
  socket.resume().write(ASK);
  await until("the connection is closed", () => socket.closed);
  expect(parted(read(), "connection")).toEqual({ body, values: ["close"] });
  expect(parted(read(), "content-length").values).toEqual([String(body.length)]);
  expect(counts).toMatchObject({ sending: 0, connections: 0 });
});

test("a client that leaves in the midst of a closing answer is no longer sent anything", async () => {
  const { port, counts } = await serverOf(Buffer.alloc(MUCH, "a"), "close");
  const { socket } = await clientOf(port);
  socket.write(ASK);
  await until("the answer has begun", () => socket.bytesRead > 0 && counts.sending === 1);
  socket.destroy();
  await until("it is no longer being sent", () => counts.sending === 0 && counts.connections === 0);
});

test.for<[string, Buffer | string]>([
  ["bytes", Buffer.alloc(200_000, "a")],
  ["text", "a".repeat(200_000)],
  ["text of few characters and many bytes", "\u20ac".repeat(8000)],
])("an answer of medium size is being sent, too, while its client reads nothing: %s", async ([, body]) => {
  const { port, counts } = await serverOf(body, "keep");
  const { socket, read } = await clientOf(port);
  let asked = 0;
  // The system takes some megabytes of answers that are not read.
  while (counts.sending === 0 && asked * Buffer.byteLength(body) < MUCH) {
    socket.write(ASK);
    asked++;
    await until("the request is answered", () => counts.answered === asked);
  }
  expect(counts.sending).toBe(1);
  socket.resume();
  await until("all answers are there", () => read().length > asked * Buffer.byteLength(body));
  await until("nothing is being sent", () => counts.sending === 0);
  socket.destroy();
});

test("a stream that has ended is being sent until a slow client has taken it", async () => {
  const { port, counts } = await serverWith((reply) => {
    reply.openStream("content-type: text/plain\r\n", "");
    reply.write(Buffer.alloc(MUCH, "a"));
    reply.end(Buffer.from("the end"));
  });
  const { socket, read } = await clientOf(port);
  socket.write(ASK);
  await until("the answer has begun", () => socket.bytesRead > 0 && counts.answered === 1);
  expect(counts.sending).toBe(1);
  socket.resume();
  await until("it is whole", () => read().subarray(-20).includes("the end\r\n0\r\n\r\n"));
  await until("it is no longer being sent", () => counts.sending === 0);
  socket.destroy();
});

test("an answer that goes on until its client leaves counts as a request that is over, once", async () => {
  const { port, counts } = await serverWith((reply) => {
    reply.hasNoEnd();
    reply.openStream("content-type: text/event-stream\r\n", ": \n\n");
    reply.write(Buffer.from("data: 1\n\n"));
  });
  const { socket, read } = await clientOf(port);
  socket.resume().write(ASK);
  await until("it has begun", () => read().includes("data: 1"));
  expect(counts.answered).toBe(1);
  socket.destroy();
  await until("the client is gone", () => counts.connections === 0);
  expect(counts).toMatchObject({ answered: 1, sending: 0 });
});
