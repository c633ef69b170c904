/** What calls cost a group of gateways: CPU by process, memory, and what they ask of Redis. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RedisLink } from "../../src/cluster/cells/redis/redis.ts";
import { cpuTime, memory, tickUs } from "../measure.ts";
import type { Group } from "./groups.ts";

/** Microseconds of CPU, and exchanges with Redis, since the processes began. */
export interface Spent {
  /** All threads of the gateways. */
  readonly gatewayUs: number;
  /** Their main threads alone: each can use one core at most. */
  readonly mainUs: number;
  readonly redisUs: number;
  readonly engineUs: number;
  readonly exchanges: number;
  /** What Redis read: what it also writes to its append-only file, nearly. */
  readonly redisBytes: number;
}

export const NOTHING: Spent = {
  gatewayUs: 0,
  mainUs: 0,
  redisUs: 0,
  engineUs: 0,
  exchanges: 0,
  redisBytes: 0,
};

const NAMES = Object.keys(NOTHING) as (keyof Spent)[];

/** `a` and `factor` times `b`. */
export const plus = (a: Spent, b: Spent, factor: number): Spent =>
  Object.fromEntries(NAMES.map((name) => [name, a[name] + factor * b[name]])) as Record<keyof Spent, number>;

/** @throws ProcessGone */
export async function spentBy(group: Group): Promise<Spent> {
  const gateways = group.gateways.map((pid) => cpuTime(pid).ownUs);
  const engines = group.engines.map((pid) => cpuTime(pid)).map((cpu) => cpu.ownUs + cpu.childrenUs);
  const redis = group.redis && cpuTime(group.redis.pid);
  return {
    gatewayUs: sum(gateways),
    mainUs: sum(group.gateways.map(mainThreadUs)),
    redisUs: redis === undefined ? 0 : redis.ownUs + redis.childrenUs,
    engineUs: sum(engines),
    ...(group.redis === undefined ? { exchanges: 0, redisBytes: 0 } : await askedOf(group.redis.link)),
  };
}

/** Megabytes that are resident: of the gateways, and of Redis. */
export const residentMb = ({ gateways, redis }: Group) => ({
  gateways: sum(gateways.map((pid) => memory(pid).residentKb)) / 1024,
  redis: redis === undefined ? 0 : memory(redis.pid).residentKb / 1024,
});

const QUIET_LOOK_MS = 250;

/** Waits until the group has done what follows calls: records are inserted some seconds after them. */
export async function settled(group: Group, limitMs: number): Promise<void> {
  if (limitMs === 0) return;
  await quiet(group, limitMs);
  await sleep(group.laterMs ?? 0);
  await quiet(group, limitMs);
}

/** Cells are never quite still: they say each second that they live. */
async function quiet(group: Group, limitMs: number): Promise<void> {
  const untilMs = performance.now() + limitMs;
  let before = total(await spentBy(group));
  while (performance.now() < untilMs) {
    await sleep(QUIET_LOOK_MS);
    const now = total(await spentBy(group));
    if (now - before <= 2 * tickUs()) return;
    before = now;
  }
}

export const total = ({ gatewayUs, redisUs, engineUs }: Spent): number => gatewayUs + redisUs + engineUs;

function mainThreadUs(pid: number): number {
  const line = readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickUs();
}

async function askedOf(link: RedisLink) {
  const info = String(await link.call("INFO", "all"));
  const number = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0);
  return {
    exchanges: number(/^cmdstat_evalsha:calls=(\d+)/m),
    redisBytes: number(/^total_net_input_bytes:(\d+)/m),
  };
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
