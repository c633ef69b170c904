/**
 * A connection to Redis on which nothing is sent twice by itself: the only place that imports ioredis. A command whose reply was
 * lost fails, and whoever sent it decides; scripts that may be sent again say so (`exchange.ts`).
 */
import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { inTime } from "../../../base/clock.ts";
import { redisAddress } from "./address.ts";
import { keepStringsFast } from "./fast-strings.ts";

keepStringsFast();

/** What Redis answers: whole numbers, bytes, lists of those. */
export type RedisValue = number | Buffer | null | RedisValue[];

export interface RedisLog {
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface RedisOptions {
  /** As `redisAddress` reads it: a server, a socket, or Sentinels. */
  readonly url: string;
  readonly log: RedisLog;
  /** A command that has no reply after this long fails, and the connection is made anew. Default: 5 s. */
  readonly timeoutMs?: number;
}

/** A script by its text; Redis knows it by its hash. */
export class Script {
  readonly text: string;
  readonly sha: string;

  constructor(text: string) {
    this.text = text;
    this.sha = createHash("sha1").update(text).digest("hex");
  }
}

export interface RedisLink {
  /** Resolves once the connection can be used; rejects when it cannot within the time. */
  ready(withinMs: number): Promise<void>;
  isReady(): boolean;
  /** Number of the connection: one more after each loss. */
  generation(): number;
  /** @throws Error of Redis with its text, or of the connection: then it is not known whether the command ran */
  call(command: string, ...args: (string | number | Buffer)[]): Promise<RedisValue>;
  /** Runs a script, whose first argument is its only key. */
  run(script: Script, key: string, ...args: (string | number | Buffer)[]): Promise<RedisValue>;
  /** Gives the connection up and makes a new one: replies that are still to come are lost. */
  renew(): void;
  close(): void;
}

/** The pages of a question that takes a cursor, as SCAN does; each item is what Redis answers it to be. */
export async function* pages<Item = RedisValue>(
  ask: (cursor: string) => Promise<RedisValue>,
): AsyncGenerator<Item[]> {
  let cursor = "0";
  do {
    const [next, page] = (await ask(cursor)) as [Buffer, Item[]];
    yield page;
    cursor = String(next);
  } while (cursor !== "0");
}

const FIRST_RETRY_MS = 20;
/** What cells lease lasts for `cells.stale_ms`, and not much of that may be lost by waiting once Redis is back. */
const LONGEST_RETRY_MS = 250;
const TIMEOUT_MS = 5000;
const CONNECT_MS = 3000;
const DISCONNECT_MS = 100;
/** One that is reached and does not answer is passed over after this. */
const SENTINEL_MS = 1000;

export function connectRedis(options: RedisOptions): RedisLink {
  return new Link(options);
}

/** Runs `act` on a connection of its own. @throws Error of `act`, or where Redis cannot be reached within the time */
export async function onRedis<T>(
  options: RedisOptions,
  withinMs: number,
  act: (link: RedisLink) => Promise<T>,
): Promise<T> {
  const link = connectRedis(options);
  try {
    await link.ready(withinMs);
    return await act(link);
  } finally {
    link.close();
  }
}

export interface RedisListener {
  /** Whether messages that are published now are heard. */
  isListening(): boolean;
  /** Gives the connection up and makes a new one: what is published meanwhile is not heard. */
  renew(): void;
  close(): void;
}

export interface ListenerOptions {
  readonly url: string;
  readonly channels: readonly string[];
  readonly heard: (message: Buffer) => void;
  /** Called each time that the channels are heard from now on. */
  readonly onListening: () => void;
}

/** How a process reaches Redis: over sockets, or as a simulation has it. */
export interface RedisClient {
  connect(options: RedisOptions): RedisLink;
  listen(options: ListenerOptions): RedisListener;
}

/** Hears channels over a connection of its own; the link that publishes says when Redis is away. */
export function listenToRedis({ url, channels, heard, onListening }: ListenerOptions): RedisListener {
  const redis = redisAt(url);
  let isListening = false;
  let isClosed = false;
  const renew = () => {
    if (!isClosed) redis.disconnect(true);
  };
  redis.on("error", () => {});
  redis.on("close", () => {
    isListening = false;
  });
  redis.on("messageBuffer", (_channel: Buffer, message: Buffer) => heard(message));
  redis.on("ready", () => {
    const listening = () => {
      isListening = true;
      onListening();
    };
    redis.subscribe(...channels).then(listening, renew);
  });
  // Nothing else is said here: without it, a connection that is dead would not be noticed.
  const pings = setInterval(() => {
    if (!isListening) return;
    const late = setTimeout(renew, TIMEOUT_MS);
    late.unref();
    redis.ping().then(
      () => clearTimeout(late),
      () => clearTimeout(late),
    );
  }, TIMEOUT_MS);
  pings.unref();
  return {
    isListening: () => isListening,
    renew,
    close() {
      isClosed = true;
      clearInterval(pings);
      redis.disconnect();
    },
  };
}

export const SOCKETS: RedisClient = { connect: connectRedis, listen: listenToRedis };

/** Options of all connections. */
const COMMON = {
  // A script may have run although its reply was lost: only its sender knows whether it may be sent again.
  // With 0 retries what waits for a reply fails when the connection ends; with any other setting it would never settle.
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  // A connection whose other end does not answer is given up at once.
  disconnectTimeout: DISCONNECT_MS,
  // Lists in place of maps, of every version of Redis.
  protocol: 2 as const,
  autoResubscribe: false,
  connectTimeout: CONNECT_MS,
  enableReadyCheck: true,
  noDelay: true,
  retryStrategy: (tries: number) => Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 10), LONGEST_RETRY_MS),
};

