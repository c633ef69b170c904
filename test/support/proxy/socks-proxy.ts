/** A proxy of SOCKS 5 for tests (RFC 1928, RFC 1929). Every name leads to this machine. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { calledAt } from "./forward-proxy.ts";

export interface SocksProxy {
  /** `host:port`. */
  readonly authority: string;
  /** What it was asked to connect to: `name provider.test:443`, `address 127.0.0.1:443`. */
  readonly asked: string[];
  /** Replies so instead of connecting (RFC 1928, 6). */
  reply: number;
  /** Bytes behind its reply. */
  behind: string;
  /** Writes this at once, and understands nothing. */
  garbage: string | undefined;
  close(): Promise<void>;
}

const USER_AND_PASSWORD = 2;
const NONE_ACCEPTED = 0xff;
const KINDS: Readonly<Record<number, string>> = { 1: "address", 3: "name", 4: "address" };

/** @param signIn `user:password` that it asks for */
export async function startSocksProxy(signIn?: string): Promise<SocksProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    if (proxy.garbage !== undefined) socket.write(proxy.garbage);
    else void serve(socket, proxy, signIn).catch(() => socket.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: SocksProxy = {
    authority: `127.0.0.1:${port}`,
    asked: [],
    reply: 0,
    behind: "",
    garbage: undefined,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

const read = (socket: Socket): Promise<Buffer> => new Promise((resolve) => socket.once("data", resolve));

/** Each message of a client comes in one piece over loopback. */
async function serve(socket: Socket, proxy: SocksProxy, signIn: string | undefined): Promise<void> {
  const methods = (await read(socket)).subarray(2);
  const method = signIn === undefined ? 0 : USER_AND_PASSWORD;
  if (!methods.includes(method)) {
    socket.end(Buffer.from([5, NONE_ACCEPTED]));
    return;
  }
  socket.write(Buffer.from([5, method]));
  if (signIn !== undefined) {
    const given = await read(socket);
    const userBytes = given[1] ?? 0;
    const user = given.subarray(2, 2 + userBytes).toString();
    const isRight = `${user}:${given.subarray(3 + userBytes).toString()}` === signIn;
    socket.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) return;
  }
  const wanted = await read(socket);
  const kind = wanted[3] ?? 0;
  const host =
    kind === 1
      ? wanted.subarray(4, 8).join(".")
      : kind === 3
        ? wanted.subarray(5, 5 + (wanted[4] ?? 0)).toString()
        : "::1";
  const port = wanted.readUInt16BE(wanted.length - 2);
  proxy.asked.push(`${KINDS[kind]} ${host}:${port}`);
  const reply = Buffer.concat([
    Buffer.from([5, proxy.reply, 0, 1, 0, 0, 0, 0, 0, 0]),
    Buffer.from(proxy.behind),
  ]);
  if (proxy.reply !== 0) {
    socket.end(reply);
    return;
  }
  const onward = connect({ host: calledAt(host), port }, () => {
    socket.write(reply);
    socket.pipe(onward).pipe(socket);
  });
  onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
  socket.on("close", () => onward.destroy());
}
