/** `weir cells`, `weir cells init`, `weir cells drain`, `weir cells start`, `weir retire`: what an operator does with several gateways. */
import { pino } from "pino";
import { datasetIn } from "../../cluster/cells/dataset/dataset.ts";
import { initDataset } from "../../cluster/cells/init/init.ts";
import { type RegisteredCell, registeredCells, retire } from "../../cluster/cells/membership/registry.ts";
import { connectRedis, type RedisLink } from "../../cluster/cells/redis/redis.ts";
import { redisSocketIn } from "../../cluster/supervisor/asked-redis.ts";
import { hasOwnRedis, redisFolder } from "../../cluster/supervisor/cell-folders.ts";
import { askSupervisor } from "../../cluster/supervisor/requests.ts";
import { type SupervisorStatus, supervisorStatus } from "../../cluster/supervisor/supervisor.ts";
import { type Config, readConfig } from "../settings/config.ts";
import type { Given, Shell } from "./command.ts";
import { aligned, needed } from "./operate.ts";
import { keyLine } from "./start-screen.ts";

const CONNECT_MS = 5000;

/** Lists processes of a supervisor on `DATA_DIR`, and the cells of the installation. Exit code 1 where there is neither. */
export async function listCells(shell: Shell): Promise<number> {
  const config = readConfig(shell.env);
  const status = await supervisorStatus(config.dataDir);
  if (status !== undefined) listProcesses(status, shell);
  if (config.redisUrl === undefined && status === undefined) {
    shell.err(
      `no supervisor of several cells runs on DATA_DIR=${config.dataDir}, and REDIS_URL is not set\n`,
    );
    return 1;
  }
  if (!hasRedis(config)) return 0;
  return await withDataset(config, async (link, id) => {
    const { version, cells } = await registeredCells(link, id);
    shell.out(`${status === undefined ? "" : "\n"}Rows at version ${version}\n`);
    const titles = ["NAME", "STATE", "LIFE", "VERSION", "HEARD", "ORGS LEASED", "USD LEASED"];
    aligned(shell, [titles, ...cells.map(fieldsOf)]);
    return 0;
  });
}

const fieldsOf = (cell: RegisteredCell): string[] => [
  cell.cell,
  cell.isAwaited ? `${cell.status}, awaited` : cell.status,
  String(cell.life),
  String(cell.version ?? "-"),
  cell.silentMs === undefined ? "-" : `${(cell.silentMs / 1000).toFixed(1)} s ago`,
  String(cell.leasedOrgs),
  cell.leasedMicroUsd === undefined ? "-" : (cell.leasedMicroUsd / 1e6).toFixed(6),
];

function listProcesses({ pid, port, cells, redis, engine }: SupervisorStatus, { out }: Shell): void {
  const row = (...fields: unknown[]) => {
    const padded = fields.map((field) => String(field ?? "-").padEnd(12));
    out(`${padded.join("").trimEnd()}\n`);
  };
  row("CELL", "PID", "STATE", "RESTARTS");
  row("supervisor", pid, cells.length === 0 ? "starting" : `port ${port}`);
  for (const { cell, pid, state, restarts } of cells) row(cell, pid, state, restarts);
  if (redis) row("redis", redis.pid, redis.adopted ? "taken over" : "own", redis.restarts);
  if (engine) row("engine", engine.pid);
}

/** Makes the installation in `REDIS_URL` from `DATA_DIR`. @throws Error with lines for the operator */
export async function initCells({ options }: Given, shell: Shell): Promise<number> {
  const config = readConfig(shell.env);
  const { redisUrl, dataDir, secretsKey } = config;
  if (redisUrl === undefined) throw new Error("REDIS_URL: names the Redis that shall hold the installation");
  if (secretsKey === undefined)
    throw new Error(
      `WEIR_SECRETS_KEY: all cells need the same one: what ${dataDir}/secrets.key holds, or 32 new bytes of openssl rand -base64 32`,
    );
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const [discards, once] = [options.discard === true, options.once === true];
  const { first, rows } = await initDataset(config, { redisUrl, log, discards, once });
  if (rows === undefined)
    shell.out(`${once ? "An" : "This folder's"} installation is in this Redis already.\n`);
  else
    shell.out(
      `The installation is in Redis: ${rows} rows, of ${dataDir}, which is its first cell's folder.\n`,
    );
  if (first !== undefined) shell.out(`${keyLine(config, first, shell.isTerminal)}\n`);
  shell.out(
    "Start each cell with the same REDIS_URL and WEIR_SECRETS_KEY, and a CELL and DATA_DIR of its own.\n",
  );
  return 0;
}

/** More than a cell's stop may take, and a start that replays a long journal. */
const DRAIN_MS = 600_000;

/** Stops one cell of the supervisor on `DATA_DIR` in good order. @throws Error with a line for the operator */
export async function drainCell({ operand }: Given, shell: Shell): Promise<number> {
  const drain = needed(operand, "CELL");
  await askSupervisor(readConfig(shell.env).dataDir, { drain }, DRAIN_MS);
  shell.out(`cell ${drain} has stopped, and stays stopped until weir cells start ${drain}\n`);
  return 0;
}

/** Starts a cell that was drained; resolves once it serves. @throws Error with a line for the operator */
export async function startCell({ operand }: Given, shell: Shell): Promise<number> {
  const start = needed(operand, "CELL");
  await askSupervisor(readConfig(shell.env).dataDir, { start }, DRAIN_MS);
  shell.out(`cell ${start} serves\n`);
  return 0;
}

/** @returns exit code 1 where the cell is unknown or was not silent for long enough */
export async function retireCell({ operand }: Given, shell: Shell): Promise<number> {
  const cell = needed(operand, "CELL");
  return await withDataset(readConfig(shell.env), async (link, id) => {
    const outcome = await retire(link, id, cell);
    if (outcome === true) {
      shell.out(`${cell} is retired: no process of it is accepted, and its leases are given back\n`);
      return 0;
    }
    if (outcome === "alive")
      shell.err(
        `${cell} is alive, or was until less than 35 s ago (95 s where no other cell runs): stop it first\n`,
      );
    else shell.err(`there is no cell ${cell}: weir cells lists them\n`);
    return 1;
  });
}

const hasRedis = ({ redisUrl, dataDir }: Config): boolean => redisUrl !== undefined || hasOwnRedis(dataDir);

/** The Redis of `REDIS_URL`, or that of the supervisor on `DATA_DIR`. @throws Error with a line for the operator */
async function withDataset(
  config: Config,
  act: (link: RedisLink, id: string) => Promise<number>,
): Promise<number> {
  if (!hasRedis(config))
    throw new Error(`REDIS_URL is not set, and DATA_DIR=${config.dataDir} has no Redis of its own`);
  const own = config.redisUrl === undefined ? redisSocketIn(redisFolder(config.dataDir)) : undefined;
  const link = connectRedis({ url: config.redisUrl ?? own?.path ?? "", log: { warn() {} } });
  try {
    await link.ready(CONNECT_MS);
    const found = await datasetIn(link);
    if (found?.isFinished !== true) throw new Error("this Redis holds no installation");
    return await act(link, found.id);
  } finally {
    link.close();
    own?.release();
  }
}
