/**
 * Runs several cells on one port of one machine, with one embedded engine and one Redis for all of them. It carries no calls: the
 * system gives each cell its share of new connections. Nothing outlives it but a drain, and Redis, which its successor takes over.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { folderHolder } from "../../base/process/folder-holder.ts";
import { listenFault } from "../../base/process/listen-fault.ts";
import { keepPrivate } from "../../base/process/private-folder.ts";
import { cellFolder, hasSupervisedCells, otherCells } from "./cell-folders.ts";
import { CellProcess } from "./cell-process.ts";
import { CellsMetrics } from "./cells-metrics.ts";
import { EngineSharing, type OwnEngine } from "./engine-sharing.ts";
import { askHolder, type HeldFolder, holdFolder } from "./folder-socket.ts";
import { type CellsLog, type OwnRedis, startOwnRedis } from "./own-redis.ts";
import { answerTo, type Request, SUPERVISOR_SOCKET } from "./requests.ts";
import { comesUp, RollingRestart } from "./rolling-restart.ts";
import { called, type RunningServices } from "./services.ts";

export interface SupervisorOptions {
  /** 1 to 64. */
  readonly cells: number;
  /** The first cell's; holds `cells/<number>` of the others, `redis`, and the engine's `clickhouse`. */
  readonly dataDir: string;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Port: listens for scrapes of the metrics of all cells. @throws Error (as a rejection) with a line for the operator */
  readonly serveMetrics: (metrics: CellsMetrics) => Promise<MetricsListener>;
  /** Bound of a cell's stop: `timeouts.shutdown_ms`. */
  readonly shutdownMs: number;
  /** Environment of each cell; what differs from cell to cell is added. */
  readonly env: NodeJS.ProcessEnv;
  /** Name of this machine's cells in records: a number is added. */
  readonly name: string;
  /** Port: starts a process of the gateway with an IPC channel, in a session of its own. */
  readonly launch: (env: NodeJS.ProcessEnv) => ChildProcess;
  /** Port: starts the embedded engine. Undefined: the cells use a ClickHouse server. */
  readonly startEngine: (() => OwnEngine) | undefined;
  /** Port: services that the machine has once. They are started when a cell asks for them. */
  readonly services: RunningServices;
  /** Path of the Redis program. Undefined: the cells use a server of the operator's. */
  readonly redisProgram: string | undefined;
  /**
   * Port: makes the installation in the Redis of its own at the first start, while no process has the first cell's folder.
   * @returns what is added to the environment of each cell
   */
  readonly prepare: (redisUrl: string) => Promise<Readonly<Record<string, string>>>;
  readonly log: CellsLog;
  readonly clock: Clock;
}

export interface MetricsListener {
  /** Where the cells send whoever asks them for metrics; empty where there are none. */
  readonly url: string;
  close(): void;
}

export interface CellStatus {
  readonly cell: number;
  readonly pid: number | undefined;
  readonly state: string;
  readonly restarts: number;
}

export interface SupervisorStatus {
  readonly pid: number;
  readonly port: number;
  /** Where the metrics of all cells are; empty where it is not known yet, or nowhere. */
  readonly metricsUrl: string;
  readonly cells: readonly CellStatus[];
  readonly redis?: { readonly pid: number | undefined; readonly restarts: number; readonly adopted: boolean };
  readonly engine?: { readonly pid: number | undefined };
}

export interface Supervisor {
  readonly url: string;
  /** Where the metrics of all cells are. */
  readonly metricsUrl: string;
  /** Resolves once all cells serve. @throws Error where a cell ended before it had served: everything is stopped then */
  readonly up: Promise<void>;
  /** One cell after the other leaves and starts anew. Asked during one, another follows it. */
  restartAll(): void;
  status(): SupervisorStatus;
  /** All cells drain at once, then services and engine end, then Redis. */
  stop(): Promise<void>;
  /** The same without draining. */
  stopNow(): Promise<void>;
}

/** More than a cell's stop may take: it ends by itself, with a line that says what was late. */
const GRACE_MS = 10_000;
const AT_ONCE_MS = 1500;
const LOOK_MS = 50;

/** @throws Error with a line for the operator */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { dataDir, host, log } = options;
  keepPrivate(dataDir);
  let running: RunningCells | undefined;
  const held = await holdFolder(dataDir, SUPERVISOR_SOCKET, (asked) =>
    answerTo(
      asked,
      () => running?.status() ?? {},
      async (request) => {
        if (running === undefined) throw new Error("the supervisor is starting: try again in a moment");
        return await running.act(request);
      },
    ),
  );
  if (held === undefined) throw new Error(`another supervisor runs on DATA_DIR=${dataDir}: stop it first`);
  let redis: OwnRedis | undefined;
  let scrapes: MetricsListener | undefined;
  try {
    await endedCells(options);
    const port = options.port === 0 ? await freePort(host) : options.port;
    const fault = await listenFault(host, port);
    if (fault !== undefined) throw new Error(fault);
    const metrics = new CellsMetrics(
      () => running?.cells ?? [],
      (cell) => nameOf(options, cell),
    );
    scrapes = await options.serveMetrics(metrics);
    const { redisProgram: program } = options;
    if (program !== undefined) redis = await startOwnRedis({ ...options, program });
    await redis?.ready();
    const more = redis === undefined ? {} : await options.prepare(redis.socket);
    const env = { ...options.env, ...more };
    running = new RunningCells({ ...options, env }, { port, held, redis, metrics, scrapes });
    running.start();
    const shown = host.includes(":") ? `[${host}]` : host;
    log.info({ cells: options.cells, port, metrics: scrapes.url }, "the supervisor has started its cells");
    return Object.assign(running, { url: `http://${shown}:${port}`, metricsUrl: scrapes.url });
  } catch (error) {
    scrapes?.close();
    await redis?.stop();
    held.release();
    throw error;
  }
}

