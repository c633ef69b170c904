/**
 * Keeps the installation's own Redis running: on a socket file in `DATA_DIR/redis`, without a port, every write synced. It is
 * started again when it dies, and outlives a supervisor that is killed: the next one takes it over. Never two on one folder.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { type Clock, systemClock } from "../../base/clock.ts";
import { makeFolder } from "../../base/process/make-folder.ts";
import { askRedis, type RedisSocket, redisSocketIn } from "./asked-redis.ts";
import { Backoff } from "./backoff.ts";
import { redisFolder } from "./cell-folders.ts";
import { type HeldFolder, holdFolder } from "./folder-socket.ts";
import { adoptable, endProcess, runsIn } from "./orphan.ts";
import { REDIS_ARGUMENTS, redisLine } from "./redis-server.ts";

export interface CellsLog {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface OwnRedisOptions {
  /** The server's files are in `redis` below it. */
  readonly dataDir: string;
  /** Path of the program: `findRedisServer()`. */
  readonly program: string;
  readonly log: CellsLog;
  readonly clock?: Clock;
}

export interface OwnRedis {
  /** The socket's path, short enough for a socket. */
  readonly socket: string;
  /** Undefined while it is started again. */
  pid(): number | undefined;
  /** Starts after the first one. */
  restarts(): number;
  /** Whether the running server was left by an earlier supervisor. */
  isAdopted(): boolean;
  /** Resolves once it answers, its data loaded. @throws Error with its last line if it ends before it ever answered. */
  ready(): Promise<void>;
  /** Ends it by SIGTERM, with everything on disk; after 10 s by SIGKILL. */
  stop(): Promise<void>;
}

const LOCK = "supervisor.sock";
const LOOK_MS = 100;
const PING_MS = 2000;
/** Its last lines are read after its end, if they come within this time: a child of it may keep the pipe open. */
const LAST_LINES_MS = 200;

/** @throws Error for the operator where another supervisor has the folder, or a server on it cannot be ended */
export async function startOwnRedis(options: OwnRedisOptions): Promise<OwnRedis> {
  const folder = redisFolder(options.dataDir);
  makeFolder(folder);
  const held = await holdFolder(folder, LOCK);
  if (held === undefined)
    throw new Error(`another supervisor runs a Redis server on ${folder}: stop it first`);
  const clock = options.clock ?? systemClock;
  const socket = redisSocketIn(folder);
  try {
    const orphan = await adoptable(folder, socket.path, clock, options.log);
    const redis = new RunningRedis({ ...options, clock }, folder, held, socket);
    if (orphan === undefined) redis.start();
    else redis.adopt(orphan);
    return redis;
  } catch (error) {
    socket.release();
    held.release();
    throw error;
  }
}

class RunningRedis implements OwnRedis {
  readonly socket: string;
  readonly #options: Required<OwnRedisOptions>;
  readonly #folder: string;
  readonly #held: HeldFolder;
  readonly #reached: RedisSocket;
  readonly #backoff: Backoff;
  readonly #answered = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #adopted: number | undefined;
  #readyMs: number | undefined;
  #hasAnswered = false;
  #stopping = false;
  #restarts = 0;
  #lastLine = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Required<OwnRedisOptions>, folder: string, held: HeldFolder, socket: RedisSocket) {
    this.#options = options;
    this.#folder = folder;
    this.#held = held;
    this.#backoff = new Backoff(options.clock);
    this.#reached = socket;
    this.socket = socket.path;
    // Whoever does not wait for it learns of its end by the log.
    this.#answered.promise.catch(() => {});
  }

  start(): void {
    const child = spawn(this.#options.program, REDIS_ARGUMENTS, {
      cwd: this.#folder,
      // Credentials of providers are not passed on.
      env: { PATH: process.env.PATH, LANG: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      // Ctrl-C reaches the whole group of processes: the cells need Redis until they have drained.
      detached: true,
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) this.#passOn(stream);
    let isOver = false;
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      if (isOver) return;
      isOver = true;
      this.#child = undefined;
      setTimeout(() => this.#ended({ code, signal }), LAST_LINES_MS);
    };
    child.once("error", (error) => {
      this.#lastLine = error.message;
      if (child.pid === undefined) ended(null, null);
    });
    child.once("exit", ended);
    child.unref();
    if (child.pid !== undefined) this.#watch(() => this.#child === child);
  }

  adopt(pid: number): void {
    this.#adopted = pid;
    this.#options.log.info(
      { redisPid: pid },
      "the Redis server that an earlier supervisor left is taken over; its log lines are not passed on",
    );
    this.#watch(() => {
      if (this.#adopted !== pid) return false;
      if (runsIn(pid, this.#folder)) return true;
      this.#adopted = undefined;
      this.#ended({});
      return false;
    });
  }

  pid(): number | undefined {
    return this.#child?.pid ?? this.#adopted;
  }

  restarts(): number {
    return this.#restarts;
  }

  isAdopted(): boolean {
    return this.#adopted !== undefined;
  }

  ready(): Promise<void> {
    return this.#answered.promise;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const pid = this.pid();
    if (pid !== undefined) await endProcess(pid, this.#folder, this.#options.clock);
    this.#answered.reject(new Error("Redis was stopped"));
    this.#reached.release();
    this.#held.release();
  }

  /** Asks until it answers; one that loads a large file says so and is waited for. Goes on looking at one that is no child. */
  #watch(lives: () => boolean): void {
    const look = async () => {
      if (this.#stopping || !lives()) return;
      if (this.#readyMs === undefined) {
        const said = await askRedis(this.#folder, this.socket, PING_MS, (link) => link.call("PING"));
        if (said !== undefined && !this.#stopping && lives()) this.#isReady();
      }
      if (this.#readyMs === undefined || this.#adopted !== undefined) this.#timer = setTimeout(look, LOOK_MS);
    };
    void look();
  }

  #isReady(): void {
    this.#readyMs = this.#options.clock.monotonic();
    this.#hasAnswered = true;
    this.#options.log.info({ redisPid: this.pid(), restarts: this.#restarts }, "Redis is ready");
    this.#answered.resolve();
  }

  #ended(how: { code?: number | null; signal?: NodeJS.Signals | null }): void {
    if (this.#stopping) return;
    const { clock, log } = this.#options;
    const ranMs = this.#readyMs === undefined ? 0 : clock.monotonic() - this.#readyMs;
    this.#readyMs = undefined;
    if (!this.#hasAnswered) this.#answered.reject(new Error(`Redis did not start: ${this.#lastLine}`));
    const { pauseMs, tell } = this.#backoff.ended(ranMs);
    if (tell > 0)
      log.error(
        { ...how, times: tell, lastLine: this.#lastLine, pauseMs },
        "Redis ended; it is started again",
      );
    this.#restarts++;
    this.#timer = setTimeout(() => this.start(), pauseMs);
  }

  #passOn(stream: Readable | null): void {
    if (stream === null) return;
    createInterface({ input: stream }).on("line", (line) => {
      const read = redisLine(line);
      if (read === undefined) return;
      this.#lastLine = read.text;
      const { level, text, meaning } = read;
      if (meaning === undefined) this.#options.log[level]({ redis: text }, "Redis says");
      else this.#options.log[level]({ redis: text }, meaning);
    });
  }
}