function redisAt(url: string): Redis {
  const address = redisAddress(url);
  if (address.kind === "socket") return new Redis({ ...COMMON, path: address.path });
  if (address.kind === "url") return new Redis(address.url, COMMON);
  const { sentinels, master: name, login, sentinelLogin, db, isTls } = address;
  return new Redis({
    ...COMMON,
    sentinels: [...sentinels],
    name,
    db,
    ...(login.username !== undefined && { username: login.username }),
    ...(login.password !== undefined && { password: login.password }),
    ...(sentinelLogin.username !== undefined && { sentinelUsername: sentinelLogin.username }),
    ...(sentinelLogin.password !== undefined && { sentinelPassword: sentinelLogin.password }),
    ...(isTls && { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinelRetryStrategy: COMMON.retryStrategy,
    sentinelCommandTimeout: SENTINEL_MS,
  });
}

class Link implements RedisLink {
  readonly #redis: Redis;
  readonly #timeoutMs: number;
  #generation = 0;
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor({ url, log, timeoutMs = TIMEOUT_MS }: RedisOptions) {
    this.#timeoutMs = timeoutMs;
    this.#redis = redisAt(url);
    // Each attempt of a Redis that is away makes one: said once, until it is back.
    let isSaid = false;
    this.#redis.on("error", (error: Error) => {
      if (!isSaid && !this.#closed)
        log.warn({ error: error.message }, "Redis cannot be reached; it is tried again");
      isSaid = true;
    });
    this.#redis.on("ready", () => {
      isSaid = false;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
    this.#redis.on("close", () => {
      this.#generation++;
    });
  }

  isReady(): boolean {
    return this.#redis.status === "ready";
  }

  generation(): number {
    return this.#generation;
  }

  ready(withinMs: number): Promise<void> {
    if (this.isReady()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    return inTime(promise, withinMs, () => {
      this.#waiting = this.#waiting.filter((waiter) => waiter !== resolve);
      throw new Error("Redis cannot be reached");
    });
  }

  async call(command: string, ...args: (string | number | Buffer)[]): Promise<RedisValue> {
    const timer = setTimeout(() => this.renew(), this.#timeoutMs);
    try {
      return (await this.#redis.callBuffer(command, ...args)) as RedisValue;
    } catch (error) {
      // ioredis puts the command there, with rows and answers: a log would print them.
      if (error instanceof Error) delete (error as Error & { command?: unknown }).command;
      throw error;
    } finally {
      clearTimeout(timer);
    }
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
    if (!this.#closed) this.#redis.disconnect(true);
  }

  close(): void {
    this.#closed = true;
    this.#redis.disconnect();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
