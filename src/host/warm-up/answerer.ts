/** The upstream of a warm-up: it answers calls of models at once, over loopback, and refuses everything else. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { answerTo } from "./answers.ts";

export interface Answerer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Cuts every connection and frees the port. */
  close(): void;
}

const HOST = "127.0.0.1";
const HEAD_END = "\r\n\r\n";
/** To what asks for a database: records of a warm-up are kept nowhere. */
const REFUSAL = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/** @throws Error of the system where it cannot listen */
export async function openAnswerer(): Promise<Answerer> {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A connection that breaks fails the call that it carries, which says so.
    socket.on("error", () => {});
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
      if (!isWhole(received)) return;
      const request = received;
      received = "";
      const answer = answerTo(request, requests);
      if (answer === undefined) socket.end(REFUSAL);
      else {
        requests++;
        socket.write(answer);
      }
    });
  });
  server.listen(0, HOST);
  await once(server, "listening");
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** @param received bytes of one request, as Latin-1 */
function isWhole(received: string): boolean {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return false;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1] ?? 0);
  return received.length >= headEnd + HEAD_END.length + length;
}
