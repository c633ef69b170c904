/** Receivers on real sockets: they keep what they get, and answer as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  readonly url: string;
  readonly received: Received[];
  /** Default: 204. */
  answer: (response: ServerResponse, request: Received) => void;
  close(): Promise<void>;
}

export async function startReceiver(host = "127.0.0.1"): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one: Received = {
        path: request.url ?? "",
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(one);
      receiver.answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    port,
    url: `http://${host}:${port}/hook`,
    received,
    answer: (response) => void response.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Answers with a status, and whatever else a test wants to be answered. */
export const answering =
  (status: number, headers: Record<string, string> = {}, body = "") =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body);

/** What is wrong with a request by the package that receivers use; "" if it is signed by the secret. */
export function fault({ headers, body }: Pick<Received, "headers" | "body">, secret: string): string {
  try {
    new Webhook(secret).verify(body, { ...headers });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