/** What the supervisor of this folder says; undefined where none runs. @throws Error if it does not answer */
export async function supervisorStatus(dataDir: string): Promise<SupervisorStatus | undefined> {
  if (!existsSync(join(dataDir, SUPERVISOR_SOCKET))) return undefined;
  const text = await askHolder(dataDir, SUPERVISOR_SOCKET);
  return text === undefined ? undefined : { ...NOTHING, ...JSON.parse(text) };
}

/** The status of a supervisor that has no cells yet. */
const NOTHING = { pid: 0, port: 0, metricsUrl: "", cells: [] };

/** What the supervisor has opened before its cells. */
interface Opened {
  readonly port: number;
  readonly held: HeldFolder;
  readonly redis: OwnRedis | undefined;
  readonly metrics: CellsMetrics;
  readonly scrapes: MetricsListener;
}

const nameOf = ({ name }: SupervisorOptions, cell: number): string => `${name}-${cell}`;

class RunningCells {
  readonly up: Promise<void>;
  readonly cells: readonly CellProcess[];
  readonly #options: SupervisorOptions;
  readonly #opened: Opened;
  readonly #engine: OwnEngine | undefined;
  readonly #sharing: EngineSharing | undefined;
  readonly #rolling: RollingRestart;
  readonly #failed = Promise.withResolvers<never>();
  /** Numbers of the cells that have neither served nor been told to stop since the start. */
  readonly #unproven: Set<number>;
  #ending: Promise<void> | undefined;

