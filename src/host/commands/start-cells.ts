/** `weir --cells N`: several gateways on one port under a supervisor. */
import { fork } from "node:child_process";
import { type Logger, pino } from "pino";
import type { FirstStart } from "../../account/first-start.ts";
import { startEngine } from "../../analytics/engine/engine.ts";
import { systemClock } from "../../base/clock.ts";
import { Listeners } from "../../base/network/listeners.ts";
import { endProcess } from "../../base/process/exit.ts";
import { Output } from "../../base/process/output.ts";
import { datasetIn, noteRestored } from "../../cluster/cells/dataset/dataset.ts";
import { initDataset, secretsKeyText } from "../../cluster/cells/init/init.ts";
import { connectRedis, type RedisLink } from "../../cluster/cells/redis/redis.ts";
import { redisFolder } from "../../cluster/supervisor/cell-folders.ts";
import { findRedisServer } from "../../cluster/supervisor/redis-server.ts";
import { type Supervisor, startSupervisor } from "../../cluster/supervisor/supervisor.ts";
import { forgetRedisRestored, isRedisRestored } from "../backup/redis-files.ts";
import { openCellsMetrics } from "../gateway/listeners.ts";
import { openServices } from "../services/services.ts";
import type { Config } from "../settings/config.ts";
import { offersLink } from "../settings/offers-link.ts";
import { startScreen } from "./start-screen.ts";

/** Time for unwritten lines when the process ends. */
const FLUSH_MS = 1000;
const REDIS_MS = 10_000;
/** A cell's name has at most 64 characters. */
const MOST_NAME = 60;

/** Resolves with the exit code once all cells have stopped. @throws Error with lines for the operator */
export async function startCells(
  config: Config,
  cells: number,
  env: NodeJS.ProcessEnv,
  isTerminal: boolean,
): Promise<number> {
  if (config.cell.length > MOST_NAME)
    throw new Error(`CELL: at most ${MOST_NAME} characters with several cells, whose numbers are added`);
  const redisProgram = config.redisUrl === undefined ? findRedisServer(env.PATH) : undefined;
  const [out, err] = [new Output(1), new Output(2)];
  process.once("exit", () => {
    out.flushSync();
    err.flushSync();
  });
  const log = pino({ level: config.logLevel }, err).child({ by: "supervisor" });
  const { host, port, dataDir, clickhouseUrl, settings } = config;
  let first: FirstStart | undefined;
  const early = new EarlySignals(log);
  const listeners = new Listeners((listener, at) => log.debug({ listener, port: at }, "listens"));
  const services = openServices(config, { clock: systemClock, log, listeners });
  const supervisor = await startSupervisor({
    cells,
    dataDir,
    host,
    port,
    env,
    log,
    redisProgram,
    clock: systemClock,
    name: config.cell,
    shutdownMs: config.settings.timeouts.shutdown_ms,
    services,
    serveMetrics: (metrics) => openCellsMetrics(config, metrics, { log, listeners, clock: systemClock }),
    // The program and flags of this process, so that a cell has the flags of measurements too. A session of its own: Ctrl-C is for the supervisor alone.
    launch: (cellEnv) =>
      fork(process.argv[1] ?? "", [], {
        env: cellEnv,
        execArgv: process.execArgv,
        detached: true,
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      }),
    startEngine:
      clickhouseUrl === undefined
        ? () =>
            startEngine(dataDir, log, {
              analysts: settings.analytics.analysts,
              onListening: (at) => listeners.add("engine", at),
            })
        : undefined,
    async prepare(redisUrl) {
      first = await preparedOwn(config, redisUrl, log);
      return { WEIR_SECRETS_KEY: secretsKeyText(config) };
    },
  });
  const stopped = untilStopped(supervisor, log, early);
  const isUp = await Promise.race([supervisor.up.then(() => true), stopped.then(() => false)]);
  if (isUp) {
    const link = isTerminal && offersLink(config) ? services.makeLink() : undefined;
    const signInLink = link && `${supervisor.url}${link}`;
    const several = { cells, metricsUrl: supervisor.metricsUrl };
    out.write(startScreen(supervisor.url, config, { first, isTerminal, signInLink, several }));
  }
  const code = await stopped;
  await Promise.all([out.flush(FLUSH_MS), err.flush(FLUSH_MS)]);
  return code;
}

