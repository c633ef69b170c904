/** A body that fails after its first part breaks the answer off, and whoever sends it hears why. */
import { expect, test } from "vitest";
import type { Body, BodyClient } from "../../../src/base/operation/body.ts";
import { inParts } from "../../../src/base/operation/body.ts";
import { sendStream } from "../../../src/edge/send-stream.ts";
import { follow } from "../../../src/inference/exchange/detached/follow.ts";
import type { ReadableCall } from "../../../src/inference/exchange/detached/readable-call.ts";
import { ASK, clientOf, serverWith } from "../../support/edge/reply-server.fixtures.ts";
import { until } from "../../support/wait.ts";

const HEADERS = "content-type: text/event-stream\r\n";
const BROKEN = new Error("the source broke");

/** A body that fails behind its first part. */
const failing = (): Body =>
  inParts(
    (async function* () {
      yield Buffer.from("first");
      throw BROKEN;
    })(),
  );

/** Resolves with what the sender was told, once the client's connection is closed. */
async function toldOf(send: (reply: Parameters<typeof sendStream>[0]) => Promise<void>): Promise<unknown> {
  const { promise: told, resolve } = Promise.withResolvers<unknown>();
  const { port } = await serverWith((reply) => {
    send(reply).then(() => resolve("all is sent"), resolve);
  });
  const { socket, read } = await clientOf(port);
  socket.resume().write(ASK);
  await until("the connection is closed", () => socket.closed);
  expect(read().includes("0\r\n\r\n")).toBe(false);
  return await told;
}

test("the body of an operation", async () => {
  expect(await toldOf((reply) => sendStream(reply, HEADERS, { type: "", body: failing() }))).toBe(BROKEN);
});

test("a running call that a repeated request gets", async () => {
  const call = {
    call: { isStream: true, format: "chat" },
    tell: (_last: string, client: BodyClient) => failing()(client),
  } as unknown as ReadableCall;
  const options = { headers: HEADERS, clock: { monotonic: () => 0 }, keepAliveMs: 0 };
  expect(await toldOf((reply) => follow(call, reply, options))).toBe(BROKEN);
});
