/** Receivers on real sockets that do what a test says, and an outbound room that may call them. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { afterEach, beforeEach } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { OutboundError } from "../../../src/outbound/failure.ts";
import { type OutboundRules, readAllow } from "../../../src/outbound/rules.ts";
import {
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  openOutbound,
} from "../../../src/outbound/send.ts";

export const rulesOf = (allow: readonly string[], others: Partial<OutboundRules> = {}): OutboundRules => ({
  allow: readAllow(allow),
  ownPorts: () => [],
  ownAddresses: () => new Set(),
  ...others,
});

/** Nothing but public addresses. */
export const PUBLIC_ONLY = rulesOf([]);
export const WITH_LOOPBACK = rulesOf(["127.0.0.0/8", "::1/128"]);

export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** All connections so far, the first one first. */
  readonly sockets: readonly Socket[];
  /** The heads of all requests so far. */
  readonly heads: readonly string[];
  /** Answers a request; default: 200 with `ok`. */
  answer: (socket: Socket) => void;
  close(): Promise<void>;
}

export const answerOf = (body: string, fields = "", status = "200 OK") =>
  `HTTP/1.1 ${status}\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;

/** Takes each chunk that begins with a method for a request: tests send small ones. */
export async function startReceiver(tls?: TlsOptions): Promise<Receiver> {
  const sockets: Socket[] = [];
  const heads: string[] = [];
  const onSocket = (socket: Socket) => {
    sockets.push(socket);
    socket
      .setNoDelay(true)
      .on("error", () => {})
      .on("data", (data) => {
        const text = data.toString("latin1");
        if (!/^(?:POST|GET) /.test(text)) return;
        heads.push(text.slice(0, text.indexOf("\r\n\r\n")));
        receiver.answer(socket);
      });
  };
  const server: Server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket);
  server.on("tlsClientError", () => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    sockets,
    heads,
    answer: (socket) => socket.write(answerOf("ok")),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

export const openTest = (options: Partial<OutboundOptions> = {}): Outbound =>
  openOutbound({
    rules: WITH_LOOPBACK,
    clock: systemClock,
    resolve: () => Promise.reject(new Error("no name is looked up in this test")),
    ...options,
  });

/** What a call failed with. */
export const failureOf = (sent: Promise<unknown>): Promise<OutboundError> =>
  sent.then(
    (answer) => {
      throw new Error(`there was an answer: ${JSON.stringify(answer)}`);
    },
    (error) => error,
  );

export const kindOf = async (sent: Promise<unknown>): Promise<string> => (await failureOf(sent)).kind;

/**
 * A receiver and an outbound room that may call it, anew for each test of a file, which may put others in their place. Call it at the
 * top of the file.
 */
export function outboundRig() {
  let receiver: Receiver | undefined;
  let outbound: Outbound | undefined;
  const opened = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error("the test has not begun");
    return part;
  };
  const rig = {
    get receiver(): Receiver {
      return opened(receiver);
    },
    set receiver(other: Receiver) {
      receiver = other;
    },
    get outbound(): Outbound {
      return opened(outbound);
    },
    set outbound(other: Outbound) {
      outbound = other;
    },
    send: (request: Partial<OutboundRequest> = {}) =>
      rig.outbound.send({
        url: rig.receiver.url,
        method: "POST",
        body: "{}",
        timeoutMs: 5_000,
        ...request,
      }),
  };
  beforeEach(async () => {
    receiver = await startReceiver();
    outbound = openTest();
  });
  afterEach(async () => {
    outbound?.close();
    await receiver?.close();
  });
  return rig;
}