/** Makes the installation in the supervisor's own Redis where it has none, of the folder as it is. */
async function preparedOwn(config: Config, redisUrl: string, log: Logger): Promise<FirstStart | undefined> {
  const link = connectRedis({ url: redisUrl, log });
  try {
    await link.ready(REDIS_MS);
    const found = await datasetIn(link);
    if (found?.isFinished === true) {
      await restored(link, found.id, redisFolder(config.dataDir));
      return undefined;
    }
  } finally {
    link.close();
  }
  const { first, rows } = await initDataset(config, { redisUrl, log });
  log.info({ rows }, "the installation of the data folder is in Redis now: its cells share it");
  return first;
}

/** At the first start after `weir restore`. */
async function restored(link: RedisLink, id: string, folder: string): Promise<void> {
  if (!isRedisRestored(folder)) return;
  await noteRestored(link, id);
  forgetRedisRestored(folder);
}

/** The terminal sends Ctrl-C, and a launcher forwards it: a repeat this soon is the same signal. */
const SAME_SIGNAL_MS = 2000;
/** The same for SIGHUP, where a second one shortly after has its own meaning: another restart follows. */
const SAME_HANGUP_MS = 200;

/** Signals that come while Redis and the first cells are started: a process that ended then would leave Redis behind. */
class EarlySignals {
  /** The first one that asked for an end. */
  asked: NodeJS.Signals | undefined;
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[];

  constructor(log: Logger) {
    const note = (signal: NodeJS.Signals) => {
      if (this.asked === undefined) log.info({ signal }, `${signal} came: it stops once it has started`);
      this.asked ??= signal;
    };
    this.#listeners = [
      ["SIGTERM", () => note("SIGTERM")],
      ["SIGINT", () => note("SIGINT")],
      // There is nothing to restart yet.
      ["SIGHUP", () => {}],
    ];
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
  }

  end(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}

/** The first SIGTERM or SIGINT drains all cells, a later one ends them at once; SIGHUP restarts them one after the other. */
function untilStopped(supervisor: Supervisor, log: Logger, early: EarlySignals): Promise<number> {
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    let restartMs = Number.NEGATIVE_INFINITY;
    let isUp = false;
    supervisor.up.then(
      () => {
        isUp = true;
      },
      () => {},
    );
    const stop = (signal: NodeJS.Signals) => {
      const nowMs = systemClock.monotonic();
      if (askedMs !== undefined) {
        if (nowMs - askedMs <= SAME_SIGNAL_MS) return;
        log.warn({ signal }, `stopped at once by a second ${signal}`);
        void supervisor.stopNow().finally(() => endProcess(130));
        return;
      }
      askedMs = nowMs;
      log.info({ signal }, `stopping: ${signal} came; all cells drain`);
      supervisor.stop().then(
        () => {
          log.info({ signal }, `stopped by ${signal}: all cells have ended`);
          resolve(0);
        },
        (error: unknown) => {
          log.fatal({ err: error }, `stopped by ${signal}, but not cleanly`);
          resolve(1);
        },
      );
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
    process.on("SIGHUP", () => {
      const nowMs = systemClock.monotonic();
      // Cells that have not served yet are of this release.
      if (!isUp || nowMs - restartMs <= SAME_HANGUP_MS) return;
      restartMs = nowMs;
      supervisor.restartAll();
    });
    early.end();
    if (early.asked !== undefined) stop(early.asked);
  });
}
