/** `weir start`: starts the gateway, prints its address, and stops it on a signal. Output never blocks it. */
import { type Logger, pino } from "pino";
import { systemClock } from "../../base/clock.ts";
import { fileErrorText } from "../../base/file-errors.ts";
import { endProcess } from "../../base/process/exit.ts";
import { Output } from "../../base/process/output.ts";
import { isOnThisMachine, redisAddress } from "../../cluster/cells/redis/address.ts";
import { hasOwnRedis, hasSupervisedCells } from "../../cluster/supervisor/cell-folders.ts";
import { type CellSide, cellNumber, cellSide } from "../../cluster/supervisor/cell-side.ts";
import { withPath } from "../../store/tables/later-release.ts";
import { type CellPorts, sharedInstallation } from "../gateway/cell-ports.ts";
import { type Gateway, startGateway } from "../gateway/gateway.ts";
import { type Config, readConfig } from "../settings/config.ts";
import { warmUp } from "../warm-up/warm-up.ts";
import type { Shell } from "./command.ts";
import { HeldSignals } from "./held-signals.ts";
import { startScreen } from "./start-screen.ts";

/** Time for unwritten lines when the process ends. */
const FLUSH_MS = 1000;

/**
 * Resolves with the exit code once the gateway has stopped.
 * @param cells value of `--cells`; else that of `CELLS`
 * @throws Error with lines for the operator.
 */
export async function start(
  { env, isTerminal, hasLoaded }: Pick<Shell, "env" | "isTerminal" | "hasLoaded">,
  cells?: string | boolean,
): Promise<number> {
  const config = readConfig(env);
  const cell = cellNumber(env, process.channel !== undefined);
  const count = cellCount(cells, config);
  const shared = sharedInstallation(config);
  // Cells that ran here before need their Redis, also where one is left.
  const isSupervisor =
    cell === undefined && (count > 1 || (shared === undefined && hasOwnRedis(config.dataDir)));
  if (isSupervisor) {
    const { startCells } = await import("./start-cells.ts");
    hasLoaded?.();
    return await startCells(config, count, env, isTerminal);
  }
  if (shared === undefined && hasSupervisedCells(config.dataDir))
    throw new Error(
      `DATA_DIR=${config.dataDir} holds the data of several cells: set the REDIS_URL that they had`,
    );
  const [out, err] = [new Output(1), new Output(2)];
  process.once("exit", () => {
    out.flushSync();
    err.flushSync();
  });
  const log = pino({ level: config.logLevel }, err).child(cell === undefined ? {} : { cell });
  tellFaults(log);
  const side = cell === undefined ? undefined : cellSide(process);
  const droppedLogLines = () => out.dropped + err.dropped;
  const held = new HeldSignals();
  const beforeListening = async () => {
    held.begin();
    await warmUp({ dataDir: config.dataDir, ms: config.warmUpMs, log, signal: held.signal });
  };
  const around = { droppedLogLines, shared, cell: side && cellPorts(side, config, env), beforeListening };
  const gateway = await startGateway(config, log, around).catch((error: unknown) => {
    throw withPath(config.dataDir, error);
  });
  // Installed before the start screen: a signal may follow it at once.
  const stopped = untilStopped(gateway, log, side);
  held.release();
  hasLoaded?.();
  log.info(gateway.facts, "started");
  if (side === undefined) {
    const signInLink = isTerminal ? gateway.signInLink() : undefined;
    out.write(startScreen(gateway.url, config, { first: gateway.first, isTerminal, signInLink }));
  } else tellSupervisor(gateway, side);
  const code = await stopped;
  await Promise.all([out.flush(FLUSH_MS), err.flush(FLUSH_MS)]);
  return code;
}

/** @throws Error for the operator where `--cells` is no number from 1 to 64 */
function cellCount(given: string | boolean | undefined, config: Config): number {
  if (given === undefined) return config.cells;
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1 || count > 64)
    throw new Error(`--cells takes a number from 1 to 64, not ${given}`);
  return count;
}

/** The engine is in the supervisor's folder. */
const cellPorts = (
  side: CellSide,
  { clickhouseUrl, dataDir, cell, redisUrl }: Config,
  { WEIR_CELLS_DIR: machineDir = dataDir, WEIR_METRICS_URL: metricsUrl }: NodeJS.ProcessEnv,
): CellPorts => ({
  hurry: side.ordered.then(() => {}),
  machineDir,
  metricsUrl,
  portsOfMachine: () => side.services.state().ports,
  services: redisUrl !== undefined && isOnThisMachine(redisAddress(redisUrl)) ? side.services : undefined,
  engine:
    clickhouseUrl === undefined
      ? { engine: side.engine, dataDir: machineDir, inbox: `inbox-${cell}` }
      : undefined,
});

const ANALYTICS_LOOK_MS = 200;

function tellSupervisor(gateway: Gateway, side: CellSide): void {
  const { backup } = gateway;
  side.onBackup((call) => (call.name === "begin" ? backup.begin(call.records) : backup.freeze(call.id)));
  side.onMetrics(() => gateway.figures());
  side.isReady(gateway.url);
  const timer = setInterval(() => {
    if (!gateway.hasAnalytics()) return;
    clearInterval(timer);
    side.isMigrated();
  }, ANALYTICS_LOOK_MS);
  timer.unref();
}

/** An uncaught error is logged and ends the process. Node's warnings are logged. */
function tellFaults(log: Logger): void {
  process.on("uncaughtException", (err) => {
    const text = fileErrorText(err);
    if (text === undefined) log.fatal({ err }, "stopped by a fault of the gateway's own");
    else log.fatal(text);
    void endProcess(1);
  });
  process.removeAllListeners("warning");
  process.on("warning", (err) => log.warn({ err }, "a warning of Node's"));
}

/**
 * The terminal sends Ctrl-C to the whole process group and npm forwards it again: a repeat this soon is the same
 * signal.
 */
const SAME_SIGNAL_MS = 2000;

/**
 * The first SIGTERM or SIGINT drains; a later one ends the process at once. SIGHUP reloads the catalog. A closing
 * terminal sends SIGHUP too: that does not stop the gateway, because calls may be running.
 * @returns the exit code.
 */
function untilStopped(gateway: Gateway, log: Logger, side?: CellSide): Promise<number> {
  process.on(
    "SIGHUP",
    () => void gateway.reload().catch((err) => log.error({ err }, "the catalog was not read")),
  );
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const stop = (signal: string) => {
      const nowMs = systemClock.monotonic();
      if (askedMs !== undefined) {
        if (nowMs - askedMs <= SAME_SIGNAL_MS) return;
        endAtOnce(signal);
        return;
      }
      askedMs = nowMs;
      log.info({ signal }, `stopping: ${signal} came; running calls may end, and no new connection is taken`);
      gateway.stop().then(
        () => {
          log.info({ signal }, `stopped by ${signal}: everything is saved`);
          resolve(0);
        },
        (err: unknown) => {
          log.fatal({ err, unsaved: gateway.unsaved() }, `stopped by ${signal}, but not cleanly`);
          resolve(1);
        },
      );
    };
    const endAtOnce = (signal: string) => {
      log.warn({ signal, unsaved: gateway.unsaved() }, `stopped at once by a second ${signal}`);
      void endProcess(130);
    };
    // A cell that leaves already hears `stop` by `hurry`.
    side?.onOrder((order) => {
      if (order === "end") endAtOnce("order");
      else if (askedMs === undefined) stop("order");
    });
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}
