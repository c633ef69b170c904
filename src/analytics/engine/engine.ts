/**
 * Keeps the embedded engine running: starts the child process, restarts it when it dies, and stops it with the gateway.
 * Writes the engine's address and password to `DATA_DIR/clickhouse.json` (mode 0600), for analysts' tools.
 */
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inTime } from "../../base/clock.ts";
import type { AnalystsSetting } from "./confinement.ts";
import type { EngineUser } from "./engine-analysts.ts";
import type { EngineMessage, EngineOrder, EngineStart } from "./engine-child.ts";
import { emptyInboxes } from "./inboxes.ts";

/** How to reach a ClickHouse server. */
export interface ServerAddress {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** The public side of the supervisor, which another process may lend. */
export type Engine = Pick<Supervisor, "address" | "pid" | "restarts" | "setAnalysts" | "stop">;

export interface EngineLog {
  warn(fields: Record<string, unknown>, message: string): void;
}

const USER = "weir";
const MAX_BACKOFF_MS = 5000;
const STEADY_MS = 10_000;

export interface EngineOptions {
  /** How analysts' statements run. */
  readonly analysts?: AnalystsSetting | undefined;
  /** Told of the port, before the engine listens there where it is known. */
  readonly onListening?: ((port: number) => void) | undefined;
  /** Inserts records that wait: called before the engine answers a question that is not the gateway's own. Default: none wait. */
  readonly catchUp?: (() => Promise<unknown>) | undefined;
}

/** Call it where no process inserts into an engine of this folder. */
export function startEngine(dataDir: string, log: EngineLog, options: EngineOptions = {}): Engine {
  try {
    emptyInboxes(join(dataDir, "clickhouse"));
  } catch (error) {
    log.warn({ reason: String(error) }, "files of rows that earlier processes left could not be removed");
  }
  const supervisor = new Supervisor(dataDir, log, options);
  supervisor.start();
  return supervisor;
}

class Supervisor {
  readonly #dataDir: string;
  readonly #log: EngineLog;
  readonly #confine: AnalystsSetting;
  readonly #onListening: (port: number) => void;
  readonly #catchUp: () => Promise<unknown>;
  readonly #file: string;
  readonly #password: string;
  #port: number;
  #child: ChildProcess | undefined;
  #address: ServerAddress | undefined;
  #waiting: ((address: ServerAddress) => void)[] = [];
  #stopping = false;
  #restarts = 0;
  #backoffMs = 100;
  #timer: NodeJS.Timeout | undefined;
  #analysts: readonly EngineUser[] = [];

  constructor(dataDir: string, log: EngineLog, options: EngineOptions) {
    this.#dataDir = dataDir;
    this.#log = log;
    this.#confine = options.analysts ?? "confined";
    this.#onListening = options.onListening ?? (() => {});
    this.#catchUp = options.catchUp ?? (async () => {});
    this.#file = join(dataDir, "clickhouse.json");
    const known = readConnection(this.#file);
    this.#password = known?.password ?? randomBytes(24).toString("base64url");
    this.#port = known?.port ?? 0;
  }

  start(): void {
    if (this.#port !== 0) this.#onListening(this.#port);
    // Only what a process needs: provider credentials are not passed on.
    const { PATH, HOME, TMPDIR, LANG, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH } = process.env;
    const env = { PATH, HOME, TMPDIR, LANG, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH, UV_THREADPOOL_SIZE: "16" };
    const child = fork(fileURLToPath(new URL("./engine-child.ts", import.meta.url)), [], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child = child;
    let lastWords = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      lastWords = (lastWords + chunk.toString()).slice(-2000);
    });
    let steady: NodeJS.Timeout | undefined;
    child.on("message", (message: EngineMessage) => {
      if ("failed" in message) {
        lastWords = message.failed;
        return;
      }
      if ("asks" in message) {
        void this.#answer(child, message.asks);
        return;
      }
      steady = setTimeout(() => {
        this.#backoffMs = 100;
      }, STEADY_MS);
      steady.unref();
      this.#listening(message.ready.port);
    });
    child.on("error", (error) => {
      lastWords = error.message;
      // One that could not be started, for want of descriptors or memory, never exits.
      if (child.pid === undefined) ended(null, null);
    });
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      clearTimeout(steady);
      this.#child = undefined;
      this.#address = undefined;
      if (this.#stopping) return;
      this.#log.warn({ code, signal, lastWords }, "the embedded analytics engine ended; starting it again");
      this.#restarts++;
      this.#timer = setTimeout(() => this.start(), this.#backoffMs);
      this.#timer.unref();
      this.#backoffMs = Math.min(this.#backoffMs * 2, MAX_BACKOFF_MS);
    };
    child.on("exit", ended);
    if (child.pid === undefined) return;
    const start: EngineStart = {
      dataDir: join(this.#dataDir, "clickhouse"),
      port: this.#port,
      user: USER,
      password: this.#password,
      analysts: this.#analysts,
      confine: this.#confine,
    };
    child.send(start);
    // The child and its channel must not keep this process from exiting.
    child.unref();
    child.channel?.unref();
  }

  async #answer(child: ChildProcess, number: number): Promise<void> {
    // Records that could not be inserted wait on: the spool says so.
    await this.#catchUp().catch(() => {});
    if (child.connected) child.send({ caughtUp: number } satisfies EngineOrder);
  }

  #listening(port: number): void {
    this.#port = port;
    this.#onListening(port);
    this.#address = { url: `http://127.0.0.1:${port}`, username: USER, password: this.#password };
    try {
      writeConnection(this.#file, this.#address);
    } catch (error) {
      // The gateway itself knows the address.
      this.#log.warn(
        { file: this.#file, reason: String(error) },
        "the engine's address could not be written, so analysts' tools do not find it",
      );
    }
    this.setAnalysts(this.#analysts);
    for (const resolve of this.#waiting.splice(0)) resolve(this.#address);
  }

  /** Resolves once the engine listens; rejects if it does not within the time. */
  address(withinMs: number): Promise<ServerAddress> {
    if (this.#address !== undefined) return Promise.resolve(this.#address);
    const { promise, resolve } = Promise.withResolvers<ServerAddress>();
    this.#waiting.push(resolve);
    return inTime(promise, withinMs, () => {
      this.#waiting = this.#waiting.filter((waiter) => waiter !== resolve);
      throw new Error("the embedded analytics engine is not up");
    });
  }

  /** The users besides the gateway's own, from now on. */
  setAnalysts(users: readonly EngineUser[]): void {
    this.#analysts = users;
    // A child that has not listened yet may not take messages yet: it is sent the list once it does.
    if (this.#address !== undefined && this.#child?.connected === true) {
      this.#child.send({ analysts: users } satisfies EngineOrder);
    }
  }

  /** Process id of the child; undefined while it is restarted. */
  pid(): number | undefined {
    return this.#child?.pid;
  }

  restarts(): number {
    return this.#restarts;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.ref();
    if (child.connected) child.send("stop");
    await inTime(ended, 3000, () => child.kill("SIGKILL"));
    await ended;
  }
}

function readConnection(file: string): { port: number; password: string } | undefined {
  try {
    const { url, password } = JSON.parse(readFileSync(file, "utf8")) as ServerAddress;
    if (typeof password !== "string" || password.length < 16) return undefined;
    return { port: Number(new URL(url).port), password };
  } catch {
    // There is none yet, or it is damaged: a new password is made.
    return undefined;
  }
}

function writeConnection(file: string, address: ServerAddress): void {
  const next = `${file}.next`;
  writeFileSync(next, `${JSON.stringify({ ...address, database: "weir" }, null, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, file);
}
