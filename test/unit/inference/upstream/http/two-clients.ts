/** The gateway's client and undici before the same server, which answers as a test says, over real sockets. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Pool } from "undici";
import { systemClock } from "../../../../../src/base/clock.ts";
import { ConnectionPool } from "../../../../../src/inference/upstream/http/pool.ts";
import { requestHead } from "../../../../../src/inference/upstream/http/request.ts";
import { until } from "../../../../support/wait.ts";
import { type Answer, piecesOf } from "./answers.ts";

/** What became of one request. */
export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** Latin1. */
  body: string;
  end: "under way" | "ended" | "failed";
}

export interface Result {
  readonly first: Outcome;
  /** Whether its end was known before the connection ended. */
  readonly atOnce: boolean;
  /** Whether the second request came on the first one's connection. */
  readonly reused: boolean;
  readonly second: Outcome;
}

interface Asked {
  readonly outcome: Outcome;
  readonly over: Promise<unknown>;
}

interface Client {
  ask(path: string): Asked;
  close(): Promise<void>;
}

const READ = [
  "content-type",
  "content-encoding",
  "retry-after",
  "retry-after-ms",
  "x-amzn-errortype",
] as const;
const BODY = Buffer.from("{}");
const SECOND = "HTTP/1.1 200 OK\r\ncontent-type: second\r\ncontent-length: 6\r\n\r\nsecond";

const underWay = (): Outcome => ({ status: 0, headers: {}, body: "", end: "under way" });

function weir(origin: string): Client {
  const pool = new ConnectionPool(origin, 5_000, systemClock);
  return {
    ask(path) {
      const outcome = underWay();
      const over = new Promise<void>((resolve) => {
        const settle = (end: Outcome["end"]) => {
          if (outcome.end !== "under way") throw new Error(`it ${outcome.end} before`);
          outcome.end = end;
          resolve();
        };
        pool.send(
          { head: requestHead(pool.host, path, []), parts: [BODY] },
          {
            over: false,
            onSent() {},
            onHead(status, headers) {
              outcome.status = status;
              // In the same order for both.
              for (const name of READ) {
                const value = headers[name];
                if (value !== undefined) outcome.headers[name] = value;
              }
            },
            onData(bytes, start, end) {
              outcome.body += bytes.toString("latin1", start, end);
            },
            onEnd: () => settle("ended"),
            onError: () => settle("failed"),
          },
        );
      });
      return { outcome, over };
    },
    close: () => pool.close(),
  };
}

function undici(origin: string): Client {
  const pool = new Pool(origin, {
    connections: null,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
  });
  return {
    ask(path) {
      const outcome = underWay();
      const over = new Promise<void>((resolve) => {
        pool.dispatch(
          { path, method: "POST", body: BODY },
          {
            onRequestStart() {},
            onResponseStart(_, status, headers) {
              if (status < 200) return;
              outcome.status = status;
              for (const name of READ) {
                // Our client tells the first of a repeated field, or all codings, without the blanks behind them (RFC 9110, 5.5).
                const values = [headers[name] ?? []].flat().map((value) => value.replace(/[ \t]+$/, ""));
                const told = name === "content-encoding" ? values : values.slice(0, 1);
                if (told.length > 0) outcome.headers[name] = told.join(", ");
              }
            },
            onResponseData(_, chunk) {
              outcome.body += chunk.toString("latin1");
            },
            onResponseEnd() {
              outcome.end = "ended";
              resolve();
            },
            onResponseError() {
              outcome.end = "failed";
              resolve();
            },
          },
        );
      });
      return { outcome, over };
    },
    close: () => pool.destroy(),
  };
}

export interface TwoClients {
  /** Answers a request of either client so, then a second one with a plain answer. */
  compare(answer: Answer): Promise<{ readonly ours: Result; readonly theirs: Result }>;
  close(): Promise<void>;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function happens(what: string, isSo: () => boolean): Promise<void> {
  await until(what, isSo);
  // What a client does about it may take another turn.
  await turn();
}

export async function startTwoClients(): Promise<TwoClients> {
  /** By path: called with the connection on which the request came. */
  const awaited = new Map<string, (socket: Socket) => void>();
  const server = createServer((socket) => {
    let text = "";
    socket
      .setNoDelay(true)
      .on("error", () => {})
      .on("data", (data) => {
        text += data.toString("latin1");
        if (!text.endsWith("\r\n\r\n{}")) return;
        const path = text.split(" ")[1] as string;
        text = "";
        awaited.get(path)?.(socket);
      });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  // Both clients' sockets: only they tell how much was read.
  const sockets = new Set<Socket>();
  const onSocket = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  subscribe("net.client.socket", onSocket);

  let requests = 0;
  async function asked(client: Client): Promise<Asked & { readonly socket: Socket }> {
    requests += 1;
    const path = `/${requests}`;
    const arrived = new Promise<Socket>((resolve) => awaited.set(path, resolve));
    const request = client.ask(path);
    const socket = await arrived;
    awaited.delete(path);
    return { ...request, socket };
  }

  async function resultOf(client: Client, answer: Answer): Promise<Result> {
    const { outcome: first, over, socket } = await asked(client);
    const peer = [...sockets].find((one) => one.localPort === socket.remotePort) as Socket;
    const readBefore = peer.bytesRead;
    let written = 0;
    for (const piece of piecesOf(answer)) {
      socket.write(piece, "latin1");
      written += piece.length;
      await happens(
        "the client has read it",
        () => peer.destroyed || peer.bytesRead - readBefore === written,
      );
    }
    const atOnce = first.end !== "under way";
    if (answer.closing === "reset") socket.resetAndDestroy();
    else if (answer.closing === "end" || !atOnce) socket.end();
    await over;
    if (answer.closing !== "keep") await happens("the client has closed", () => peer.destroyed);
    else await turn();

    const next = await asked(client);
    next.socket.write(SECOND, "latin1");
    await next.over;
    await client.close();
    return { first, atOnce, reused: next.socket === socket, second: next.outcome };
  }

  return {
    async compare(answer) {
      const [ours, theirs] = await Promise.all([
        resultOf(weir(origin), answer),
        resultOf(undici(origin), answer),
      ]);
      return { ours, theirs };
    },
    async close() {
      unsubscribe("net.client.socket", onSocket);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
