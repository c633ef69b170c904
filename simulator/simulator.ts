/**
 * A simulated model provider on a real socket that follows the instructions in each request, deterministically: the
 * default upstream, and that of the tests and benchmarks. README.md lists the instructions. It only opens a listening
 * socket: no files, no outgoing calls.
 */
import { createServer, type Socket } from "node:net";
import { type Clock, systemClock } from "../src/base/clock.ts";
import { CallLog, type SimulatedCall } from "./calls.ts";
import { Connection, type Shared } from "./connection.ts";
import { Provider } from "./provider.ts";
import { HeadParser } from "./request.ts";

export interface SimulatorOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Total bytes of request bodies kept in {@link Simulator.calls}. Default 64 MB; 0 where nobody reads them. */
  readonly keepBodyBytes?: number;
  /** How many calls {@link Simulator.calls} has. Default 10,000; 0 where nobody reads them. */
  readonly keepCalls?: number;
  readonly clock?: Clock;
  /** Told of the port, the moment it listens. */
  readonly onListening?: (port: number) => void;
}

export interface Simulator {
  /** Such as `http://127.0.0.1:9999`; append `/v1` for a base URL, or `/with/<instruction>/v1`. */
  readonly url: string;
  readonly port: number;
  /** The last calls, oldest first. */
  readonly calls: readonly SimulatedCall[];
  /** Calls since the start. */
  readonly totalCalls: number;
  /** Calls whose reply is not over. */
  readonly openCalls: number;
  /** Cuts every connection and frees the port. */
  close(): Promise<void>;
}

const DEFAULT_KEEP_BODY_BYTES = 67_108_864;

/** @throws the system's error when the port is in use or not permitted */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? "127.0.0.1";
  const running = new RunningSimulator(host, options);
  await running.listen(options.port ?? 0, host);
  return running;
}

class RunningSimulator implements Simulator {
  readonly #host: string;
  readonly #server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  readonly #sockets = new Set<Socket>();
  readonly #log: CallLog;
  readonly #shared: Shared;
  readonly #onListening: (port: number) => void;
  #port = 0;

  constructor(host: string, options: SimulatorOptions) {
    this.#host = host;
    this.#onListening = options.onListening ?? (() => {});
    this.#log = new CallLog(options.keepBodyBytes ?? DEFAULT_KEEP_BODY_BYTES, options.keepCalls);
    this.#shared = {
      heads: new HeadParser(),
      provider: new Provider(),
      log: this.#log,
      clock: options.clock ?? systemClock,
    };
  }

  get url(): string {
    return `http://${this.#host.includes(":") ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  get calls(): readonly SimulatedCall[] {
    return this.#log.last();
  }

  get totalCalls(): number {
    return this.#log.total;
  }

  get openCalls(): number {
    return this.#log.open;
  }

  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      // A bench opens a thousand connections at once; the default backlog of 511 would drop some.
      this.#server.listen({ port, host, backlog: 4_096 }, () => {
        const address = this.#server.address();
        if (typeof address === "object" && address !== null) this.#port = address.port;
        this.#onListening(this.#port);
        resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    new Connection(socket, this.#shared);
  }
}
