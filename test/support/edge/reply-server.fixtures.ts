/** A server of answers over a real socket, without what finds routes and callers. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach } from "vitest";
import { SocketReply } from "../../../src/edge/reply.ts";
import { securityHeaders } from "../../../src/edge/security-headers.ts";
import { HeldHandlers } from "../../../src/edge/sockets/held-handlers.ts";

const { App, us_socket_local_port } = await import("uWebSockets.js");

const servers: HeldHandlers[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers each request so until the test is over, and what its stop would wait for. */
export async function serverWith(answer: (reply: SocketReply) => void) {
  const counts = { open: 0, sending: 0, answered: 0, connections: 0 };
  const requests = {
    requestBegan: () => false,
    requestEnded: () => {
      counts.answered++;
    },
    sending: (change: number) => {
      counts.sending += change;
    },
  };
  const app = new HeldHandlers(App());
  servers.push(app);
  app.onConnection((_, change) => {
    counts.connections += change;
  });
  app.on("get", "/*", (res) => {
    answer(new SocketReply(res, false, () => false, securityHeaders(false), requests));
  });
  const port = await new Promise<number>((resolve) => {
    app.listen("127.0.0.1", 0, 0, (socket) => resolve(socket === false ? 0 : us_socket_local_port(socket)));
  });
  return { port, counts };
}

/** A client, and what it has read; it begins to read with `resume`. */
export async function clientOf(
  port: number,
): Promise<{ readonly socket: Socket; readonly read: () => Buffer }> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part)).pause();
  socket.on("error", () => {});
  return { socket, read: () => Buffer.concat(parts) };
}

export const ASK = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
