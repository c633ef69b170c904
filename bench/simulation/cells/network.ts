/**
 * The network between cells and Redis in virtual time, and the product's connection to Redis on it. Messages of one connection keep their
 * order, those of different ones do not. A connection that is cut loses replies, and perhaps what was under way to Redis, which may
 * also arrive later, behind what newer connections have sent.
 */
import type {
  ListenerOptions,
  RedisClient,
  RedisLink,
  RedisListener,
  RedisOptions,
  RedisValue,
  Script,
} from "../../../src/cluster/cells/redis/redis.ts";
import type { Dice } from "../billing/dice.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { SimProcess } from "./process.ts";
import { OK, type Reply } from "./redis/commands.ts";
import { RedisError } from "./redis/database.ts";
import type { Server } from "./redis/server.ts";

export interface NetworkOptions {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly server: Server;
}

const FIRST_RETRY_MS = 20;
const LONGEST_RETRY_MS = 1000;
const DISCONNECT_MS = 100;
const TIMEOUT_MS = 5000;

export class Network {
  readonly #options: NetworkOptions;
  readonly #wires = new Set<Wire>();
  /** By process: nothing gets through before. */
  readonly #stalledUntil = new Map<string, number>();
  /** A message takes between these. */
  delayMs = { least: 0.1, most: 1 };

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** How the product's code of a process reaches Redis. */
  clientOf(process: SimProcess): RedisClient {
    return {
      connect: (options) => new SimLink(this, process, options),
      listen: (options) => new SimListener(this, process, options),
    };
  }

