/** TLS in front of a plain server of this machine, such as the simulator: it is `provider.test` then. */
import { type AddressInfo, connect, type Socket } from "node:net";
import { createServer } from "node:tls";
import { CERTIFICATE, KEY } from "./certificate.ts";

export interface TlsFront {
  readonly port: number;
  /** Connections so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** @param url of the plain server */
export async function startTlsFront(url: string): Promise<TlsFront> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ cert: CERTIFICATE, key: KEY }, (socket) => {
    sockets.add(socket);
    connections += 1;
    const onward = connect({ host: hostname, port: Number(port) });
    socket.pipe(onward).pipe(socket);
    onward.on("error", () => {}).on("close", () => socket.destroy());
    socket
      .on("error", () => {})
      .on("close", () => {
        sockets.delete(socket);
        onward.destroy();
      });
  });
  server.on("tlsClientError", () => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
