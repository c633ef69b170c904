/** What is compared: one gateway without Redis, one cell with a Redis of the bench, and two cells under the supervisor. */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectRedis, type RedisLink } from "../../src/cluster/cells/redis/redis.ts";
import { REQUIRED_SETTINGS, redisArguments } from "../../src/cluster/cells/redis/required-settings.ts";
import { redisSocketIn } from "../../src/cluster/supervisor/asked-redis.ts";
import { redisFolder } from "../../src/cluster/supervisor/cell-folders.ts";
import { findRedisServer } from "../../src/cluster/supervisor/redis-server.ts";
import { supervisorStatus } from "../../src/cluster/supervisor/supervisor.ts";
import { commandOf, descendants } from "../measure.ts";
import type { Processes } from "../processes.ts";
import { type RunningTarget, type TargetContext, Unavailable } from "../targets/target.ts";
import { LATER_MS, productEnv, startProduct } from "../targets/weir.ts";

/** Gateways that serve calls together, with the processes whose CPU these calls take. */
export interface Group extends RunningTarget {
  readonly name: string;
  /** Processes of gateways, and of their supervisor. */
  readonly gateways: readonly number[];
  readonly engines: readonly number[];
  readonly redis?: { readonly pid: number; readonly link: RedisLink };
  /** How many gateways serve. */
  readonly cells: number;
  close(): void;
}

/** The gateway without Redis: what all others are held against, in the same round. */
export const REFERENCE = "alone";

const MODEL = "weir/sim-small";
const START_MS = 60_000;
const SILENT = { warn() {} };

export async function startAlone(context: TargetContext): Promise<Group> {
  const { started, baseUrl, headers } = await startProduct(context, REFERENCE);
  return {
    name: REFERENCE,
    cells: 1,
    baseUrl,
    headers,
    model: MODEL,
    pid: undefined,
    laterMs: LATER_MS,
    gateways: [started.pid],
    engines: enginesOf(started.pid),
    close() {},
  };
}

/** @throws Unavailable where there is no redis-server */
export async function startOneCell(context: TargetContext): Promise<Group> {
  const redis = await startBenchRedis(context.processes, context.scratchDir);
  const env = {
    REDIS_URL: redis.url,
    CELL: "bench-1",
    WEIR_SECRETS_KEY: randomBytes(32).toString("base64"),
  };
  const start = async () => {
    await initDataset(context, "cell", env);
    return await startProduct(context, "cell", { env });
  };
  const { started, baseUrl, headers } = await start().catch((error: unknown) => {
    redis.link.close();
    throw error;
  });
  return {
    name: "1 cell",
    cells: 1,
    baseUrl,
    headers,
    model: MODEL,
    pid: undefined,
    laterMs: LATER_MS,
    gateways: [started.pid],
    engines: enginesOf(started.pid),
    redis,
    close: () => redis.link.close(),
  };
}

/** @throws Unavailable where there is no redis-server */
export async function startCells(context: TargetContext, cells: number): Promise<Group> {
  redisProgram();
  const run = { args: ["--cells", String(cells)] };
  const { started, baseUrl, headers, dataDir } = await startProduct(context, "cells", run);
  const status = await statusOnceReady(dataDir, cells);
  const socket = redisSocketIn(redisFolder(dataDir));
  const link = connectRedis({ url: socket.path, log: SILENT });
  const enginePid = status.engine?.pid;
  return {
    name: `${cells} cells`,
    cells,
    baseUrl,
    headers,
    model: MODEL,
    pid: undefined,
    laterMs: LATER_MS,
    gateways: [started.pid, ...status.cells.flatMap(({ pid }) => pid ?? [])],
    engines: enginePid === undefined ? [] : [enginePid],
    redis: { pid: status.redis?.pid ?? 0, link },
    close() {
      link.close();
      socket.release();
    },
  };
}

async function statusOnceReady(dataDir: string, cells: number) {
  const endMs = performance.now() + START_MS;
  while (performance.now() < endMs) {
    const status = await supervisorStatus(dataDir);
    if (status?.cells.length === cells && status.cells.every(({ state }) => state === "ready")) return status;
    await sleep(100);
  }
  throw new Error(`${cells} cells are not ready after ${START_MS} ms`);
}

/** A gateway has other children for a moment: it tries, for one, whether analysts' statements can be confined. */
const enginesOf = (gateway: number): number[] =>
  descendants(gateway)
    .filter(({ pid, parent }) => parent === gateway && commandOf(pid).includes("engine-child"))
    .map(({ pid }) => pid);

function redisProgram(): string {
  try {
    return findRedisServer();
  } catch {
    throw new Unavailable("neither redis-server nor valkey-server is on PATH");
  }
}

/** A Redis as cells need it: each write on the disk before it is acknowledged. @throws Unavailable where there is none */
export async function startBenchRedis(processes: Processes, scratchDir: string) {
  const program = redisProgram();
  const folder = join(scratchDir, "redis");
  mkdirSync(folder, { recursive: true });
  const url = join(folder, "redis.sock");
  const { pid } = await processes.start("redis", program, [
    ...redisArguments({ port: "0", unixsocket: url, dir: folder, save: "", ...REQUIRED_SETTINGS }),
  ]);
  const link = connectRedis({ url, log: SILENT });
  await link.ready(START_MS);
  return { pid, url, link };
}

async function initDataset(context: TargetContext, name: string, env: Readonly<Record<string, string>>) {
  const script = join(context.repoDir, "src/main.ts");
  const { child, log } = await context.processes.start(
    `${name}-init`,
    process.execPath,
    [script, "cells", "init"],
    { cwd: context.repoDir, env: { ...productEnv(context, name), ...env } },
  );
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`weir cells init ended with ${code}: ${log()}`);
}
