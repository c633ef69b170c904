/** `weir --cells N`: several gateways on one port under a supervisor; `weir cells` lists them. */
import { fork } from "node:child_process";
import { type Logger, pino } from "pino";
import { startEngine } from "../analytics/engine.ts";
import { systemClock } from "../clock.ts";
import { type Config, readConfig } from "../config.ts";
import { endProcess } from "../process/ending.ts";
import { Output } from "../process/output.ts";
import { findRedisServer } from "../supervisor/redis-server.ts";
import { type Supervisor, startSupervisor, supervisorStatus } from "../supervisor/supervisor.ts";
import type { Shell } from "./command.ts";

/** Time for unwritten lines when the process ends. */
const FLUSH_MS = 1000;

/** Resolves with the exit code once all cells have stopped. @throws Error with lines for the operator */
export async function startCells(config: Config, cells: number, env: NodeJS.ProcessEnv): Promise<number> {
  // The tests of the supervisor set it. Cells do not share credit, limits or keys yet: each would be an installation of its own.
  if (env.WEIR_UNSHARED_CELLS !== "1")
    throw new Error(
      "several cells (--cells, CELLS) cannot share credit and limits in this release: start one",
    );
  const redisProgram = env.REDIS_URL ? undefined : findRedisServer(env.PATH);
  const [out, err] = [new Output(1), new Output(2)];
  process.once("exit", () => {
    out.flushSync();
    err.flushSync();
  });
  const log = pino({ level: config.logLevel }, err).child({ cell: "supervisor" });
  const { host, port, dataDir, clickhouseUrl } = config;
  const supervisor = await startSupervisor({
    ...{ cells, dataDir, host, port, env, log, redisProgram, clock: systemClock },
    name: config.cell,
    shutdownMs: config.settings.timeouts.shutdown_ms,
    // The program and flags of this process, so that a cell has the flags of measurements too. A session of its own: Ctrl-C is for the supervisor alone.
    launch: (cellEnv) =>
      fork(process.argv[1] ?? "", [], {
        ...{ env: cellEnv, execArgv: process.execArgv, detached: true },
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      }),
    startEngine: clickhouseUrl === undefined ? () => startEngine(dataDir, log) : undefined,
  });
  const stopped = untilStopped(supervisor, log);
  const isUp = await Promise.race([supervisor.up.then(() => true), stopped.then(() => false)]);
  const screen = `\n  Weir is ready at ${supervisor.url} with ${cells} cells\n  List them: weir cells   Data: ${dataDir}/cells\n\n`;
  if (isUp) out.write(screen);
  const code = await stopped;
  await Promise.all([out.flush(FLUSH_MS), err.flush(FLUSH_MS)]);
  return code;
}

/** The terminal sends Ctrl-C, and a launcher forwards it: a repeat this soon is the same signal. */
const SAME_SIGNAL_MS = 2000;
/** The same for SIGHUP, where a second one shortly after has its own meaning: another restart follows. */
const SAME_HANGUP_MS = 200;

/** The first SIGTERM or SIGINT drains all cells, a later one ends them at once; SIGHUP restarts them one after the other. */
function untilStopped(supervisor: Supervisor, log: Logger): Promise<number> {
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    let restartMs = Number.NEGATIVE_INFINITY;
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
      if (nowMs - restartMs <= SAME_HANGUP_MS) return;
      restartMs = nowMs;
      supervisor.restartAll();
    });
  });
}

/** Prints one line for each cell. Exit code 1 where no supervisor runs on `DATA_DIR`. */
export async function listCells({ env, out, err }: Shell): Promise<number> {
  const { dataDir } = readConfig(env);
  const status = await supervisorStatus(dataDir);
  if (status === undefined) {
    err(`no supervisor of several cells runs on DATA_DIR=${dataDir}\n`);
    return 1;
  }
  const row = (...fields: unknown[]) =>
    `${fields
      .map((field) => String(field ?? "-").padEnd(12))
      .join("")
      .trimEnd()}\n`;
  out(row("CELL", "PID", "STATE", "RESTARTS"));
  out(row("supervisor", status.pid, status.cells.length === 0 ? "starting" : `port ${status.port}`));
  for (const { cell, pid, state, restarts } of status.cells) out(row(cell, pid, state, restarts));
  if (status.redis) {
    const { pid, restarts, adopted } = status.redis;
    out(row("redis", pid, adopted ? "taken over" : "own", restarts));
  }
  if (status.engine) out(row("engine", status.engine.pid));
  return 0;
}
