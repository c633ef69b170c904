/**
 * Clocks of real processes that are set while they run, and put right again: Redis's, a cell's, or all. Budgets, limits and answered
 * calls hold, and all is well afterwards. `npm run test:thorough` takes each jump of each clock.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findRedisServer } from "../../../../src/cluster/supervisor/redis-server.ts";
import { isThorough } from "../../../support/effort.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { MAIN } from "../../../support/process.fixtures.ts";
import { openSetClocks } from "../../../support/set-clock.fixtures.ts";
import { hasRedis, why } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";
import { Books } from "./books.ts";
import { Held } from "./clients.ts";
import { type Jump, Jumps, told } from "./jumps.ts";
import { type CellsWorld, signal, startWorld } from "./world.ts";

const CELLS = 3;
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const SIZES = [61 * SECOND, HOUR, DAY, 13 * DAY, 40 * DAY];
const isSlow = isThorough || process.env.WEIR_CRASH_ROUNDS !== undefined;
const THIRDS = 3;
/** Micro-USD. */
const ENOUGH = 1_000_000_000;
const MANY = 1_000_000;
const NO_LIMITS = { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 };

const WHOSE = ["Redis", "one cell", "all"] as const;
const EVERY: readonly Jump[] = SIZES.flatMap((size) =>
  WHOSE.flatMap((whose) => [size, -size].map((ms) => ({ whose, ms }))),
);
/** Each size once, each kind, there and back. */
const SOME: readonly Jump[] = [
  { whose: "Redis", ms: DAY },
  { whose: "all", ms: 13 * DAY },
  { whose: "one cell", ms: -40 * DAY },
  { whose: "all", ms: 61 * SECOND },
  { whose: "Redis", ms: HOUR },
];
const JUMPS = isSlow ? EVERY : SOME;

/** An hour ahead is another day, thirteen days are another month; and the run ends before midnight. */
function beginMs(): number {
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const ofMonth = (n: number) => Date.UTC(year, n, 20, 23, 5);
  return ofMonth(month) > now.getTime() ? ofMonth(month) : ofMonth(month + 1);
}

const NAMES = ["redis", ...Array.from({ length: CELLS }, (_, n) => `local-${n + 1}`)];
const home = mkdtempSync(join(tmpdir(), "weir-clocks-"));
const rightMs = beginMs() - Date.now();
// The supervisor and its ClickHouse have a clock, too, which is not set.
const clocks = openSetClocks(home, [...NAMES, "local"], rightMs);
afterAll(() => {
  clocks.close();
  removeFolder(home);
});

/** A cell dies while Redis's clock is wrong, and its next process does not go by that. Others go on until their leases have ended. */
async function killedMeanwhile(world: CellsWorld, logFrom: number): Promise<void> {
  const [pid = 0] = await world.pidsUp();
  signal(pid, "SIGKILL");
  await until("the new process refuses to go by Redis's clock", () =>
    world.cells.output().slice(logFrom).includes("set the clock that is wrong, and start again"),
  );
  const body = { model: "test/model", messages: [{ role: "user", content: "Now?" }], max_tokens: 1 };
  await until(
    "no lease is left",
    async () => (await world.ask("POST", "/v1/chat/completions", { body })).status,
    (status) => status === 503,
  );
}

/** Processes that begin while clocks are wrong, all of them or their own: they serve, and know of what was spent. */
async function restartedMeanwhile(world: CellsWorld, old: readonly number[]): Promise<void> {
  for (const pid of old) signal(pid, "SIGKILL");
  await until("other processes run", async () => {
    const pids = [...(await world.cells.pids()), await world.redisPid()];
    return !pids.includes(0) && !old.some((pid) => pids.includes(pid));
  });
  await world.allReady();
}

/** What is done besides while the clocks are wrong. */
async function meanwhile(world: CellsWorld, { whose, ms }: Jump, logFrom: number): Promise<void> {
  const pids = await world.cells.pids();
  if (whose === "Redis" && ms === HOUR) assertRetireRefused(world);
  if (whose === "Redis" && ms === DAY) await killedMeanwhile(world, logFrom);
  if (whose === "all" && ms === 13 * DAY) await restartedMeanwhile(world, pids.slice(0, 1));
  if (whose === "all" && ms === -DAY) await restartedMeanwhile(world, [await world.redisPid(), ...pids]);
  // Whose clock is set.
  if (whose === "one cell" && ms === -40 * DAY) await restartedMeanwhile(world, pids.slice(1, 2));
}

/** The command goes by the clock of its machine. */
function assertRetireRefused({ cells }: CellsWorld): void {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, "retire", "local-2"], {
    env: { ...cells.where.env, CELL: "local" },
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining("Redis's clock")]);
}

test.skipIf(!hasRedis || clocks.missing !== "")(
  `C1: ${JUMPS.length} jumps of clocks of ${CELLS} cells and their Redis, each with the way back${why}${clocks.missing}`,
  { timeout: 120_000 + JUMPS.length * 60_000 },
  async () => {
    const { world, secrets } = await startWorld(CELLS, {
      engine: true,
      orgs: { monthly: { creditMicroUsd: ENOUGH }, limited: { creditMicroUsd: ENOUGH, planId: "limited" } },
      // Where a key has a limit, Redis is asked for each call: those of most keys go by leases.
      plans: [
        { id: "local", limits: NO_LIMITS },
        { id: "limited", limits: { ...NO_LIMITS, rpm: MANY, tpm: MANY } },
      ],
      env: { ...clocks.env, PATH: clocks.wrapped(findRedisServer(), "redis"), CELL: "local" },
    });
    const held = new Held();
    const books = new Books(world, held);
    const jumps = new Jumps(world, held, { clocks, names: NAMES, rightMs, secrets });
    await jumps.open().catch((error: Error) => expect.fail(`${error.message}\n${world.said()}`));
    const third = Math.ceil(JUMPS.length / THIRDS);
    for (const [at, jump] of JUMPS.entries()) {
      await jumps
        .jump(jump, (logFrom) => meanwhile(world, jump, logFrom))
        .catch((error: Error) => expect.fail(`${error.message}; ${told(jump)}\n${world.said()}`));
      if ((at + 1) % third !== 0 && at + 1 !== JUMPS.length) continue;
      await world.atRest();
      await books.check();
    }
  },
);
