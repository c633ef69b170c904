/** A way to a gateway that can be cut: connections to it end as those of a network that breaks do. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Relay {
  readonly url: string;
  /** Ends all connections, without a word. */
  cut(): void;
  close(): Promise<void>;
}

/** @param url of the gateway */
export async function startRelay(url: string): Promise<Relay> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const gateway = connect(Number(port), hostname);
    for (const [one, other] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      open.add(one);
      one.on("data", (bytes) => void other.write(bytes));
      one.on("end", () => other.end());
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