  constructor(options: SupervisorOptions, opened: Opened) {
    this.#options = options;
    this.#opened = opened;
    this.#engine = options.startEngine?.();
    this.#unproven = new Set(Array.from({ length: options.cells }, (_, i) => i + 1));
    this.cells = Array.from({ length: options.cells }, (_, i) => this.#cell(i + 1));
    if (this.#engine !== undefined) {
      this.#sharing = new EngineSharing(this.#engine, (cell, address) =>
        this.cells[cell - 1]?.tellEngine(address),
      );
    }
    options.services.onChange(() => {
      for (const cell of this.cells) cell.tellServices(options.services.state());
    });
    this.#rolling = new RollingRestart(this.cells, options.log);
    const all = Promise.all(this.cells.map((cell) => cell.isUp()));
    // Those that are stopped before they serve say so too: then only a failure is left to wait for.
    const allUp = all.then((ups) => (ups.every((isUp) => isUp) ? undefined : this.#failed.promise));
    this.up = Promise.race([allUp, this.#failed.promise]);
    this.up.catch(() => {});
  }

  start(): void {
    this.#options.services.listensAt(this.#opened.port);
    for (const cell of this.cells) cell.start();
  }

  restartAll(): void {
    if (this.#ending !== undefined) return;
    if (!migratesConnections()) {
      this.#options.log.warn(
        {},
        "the sysctl net.ipv4.tcp_migrate_req is 0: a connection that is being opened while its cell leaves may be reset; with 1 another cell takes it",
      );
    }
    void this.#rolling.begin();
  }

  status(): SupervisorStatus {
    const redis = this.#opened.redis;
    return {
      pid: process.pid,
      port: this.#opened.port,
      metricsUrl: this.#opened.scrapes.url,
      cells: this.cells.map(({ number: cell, pid, state, restarts }) => ({ cell, pid, state, restarts })),
      ...(redis && {
        redis: { pid: redis.pid(), restarts: redis.restarts(), adopted: redis.isAdopted() },
      }),
      ...(this.#engine && { engine: { pid: this.#engine.pid() } }),
    };
  }

  /** What a command asks for. @throws Error with a line for the operator */
  async act(request: Request): Promise<unknown> {
    if (this.#ending !== undefined) throw new Error("the supervisor is stopping");
    if ("drain" in request) return await this.#drain(this.#named(request.drain));
    if ("start" in request) return await this.#startAgain(this.#named(request.start));
    return await this.#named(String(request.backup)).backUp(request.call, request.withinMs);
  }

  #named(asked: string): CellProcess {
    const found = this.cells.find(({ number }) =>
      [String(number), nameOf(this.#options, number)].includes(asked),
    );
    if (found === undefined) throw new Error(`there is no cell ${asked} here: weir cells lists them`);
    return found;
  }

  async #drain(cell: CellProcess): Promise<void> {
    if (!this.cells.some((other) => other !== cell && other.state === "ready"))
      throw new Error(`no cell but ${cell.number} serves: stop the supervisor if all shall stop`);
    this.#options.log.info(
      { cell: cell.number },
      "a cell is drained, and stays stopped until it is told to start",
    );
    await cell.drain();
  }

  async #startAgain(cell: CellProcess): Promise<void> {
    if (!cell.isDrained) throw new Error(`cell ${cell.number} was not drained: it is ${cell.state}`);
    await cell.resume();
    if (!(await comesUp(cell))) throw new Error(`cell ${cell.number} does not come up: the log says why`);
  }

  stop(): Promise<void> {
    this.#ending ??= this.#end(() => Promise.all(this.cells.map((cell) => cell.stop("stop"))));
    return this.#ending;
  }

  async stopNow(): Promise<void> {
    const timer = setTimeout(() => {
      for (const cell of this.cells) cell.kill();
    }, AT_ONCE_MS);
    const cells = Promise.all(this.cells.map((cell) => cell.stop("end")));
    this.#ending ??= this.#end(() => cells);
    await Promise.all([cells, this.#ending]);
    clearTimeout(timer);
  }

  async #end(endCells: () => Promise<unknown>): Promise<void> {
    this.#rolling.end();
    await endCells();
    await this.#options.services.close();
    // The cells' last records are in ClickHouse or in their outboxes by now, and their last postings in Redis or their journals.
    await (this.#sharing?.stop() ?? this.#engine?.stop());
    this.#opened.scrapes.close();
    await this.#opened.redis?.stop();
    this.#opened.held.release();
  }

  #cell(number: number): CellProcess {
    const { dataDir, env, launch, log, clock, shutdownMs } = this.#options;
    const { port, redis, metrics, scrapes } = this.#opened;
    return new CellProcess({
      number,
      log,
      clock,
      patienceMs: shutdownMs + GRACE_MS,
      launch: () =>
        launch({
          ...env,
          WEIR_CELL: String(number),
          WEIR_CELLS_DIR: dataDir,
          CELL: nameOf(this.#options, number),
          CELLS: "1",
          DATA_DIR: cellFolder(dataDir, number),
          PORT: String(port),
          // The supervisor's port has them, for all cells.
          METRICS_PORT: "",
          WEIR_METRICS_URL: scrapes.url,
          ...(redis && { REDIS_URL: redis.socket }),
        }),
      onStarted: () => {
        this.#sharing?.started(number);
        this.cells[number - 1]?.tellServices(this.#options.services.state());
      },
      onServiceCall: (call) => called(this.#options.services, call),
      onReady: () => {
        this.#unproven.delete(number);
        log.info({ cell: number, cellPid: this.cells[number - 1]?.pid }, "a cell serves");
      },
      onMigrated: () => this.#sharing?.migrated(number),
      onAnalysts: (users) => this.#sharing?.setAnalysts(number, users),
      onEnded: (code, wasAsked) => {
        this.#sharing?.ended(number);
        metrics.ended(number);
        if (wasAsked) this.#unproven.delete(number);
        if (!this.#unproven.has(number) || code === null || this.#ending !== undefined) return;
        // Wrong settings or a disk that fails, most likely: trying for ever would only hide what it said. Whether another cell was
        // faster and serves already makes no difference.
        const error = new Error(`cell ${number} ended with code ${code} before it had served`);
        void this.stopNow().then(() => this.#failed.reject(error));
      },
    });
  }
}

/**
 * Waits for cells of an earlier supervisor that still drain: their folders are locked, and they may have the port.
 * @throws Error that names what does not end
 */
async function endedCells({ dataDir, cells, shutdownMs, clock, log }: SupervisorOptions): Promise<void> {
  const numbers = [1, ...otherCells(dataDir)];
  const more = numbers.filter((number) => number > cells);
  if (more.length > 0)
    log.warn(
      { cells: more },
      "these cells ran here before and do not now: what they hold stays in their folders. After a restart of Redis others wait for one that was killed. `weir retire` ends one for ever",
    );
  const holders = () => numbers.flatMap((number) => folderHolder(cellFolder(dataDir, number)) ?? []);
  if (!hasSupervisedCells(dataDir) && holders().length > 0)
    throw new Error(`a gateway runs on DATA_DIR=${dataDir}, process ${holders()[0]}: stop it first`);
  const endMs = clock.monotonic() + shutdownMs + GRACE_MS;
  let told = false;
  for (let pids = holders(); pids.length > 0; pids = holders()) {
    if (!told) log.info({ pids }, "cells of an earlier supervisor still drain; they are waited for");
    told = true;
    if (clock.monotonic() > endMs)
      throw new Error(`cells of an earlier supervisor do not end: processes ${pids.join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen({ host, port: 0, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Whether Linux hands connections that wait for a listener that closes to the others of its port (ip-sysctl, since 5.14). */
function migratesConnections(): boolean {
  try {
    return readFileSync("/proc/sys/net/ipv4/tcp_migrate_req", "utf8").trim() !== "0";
  } catch {
    return true;
  }
}
