/**
 * Limits of several cells in one process, at a real Redis, in virtual time: scripts take their time from a key, cells from clocks
 * that the test sets. Between two steps of time everything comes to rest, so that a run is repeated from its seed.
 */

import { datasetId } from "../../../../../src/cluster/cells/dataset/dataset.ts";
import { type Operation, Session } from "../../../../../src/cluster/cells/exchange/exchange.ts";
import { SharedLimits } from "../../../../../src/cluster/cells/limits/shared-limits.ts";
import { DATASET_KEY, KEY_PREFIX } from "../../../../../src/cluster/cells/redis/keys.ts";
import { connectRedis, type RedisLink, Script } from "../../../../../src/cluster/cells/redis/redis.ts";
import { SCRIPTS } from "../../../../../src/cluster/cells/scripts/scripts.ts";
import { STALE_MS } from "../../../../../src/cluster/cells/settings.ts";
import type { Admission, LimitedKey, Refusal } from "../../../../../src/credits/limits/limits.ts";
import { createDataset } from "../../../../support/cells/dataset.ts";
import { startRedis, type TestRedis } from "../../../../support/redis-server.ts";

const CLOCK = `${KEY_PREFIX}test-clock`;

/** The exchange with Redis's time taken from a key. */
const VIRTUAL = (() => {
  const real = /local function wall_ms\(\)[\s\S]*?\nend\n/;
  const { text } = SCRIPTS.exchange;
  if (!real.test(text)) throw new Error("wall_ms is written in another way: the tests' clock must follow");
  return new Script(
    text.replace(real, `local function wall_ms() return tonumber(redis.call("GET", "${CLOCK}")) end\n`),
  );
})();

export interface LimitsCell {
  readonly name: string;
  readonly limits: SharedLimits;
  readonly link: RedisLink;
  /** What its wall clock is ahead of true time. */
  wallAheadMs: number;
  /** Milliseconds that a request takes on each of its two ways. */
  delayMs: number;
  /** The network stands still: nothing of it is sent or heard. */
  isCut: boolean;
  /** The process stands still: besides, no timer of it fires. */
  isPaused: boolean;
  /** So many replies of scripts that ran do not arrive. */
  repliesToLose: number;
  exchanges: number;
  operations: number;
  /** No timer of it fires and no reply comes to it any more. */
  isDead: boolean;
  ended: Error | undefined;
}

export interface LimitsRig {
  readonly redis: TestRedis;
  readonly link: RedisLink;
  readonly nowMs: () => number;
  cell(name: string): Promise<LimitsCell>;
  /** Eight new cells, "a" to "h". */
  eight(): Promise<LimitsCell[]>;
  /** Lets time pass, in steps of at most `stepMs`. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Sets Redis's clock ahead of true time, or back. */
  redisAhead(ms: number): Promise<void>;
  /** Everything that can be done now is done. */
  rest(): Promise<void>;
  /** Asks, and lets everything come to rest: not answered is undefined. */
  admit(cell: LimitsCell, key: LimitedKey, tokens?: number): Promise<Admission | Refusal | undefined>;
  retire(name: string): Promise<void>;
  close(): Promise<void>;
}

const isStill = ({ isCut, isPaused }: LimitsCell): boolean => isCut || isPaused;

interface Timer {
  readonly atMs: number;
  readonly cell: LimitsCell | undefined;
  readonly act: () => void;
}

