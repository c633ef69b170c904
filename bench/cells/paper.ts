/** What each kind of exchange takes of Redis, measured; and from that, how many cells and calls one Redis carries, computed. */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { type Cell, openCell } from "../../src/cluster/cells/cell.ts";
import { beginDataset, datasetId, openDataset } from "../../src/cluster/cells/dataset/dataset.ts";
import type { RedisLink } from "../../src/cluster/cells/redis/redis.ts";
import { openStore } from "../../src/store/store.ts";
import { cpuTime } from "../measure.ts";
import { withProcesses } from "../processes.ts";
import { startBenchRedis } from "./groups.ts";
import { actKind, funds, KINDS, type Kind } from "./operations.ts";

export interface KindCost {
  readonly name: string;
  readonly about: string;
  /** One exchange takes so much of Redis's processor, and so long until the reply, when one follows the other. */
  readonly redisUs: number;
  readonly ms: number;
  /** One exchange makes the append-only file and Redis's memory grow by this. */
  readonly fileBytes: number;
  readonly memoryBytes: number;
}

export interface Measured {
  readonly kinds: readonly KindCost[];
  /** Time in which 4 KB are on the disk. */
  readonly syncMs: number;
}

const MOST_ORGS = 100;

/** @param seconds for each kind. @throws Unavailable where there is no redis-server */
export async function measureExchanges(seconds: number, say: (line: string) => void): Promise<Measured> {
  return await withProcesses(async (processes, folder) => {
    const redis = await startBenchRedis(processes, folder);
    const id = datasetId();
    await beginDataset(redis.link, id);
    await openDataset(redis.link, id);
    const cell = await openCell({
      cell: "bench",
      datasetId: id,
      redisUrl: redis.url,
      local: openStore(join(folder, "cell")),
      isShared: () => true,
      clock: systemClock,
      log: { warn() {} },
      onEnd: (reason) => say(`the bench's cell may not go on: ${reason.message}`),
      onOutdated() {},
    });
    try {
      return {
        kinds: await measureKinds({ cell, redis, seconds }, id, say),
        syncMs: measureSync(folder),
      };
    } finally {
      await cell.store.close();
      redis.link.close();
    }
  });
}

async function measureKinds(ground: Ground, id: string, say: (line: string) => void): Promise<KindCost[]> {
  const { cell } = ground;
  const { version, life } = cell.entered;
  await cell.lane("bench").send([funds(MOST_ORGS)]);
  const kinds: KindCost[] = [];
  let charged = 0;
  for (const kind of [...KINDS, actKind({ version, origin: id }, life)]) {
    say(`measuring: ${kind.name}`);
    // Batches of charges follow one another through all kinds.
    const from = isCharging(kind) ? charged : 0;
    const { cost, next } = await measureKind(kind, from, ground);
    if (isCharging(kind)) charged = next;
    kinds.push(cost);
  }
  return kinds;
}

const isCharging = ({ name }: Kind): boolean => name.startsWith("settle") || name === "new-org";

interface Ground {
  readonly cell: Cell;
  readonly redis: { readonly pid: number; readonly link: RedisLink };
  readonly seconds: number;
}

async function measureKind(kind: Kind, from: number, { cell, redis, seconds }: Ground) {
  const lane = cell.lane(`bench ${kind.name}`);
  let next = from;
  const sendFor = async (ms: number) => {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs) await kind.send(lane, next++);
  };
  await sendFor((seconds * 1000) / 4);
  const [first, before, cpu] = [next, await sizesOf(redis.link), cpuTime(redis.pid)];
  const startMs = performance.now();
  await sendFor(seconds * 1000);
  const ms = performance.now() - startMs;
  const [count, after, spent] = [next - first, await sizesOf(redis.link), cpuTime(redis.pid)];
  const cost: KindCost = {
    name: kind.name,
    about: kind.about,
    redisUs: (spent.ownUs - cpu.ownUs) / count,
    ms: ms / count,
    fileBytes: (after.file - before.file) / count,
    memoryBytes: (after.memory - before.memory) / count,
  };
  return { cost, next };
}

