/** `weir start`: starts the gateway, prints its address, and stops it on a signal. Output never blocks it. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { type Logger, pino } from "pino";
import { FIRST_KEY_FILES } from "../account/first-start.ts";
import { systemClock } from "../clock.ts";
import { type Config, readConfig } from "../config.ts";
import { type CellPorts, type Gateway, startGateway } from "../gateway/gateway.ts";
import { endProcess } from "../process/ending.ts";
import { Output } from "../process/output.ts";
import { type CellSide, cellNumber, cellSide } from "../supervisor/cell-side.ts";
import type { Shell } from "./command.ts";

/** Time for unwritten lines when the process ends. */
const FLUSH_MS = 1000;

/**
 * Resolves with the exit code once the gateway has stopped.
 * @param cells value of `--cells`; else that of `CELLS`
 * @throws Error with lines for the operator.
 */
export async function start(
  { env, isTerminal }: Pick<Shell, "env" | "isTerminal">,
  cells?: string | boolean,
): Promise<number> {
  const config = readConfig(env);
  const cell = cellNumber(env, process.channel !== undefined);
  const count = cellCount(cells, config);
  if (cell === undefined && count > 1)
    return await (await import("./cells.ts")).startCells(config, count, env);
  if (cell === undefined && env.REDIS_URL)
    throw new Error(
      "REDIS_URL: gateways cannot share credit and limits in this release, and each would spend the balance: unset it",
    );
  if (cell === undefined && existsSync(join(config.dataDir, "cells")))
    throw new Error(
      `DATA_DIR=${config.dataDir} holds the data of several cells: a gateway that runs alone needs a folder of its own`,
    );
  const [out, err] = [new Output(1), new Output(2)];
  process.once("exit", () => {
    out.flushSync();
    err.flushSync();
  });
  const log = pino({ level: config.logLevel }, err).child(cell === undefined ? {} : { cell });
  tellFaults(log);
  const side = cell === undefined ? undefined : cellSide(process);
  const facts = { droppedLogLines: () => out.dropped + err.dropped };
  const gateway = await startGateway(config, log, { ...facts, cell: side && cellPorts(side, config) });
  // Installed before the start screen: a signal may follow it at once.
  const stopped = untilStopped(gateway, log, side);
  log.info(gateway.facts, "started");
  if (side === undefined) out.write(screen(gateway, config, isTerminal));
  else tellSupervisor(gateway, side);
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

/** The folder of a cell is `cells/<number>` of the supervisor's, which has the engine. */
const cellPorts = (side: CellSide, { clickhouseUrl, dataDir, cell }: Config): CellPorts => ({
  hurry: side.ordered.then(() => {}),
  engine:
    clickhouseUrl === undefined
      ? { engine: side.engine, dataDir: join(dataDir, "../.."), inbox: `inbox-${cell}` }
      : undefined,
});

const ANALYTICS_LOOK_MS = 200;

function tellSupervisor(gateway: Gateway, side: CellSide): void {
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
    log.fatal({ err }, "stopped by a fault of the gateway's own");
    void endProcess(1);
  });
  process.removeAllListeners("warning");
  process.on("warning", (err) => log.warn({ err }, "a warning of Node's"));
}

/** The start screen: address, key, a command that works when pasted, where to read on. */
function screen(gateway: Gateway, config: Config, isTerminal: boolean): string {
  const keyFile = join(config.dataDir, FIRST_KEY_FILES.live);
  const key = existsSync(keyFile) ? `$(cat ${pasted(keyFile)})` : "$WEIR_API_KEY";
  const grant = gateway.first === undefined ? "" : `, $${config.settings.grant_usd.toFixed(2)} granted`;
  // Shown only at the first start, and only on a terminal: log files and collectors keep lines for longer than a key
  // should be exposed.
  const shown = gateway.first !== undefined && isTerminal ? `${gateway.first.liveSecret} (also ` : "";
  return [
    "",
    `  Weir is ready at ${gateway.url}`,
    `  Key: ${shown}in ${keyFile}${shown === "" ? "" : ")"}${grant}`,
    "",
    `  curl ${gateway.url}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "weir/sim-small", "messages": [{"role": "user", "content": "Hello"}]}'`,
    "",
    `  API reference: ${gateway.url}/docs   Guide: README.md`,
    "",
    "",
  ].join("\n");
}

/** The path quoted for a shell, relative to this folder if that is shorter. */
function pasted(path: string): string {
  const near = relative(process.cwd(), path);
  const short = near.startsWith("..") || near.length > path.length ? path : near;
  return /^[\w./@%+:,-]+$/.test(short) ? short : `'${short.replaceAll("'", "'\\''")}'`;
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
      log.info({ signal }, `stopping: ${signal} came; running calls may end, new ones are refused`);
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