const START_MS = 1_800_000_000_000;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function openLimitsRig(): Promise<LimitsRig> {
  const redis = await startRedis(["--appendonly", "no"]);
  const link = connectRedis({ url: redis.url, log: { warn() {} } });
  await link.ready(5000);
  const id = datasetId();
  await createDataset(link, id);
  const links: RedisLink[] = [link];
  const timers = new Set<Timer>();
  let passedMs = 0;
  let aheadMs = 0;
  let sending = 0;
  const setClock = () => link.call("SET", CLOCK, START_MS + passedMs + aheadMs);
  await setClock();

  const after = (delayMs: number, cell: LimitsCell | undefined, act: () => void) => {
    const timer = { atMs: passedMs + delayMs, cell, act };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const wait = (ms: number, cell: LimitsCell) =>
    new Promise<void>((resolve) => {
      if (ms === 0 && !isStill(cell)) return resolve();
      const look = () => (isStill(cell) ? void after(20, undefined, look) : resolve());
      after(Math.max(1, ms), undefined, look);
    });

  const rest = async () => {
    for (let quiet = 0; quiet < 4; quiet = sending > 0 ? 0 : quiet + 1) await turn();
  };

  const pass = async (ms: number, stepMs = 50) => {
    const endMs = passedMs + ms;
    while (passedMs < endMs) {
      let nextMs = Math.min(endMs, passedMs + stepMs);
      for (const { atMs, cell } of timers)
        if (cell?.isPaused !== true) nextMs = Math.min(nextMs, Math.max(atMs, passedMs));
      passedMs = nextMs;
      await setClock();
      for (const timer of [...timers]) {
        if (timer.atMs > passedMs || timer.cell?.isPaused === true) continue;
        timers.delete(timer);
        if (timer.cell?.isDead !== true) timer.act();
      }
      await rest();
    }
  };

  const rig: LimitsRig = {
    redis,
    link,
    rest,
    pass,
    nowMs: () => passedMs,
    async redisAhead(ms) {
      aheadMs = ms;
      await setClock();
    },
    async cell(name) {
      const own = connectRedis({ url: redis.url, log: { warn() {} } });
      links.push(own);
      await own.ready(5000);
      const cell: LimitsCell = {
        name,
        link: own,
        wallAheadMs: 0,
        delayMs: 0,
        isCut: false,
        isPaused: false,
        isDead: false,
        repliesToLose: 0,
        exchanges: 0,
        operations: 0,
        ended: undefined,
        limits: undefined as never,
      };
      const onEnd = (reason: Error) => {
        cell.ended = reason;
      };
      const lossy: RedisLink = {
        ready: (withinMs) => own.ready(withinMs),
        isReady: () => own.isReady(),
        generation: () => own.generation(),
        call: (command, ...args) => own.call(command, ...args),
        async run(script, name, ...args) {
          const reply = await own.run(script, name, ...args);
          if (cell.repliesToLose === 0) return reply;
          cell.repliesToLose--;
          throw new Error("the reply was lost");
        },
        renew: () => own.renew(),
        close: () => own.close(),
      };
      const session = new Session({ link: lossy, datasetId: id, cell: name, script: VIRTUAL, onEnd });
      await session.start();
      const lane = session.lane("limits");
      const send = async (operations: readonly Operation[]) => {
        cell.exchanges++;
        cell.operations += operations.length;
        await wait(cell.delayMs, cell);
        if (cell.isDead) return await new Promise<never>(() => {});
        sending++;
        try {
          const results = await lane.send(operations);
          if (cell.delayMs === 0 && !isStill(cell)) return results;
          sending--;
          await wait(cell.delayMs, cell);
          sending++;
          return results;
        } finally {
          sending--;
        }
      };
      const limits = new SharedLimits({
        lane: { send },
        clock: { now: () => START_MS + passedMs + cell.wallAheadMs, monotonic: () => passedMs },
        staleMs: STALE_MS,
        timers: { after: (delayMs, act) => after(delayMs, cell, act) },
      });
      return Object.assign(cell, { limits });
    },
    eight: () => Promise.all(["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => rig.cell(name))),
    async admit(cell, key, tokens = 0) {
      const answer = cell.limits.admit(key, tokens);
      if (!(answer instanceof Promise)) return answer;
      let known: Admission | Refusal | undefined;
      let error: unknown;
      answer.then(
        (value) => {
          known = value;
        },
        (thrown: unknown) => {
          error = thrown;
        },
      );
      await rest();
      if (error !== undefined) throw error;
      return known;
    },
    async retire(name) {
      const text = (await import("node:fs")).readFileSync(
        new URL("../../../../../src/cluster/cells/scripts/retire.lua", import.meta.url),
        "utf8",
      );
      await link.run(new Script(text), DATASET_KEY, id, name, 0, 0, Number.MAX_SAFE_INTEGER, 0);
    },
    async close() {
      for (const each of links) each.close();
      await redis.stop();
    },
  };
  return rig;
}

/** The most that any 60 s held, of times in milliseconds with their weights. */
export function mostInWindow(times: readonly (readonly [atMs: number, weight: number])[]): number {
  const sorted = [...times].sort(([a], [b]) => a - b);
  let most = 0;
  let sum = 0;
  let from = 0;
  for (const [atMs, weight] of sorted) {
    sum += weight;
    while ((sorted[from]?.[0] ?? 0) + 60_000 <= atMs) sum -= sorted[from++]?.[1] ?? 0;
    most = Math.max(most, sum);
  }
  return most;
}