async function sizesOf(link: RedisLink) {
  const info = String(await link.call("INFO", "all"));
  const number = (pattern: RegExp) => Number(pattern.exec(info)?.[1]);
  return { file: number(/aof_current_size:(\d+)/), memory: number(/^used_memory:(\d+)/m) };
}

const SYNCS = 200;

function measureSync(folder: string): number {
  const file = openSync(join(folder, "sync"), "a");
  const page = Buffer.alloc(4096, 120);
  const startMs = performance.now();
  for (let at = 0; at < SYNCS; at++) {
    writeSync(file, page);
    fdatasyncSync(file);
  }
  closeSync(file);
  return (performance.now() - startMs) / SYNCS;
}

/** What cells ask of Redis, on paper. */
export interface Traffic {
  readonly cells: number;
  /** Calls to all cells together. */
  readonly callsPerSecond: number;
  /** Orgs and keys that have calls, spread evenly over calls and cells. */
  readonly orgs: number;
  /** Part of the calls that have an `Idempotency-Key`. */
  readonly keyed: number;
  readonly actsPerSecond: number;
}

export interface Load {
  /** Part of one processor. */
  readonly redis: number;
  readonly exchangesPerSecond: number;
  readonly bytesPerSecond: number;
}

/** A cell gathers charges for 50 ms: `CHARGES_GATHER_MS` of `src/cluster/cells/leases/credit-lane.ts`. */
const GATHER_S = 0.05;
/** A key in use renews its batch twice a second at each cell: `BATCH_MS` of `src/cluster/cells/limits/key-state.ts`. */
const RENEWALS = 2;
/** Beats of a cell a second: `EVERY_MS` of `src/cluster/cells/membership/beats.ts`; and one exchange of merged rows. */
const STANDING = 5;

/** The formula is in docs/performance.md. */
export function loadOf({ kinds }: Measured, traffic: Traffic): Load {
  const of = (name: string) => kinds.find((kind) => kind.name === name) as KindCost;
  const { cells, callsPerSecond, orgs, keyed, actsPerSecond } = traffic;
  const perCell = callsPerSecond / cells;
  const batches = cells * Math.min(perCell, 1 / (GATHER_S + of("settle-1").ms / 1000));
  const orgsPerBatch = Math.min(callsPerSecond / batches, orgs);
  const renewals = Math.min(callsPerSecond, RENEWALS * cells * orgs);
  const sum = (read: (kind: KindCost) => number): number => {
    const [one, hundred] = [read(of("settle-1")), read(of("settle-100"))];
    const perOrg = Math.max(0, (hundred - one) / 99);
    return (
      batches * (one + perOrg * (orgsPerBatch - 1)) +
      renewals * read(of("limit")) +
      cells * STANDING * read(of("beat")) +
      callsPerSecond * keyed * (read(of("claim")) + read(of("answer"))) +
      // Each cell says with a beat that it has applied the act.
      actsPerSecond * (read(of("act")) + cells * read(of("beat")))
    );
  };
  return {
    redis: sum((kind) => kind.redisUs) / 1e6,
    exchangesPerSecond:
      batches + renewals + cells * STANDING + callsPerSecond * keyed * 2 + actsPerSecond * (1 + cells),
    bytesPerSecond: sum((kind) => kind.fileBytes),
  };
}

/** Part of one processor: above it replies begin to queue. */
const BUSY = 0.7;

export interface Ceiling extends Load {
  readonly cells: number;
  readonly callsPerSecond: number;
}

/**
 * The calls a second at which Redis is busy for 70 % of a processor, with as many cells as these calls need.
 * @param cellCalls calls a second that one cell carries
 */
export function ceilingOf(
  measured: Measured,
  traffic: Pick<Traffic, "orgs" | "keyed" | "actsPerSecond">,
  cellCalls: number,
): Ceiling {
  const at = (callsPerSecond: number) => {
    const cells = Math.ceil(callsPerSecond / cellCalls);
    return { cells, callsPerSecond, ...loadOf(measured, { ...traffic, cells, callsPerSecond }) };
  };
  let [low, high] = [1, 1e8];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (at(middle).redis <= BUSY) low = middle;
    else high = middle;
  }
  return at(low);
}
