/** A provider that writes bytes when a test says so, and calls to it whose events are noted. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { systemClock } from "../../../../../src/base/clock.ts";
import type { AnswerHandler, OpenConnection } from "../../../../../src/inference/upstream/http/connection.ts";
import { codeOf } from "../../../../../src/inference/upstream/http/errors.ts";
import { ConnectionPool } from "../../../../../src/inference/upstream/http/pool.ts";

export interface RawProvider {
  readonly origin: string;
  /** All connections so far, the first one first. */
  readonly sockets: readonly Socket[];
  /** Resolves with the connection on which the head of the next request has come. */
  asked(): Promise<Socket>;
  close(): Promise<void>;
}

export async function startRawProvider(host = "127.0.0.1"): Promise<RawProvider> {
  const sockets: Socket[] = [];
  const waiting: ((socket: Socket) => void)[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket
      .setNoDelay(true)
      .on("error", () => {})
      .on("data", (data) => {
        if (data.toString("latin1").startsWith("POST ")) waiting.shift()?.(socket);
      });
  }).listen(0, host);
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    sockets,
    asked: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const poolOf = (origin: string, connectTimeoutMs = 5_000) =>
  new ConnectionPool(origin, connectTimeoutMs, systemClock);

/** A call and what it has heard: `sent`, the status, the content in quotes, `end` or the code of an error. */
export interface Call extends AnswerHandler {
  over: boolean;
  readonly heard: string[];
  readonly done: Promise<void>;
  connection: OpenConnection | undefined;
}

export type Act = (call: Call) => void;

/** @param acts what is done in a callback of this name, behind what it notes */
export function send(
  pool: ConnectionPool,
  acts: Partial<Record<"onSent" | "onHead" | "onData" | "onEnd", Act>> = {},
  body = Buffer.from("{}"),
): Call {
  let finish = () => {};
  const call: Call = {
    over: false,
    heard: [],
    done: new Promise((resolve) => {
      finish = resolve;
    }),
    connection: undefined,
    onSent(connection) {
      call.connection = connection;
      call.heard.push("sent");
      acts.onSent?.(call);
    },
    onHead(status) {
      call.heard.push(String(status));
      acts.onHead?.(call);
    },
    onData(bytes, start, end) {
      call.heard.push(JSON.stringify(bytes.toString("latin1", start, end)));
      acts.onData?.(call);
    },
    onEnd() {
      call.heard.push("end");
      finish();
      acts.onEnd?.(call);
    },
    onError(error) {
      call.heard.push(codeOf(error) || String(error));
      finish();
    },
  };
  pool.send({ head: pool.head("/", []), parts: [body] }, call);
  return call;
}

export const answerOf = (body: string, fields = "") =>
  `HTTP/1.1 200 OK\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
