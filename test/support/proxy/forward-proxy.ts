/**
 * A forward proxy of HTTP for tests: it passes requests on (RFC 9112, 3.2.2) and opens tunnels (RFC 9110, 9.3.6), or does what a
 * broken one does. Every name leads to this machine, so that names that only a proxy knows can be called.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, isIP, type Socket } from "node:net";
import { CERTIFICATE, KEY } from "./certificate.ts";

export interface ProxyOptions {
  /** `user:password` that it asks for. */
  readonly signIn?: string;
  /** It is spoken to over TLS. */
  readonly isTls?: boolean;
  /** `127.0.0.1` unless told. */
  readonly host?: string;
}

/** What it does with a request or a tunnel that it was asked for; undefined: what it is there for. */
export type ProxyAct = (socket: Socket) => void;

export interface ForwardProxy {
  /** Without credentials. */
  readonly url: string;
  /** `host:port`. */
  readonly authority: string;
  /** First lines of requests, without the version: `CONNECT provider.test:443`. */
  readonly asked: string[];
  /** Connections so far, and those that are open. */
  readonly connections: { all: number; open: number };
  /** What it says before a tunnel begins. */
  opening: string;
  /** It says so byte by byte. */
  isSlow: boolean;
  act: ProxyAct | undefined;
  close(): Promise<void>;
}

const OPENING = "HTTP/1.1 200 Connection established\r\n\r\n";

export async function startForwardProxy(options: ProxyOptions = {}): Promise<ForwardProxy> {
  const { host = "127.0.0.1", isTls = false, signIn } = options;
  const sockets = new Set<Socket>();
  const mayPass = ({ headers }: IncomingMessage) =>
    signIn === undefined ||
    headers["proxy-authorization"] === `Basic ${Buffer.from(signIn).toString("base64")}`;
  const onRequest = (asked: IncomingMessage, answer: ServerResponse) => {
    proxy.asked.push(`${asked.method} ${asked.url}`);
    if (proxy.act !== undefined) proxy.act(asked.socket);
    else if (mayPass(asked)) passOn(asked, answer);
    else answer.writeHead(407, { "proxy-authenticate": 'Basic realm="proxy"' }).end(`not ${signIn}`);
  };
  const server = isTls
    ? createTlsServer({ cert: CERTIFICATE, key: KEY }, onRequest)
    : createServer(onRequest);
  server.on("connect", (asked: IncomingMessage, socket: Socket, head: Buffer) => {
    proxy.asked.push(`CONNECT ${asked.url}`);
    // Servers of HTTP keep half of a socket open.
    socket.on("error", () => {}).on("end", () => socket.end());
    if (proxy.act !== undefined) proxy.act(socket.resume());
    else if (mayPass(asked)) openTunnel(asked.url ?? "", socket, head, proxy);
    else socket.end('HTTP/1.1 407 Sign in\r\nproxy-authenticate: Basic realm="proxy"\r\n\r\nno');
  });
  server.on(isTls ? "secureConnection" : "connection", (socket: Socket) => {
    sockets.add(socket);
    proxy.connections.all += 1;
    proxy.connections.open += 1;
    socket
      .on("error", () => {})
      .on("close", () => {
        sockets.delete(socket);
        proxy.connections.open -= 1;
      });
  });
  server.on("tlsClientError", () => {}).listen(0, host);
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  const { port } = server.address() as AddressInfo;
  const authority = `${host.includes(":") ? `[${host}]` : isTls ? "localhost" : host}:${port}`;
  const proxy: ForwardProxy = {
    url: `${isTls ? "https" : "http"}://${authority}`,
    authority,
    asked: [],
    connections: { all: 0, open: 0 },
    opening: OPENING,
    isSlow: false,
    act: undefined,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Names lead to this machine; addresses are called. */
export const calledAt = (hostname: string): string => {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? "127.0.0.1" : host;
};

function passOn(asked: IncomingMessage, answer: ServerResponse): void {
  const url = URL.parse(asked.url ?? "");
  if (url === null) {
    answer.writeHead(400).end("a proxy is asked for URLs");
    return;
  }
  const { "proxy-authorization": _, ...headers } = asked.headers;
  const { hostname, port, pathname, search } = url;
  const onward = request({
    host: calledAt(hostname),
    port,
    method: asked.method,
    path: `${pathname}${search}`,
    headers: { ...headers, via: "1.1 proxy.test" },
    agent: false,
  });
  onward.on("response", (heard) => {
    answer.writeHead(heard.statusCode ?? 502, heard.headers);
    heard.pipe(answer);
  });
  onward.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end("no answer")));
  answer.on("close", () => onward.destroy());
  asked.pipe(onward);
}

function openTunnel(
  authority: string,
  socket: Socket,
  head: Buffer,
  { opening, isSlow }: Pick<ForwardProxy, "opening" | "isSlow">,
): void {
  const { hostname, port } = new URL(`http://${authority}`);
  const onward = connect({ host: calledAt(hostname), port: Number(port) || 80 }, async () => {
    for (const bytes of isSlow ? opening : [opening]) {
      await new Promise((resolve) => socket.write(bytes, () => setImmediate(resolve)));
    }
    onward.write(head);
    socket.pipe(onward).pipe(socket);
  });
  onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
  socket.on("close", () => onward.destroy());
}