  /** Cuts all connections of a process, or all there are. */
  cut(name?: string): void {
    for (const wire of [...this.#wires]) if (name === undefined || wire.process.name === name) wire.cut();
  }

  /** Cuts one of the connections. */
  cutOne(): void {
    const wires = [...this.#wires];
    if (wires.length > 0) this.#options.dice.pick(wires).cut();
  }

  /** What a process sends and is sent arrives no sooner than in so long. */
  stall(name: string, ms: number): void {
    this.#stalledUntil.set(name, this.#options.time.monotonic() + ms);
  }

  /** All is well from now on. */
  calm(): void {
    this.delayMs = { least: 0.1, most: 0.5 };
    this.#stalledUntil.clear();
  }

  /** @internal Tries to connect; calls `made` as the process. */
  connect(process: SimProcess, made: (wire: Wire | undefined) => void): void {
    const { server } = this.#options;
    this.later(this.arrival(process, 0) - this.#options.time.monotonic(), () => {
      const wire = server.isUp ? new Wire(this, process, server.starts) : undefined;
      if (wire !== undefined) this.#wires.add(wire);
      process.after(this.arrival(process, 0) - this.#options.time.monotonic(), () => made(wire));
    });
  }

  /** @internal */
  closed(wire: Wire): void {
    this.#wires.delete(wire);
  }

  get server(): Server {
    return this.#options.server;
  }

  get dice(): Dice {
    return this.#options.dice;
  }

  /** @internal The network itself acts, no process. */
  later(delayMs: number, act: () => void): void {
    this.#options.time.after(delayMs, act);
  }

  nowMs(): number {
    return this.#options.time.monotonic();
  }

  /** @internal When a message that leaves now arrives, behind the one before it. */
  arrival(process: SimProcess, behindMs: number): number {
    const { least, most } = this.delayMs;
    const usual = this.nowMs() + this.dice.between(least, most);
    return Math.max(usual, behindMs, this.#stalledUntil.get(process.name) ?? 0);
  }
}

/** One connection. */
class Wire {
  readonly process: SimProcess;
  readonly #network: Network;
  /** The start of Redis's process that it leads to, by number. */
  readonly #starts: number;
  #sentMs = 0;
  #repliedMs = 0;
  #isCut = false;
  /** What was under way when it was cut does not arrive. */
  #isLost = false;
  /** What was under way when it was cut arrives so much later. */
  #lateMs = 0;
  onCut: (() => void) | undefined;
  readonly #ends: (() => void)[] = [];

  constructor(network: Network, process: SimProcess, starts: number) {
    this.#network = network;
    this.process = process;
    this.#starts = starts;
  }

  send(name: string, args: readonly string[], replied: (reply: Reply | RedisError) => void): void {
    const { server } = this.#network;
    this.#sentMs = this.#network.arrival(this.process, this.#sentMs);
    const arrived = () => {
      if (this.#isLost || !server.isUp || server.starts !== this.#starts) return;
      server.receive(name, args, (reply) => this.back(() => replied(reply)));
    };
    this.#network.later(this.#sentMs - this.#network.nowMs(), () => {
      // What is left of a connection may stay under way for long.
      if (this.#isCut) this.#network.later(this.#lateMs, arrived);
      else arrived();
    });
  }

  /** Something arrives from Redis. */
  back(act: () => void): void {
    if (this.#isCut) return;
    this.#repliedMs = this.#network.arrival(this.process, this.#repliedMs);
    this.process.after(this.#repliedMs - this.#network.nowMs(), () => {
      if (!this.#isCut) act();
    });
  }

  subscribe(channel: string, heard: (message: string) => void): void {
    this.#ends.push(this.#network.server.subscribe(channel, (message) => this.back(() => heard(message))));
  }

  /** By the network: the process learns it at once, or by its next message. */
  cut(): void {
    if (this.#isCut) return;
    this.close();
    this.process.after(0, () => this.onCut?.());
  }

  /** By the process. */
  close(): void {
    this.#isCut = true;
    this.#isLost = this.#network.dice.chance(0.4);
    this.#lateMs = this.#network.dice.chance(0.5) ? this.#network.dice.between(0, 400) : 0;
    for (const end of this.#ends.splice(0)) end();
    this.#network.closed(this);
  }
}

/** What both kinds of connections do to be connected again. */
class Reconnection {
  readonly #network: Network;
  readonly #process: SimProcess;
  readonly #onWire: (wire: Wire) => void;
  readonly #onClose: () => void;
  wire: Wire | undefined;
  #tries = 0;
  #isClosed = false;

  constructor(network: Network, process: SimProcess, onWire: (wire: Wire) => void, onClose: () => void) {
    this.#network = network;
    this.#process = process;
    this.#onWire = onWire;
    this.#onClose = onClose;
    this.#connect();
  }

  renew(): void {
    const { wire } = this;
    if (wire === undefined || this.#isClosed) return;
    this.wire = undefined;
    wire.close();
    this.#process.after(this.#network.dice.between(0, DISCONNECT_MS), () => this.#lost());
  }

  close(): void {
    this.#isClosed = true;
    this.wire?.close();
    this.wire = undefined;
    this.#onClose();
  }

  #connect(): void {
    if (this.#isClosed) return;
    this.#network.connect(this.#process, (wire) => {
      if (wire === undefined) return this.#again();
      if (this.#isClosed) return wire.close();
      this.wire = wire;
      this.#tries = 0;
      wire.onCut = () => {
        if (this.wire !== wire) return;
        this.wire = undefined;
        this.#lost();
      };
      this.#onWire(wire);
    });
  }

  #lost(): void {
    this.#onClose();
    this.#again();
  }

  #again(): void {
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(this.#tries++, 10), LONGEST_RETRY_MS);
    this.#process.after(delayMs, () => this.#connect());
  }
}

const lostError = () => new Error("Connection is closed.");

class SimLink implements RedisLink {
  readonly #process: SimProcess;
  readonly #timeoutMs: number;
  readonly #connection: Reconnection;
  #generation = 0;
  #waiting: (() => void)[] = [];
  #open = new Set<(error: Error) => void>();

  constructor(network: Network, process: SimProcess, { timeoutMs = TIMEOUT_MS }: RedisOptions) {
    this.#process = process;
    this.#timeoutMs = timeoutMs;
    this.#connection = new Reconnection(
      network,
      process,
      () => {
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
      () => {
        this.#generation++;
        const open = this.#open;
        this.#open = new Set();
        for (const reject of open) reject(lostError());
      },
    );
  }

  isReady(): boolean {
    return this.#connection.wire !== undefined;
  }

  generation(): number {
    return this.#generation;
  }

  ready(withinMs: number): Promise<void> {
    if (this.isReady()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const cancel = this.#process.after(withinMs, () => {
        this.#waiting = this.#waiting.filter((waiter) => waiter !== done);
        reject(new Error("Redis cannot be reached"));
      });
      const done = () => {
        cancel();
        resolve();
      };
      this.#waiting.push(done);
    });
  }

  call(command: string, ...args: (string | number | Buffer)[]): Promise<RedisValue> {
    const { wire } = this.#connection;
    if (wire === undefined) return Promise.reject(new Error("Stream isn't writeable"));
    return new Promise((resolve, reject) => {
      const cancel = this.#process.after(this.#timeoutMs, () => this.renew());
      const failed = (error: Error) => {
        cancel();
        this.#open.delete(failed);
        reject(error);
      };
      this.#open.add(failed);
      wire.send(command, args.map(bytesOf), (reply) => {
        if (reply instanceof RedisError) {
          const error = new Error(reply.message, { cause: reply });
          error.name = "ReplyError";
          failed(error);
          return;
        }
        cancel();
        this.#open.delete(failed);
        resolve(fromReply(reply));
      });
    });
  }

  async run(script: Script, key: string, ...args: (string | number | Buffer)[]): Promise<RedisValue> {
    try {
      return await this.call("EVALSHA", script.sha, 1, key, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return await this.call("EVAL", script.text, 1, key, ...args);
    }
  }

  renew(): void {
    this.#connection.renew();
  }

  close(): void {
    this.#connection.close();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

class SimListener implements RedisListener {
  readonly #connection: Reconnection;

  constructor(network: Network, process: SimProcess, { channels, heard, onListening }: ListenerOptions) {
    this.#connection = new Reconnection(
      network,
      process,
      (wire) => {
        for (const channel of channels)
          wire.subscribe(channel, (message) => heard(Buffer.from(message, "latin1")));
        onListening();
      },
      () => {},
    );
  }

  isListening(): boolean {
    return this.#connection.wire !== undefined;
  }

  renew(): void {
    this.#connection.renew();
  }

  close(): void {
    this.#connection.close();
  }
}

function bytesOf(value: string | number | Buffer): string {
  if (typeof value === "number") return String(value);
  return (typeof value === "string" ? Buffer.from(value) : value).toString("latin1");
}

function fromReply(reply: Reply): RedisValue {
  if (reply === OK) return Buffer.from("OK");
  if (typeof reply === "string") return Buffer.from(reply, "latin1");
  return Array.isArray(reply) ? reply.map(fromReply) : reply;
}
