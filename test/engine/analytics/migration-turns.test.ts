/** Several gateways that migrate one database, deaths and pauses at every statement, while the release before goes on inserting. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TurnTarget } from "../../../src/analytics/clickhouse/migration-turns.ts";
import { migrate, migrationFiles } from "../../../src/analytics/clickhouse/migrations.ts";
import { type Engine, type ServerAddress, startEngine } from "../../../src/analytics/engine/engine.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { temporaryFolder } from "../../support/analytics/records.ts";
import { isThorough } from "../../support/effort.ts";
import { anyMoment } from "../../support/pace.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";
import { OldGateway, openDatabase, pausedAt, SOON, tagSums } from "./migrations.fixtures.ts";

const folder = temporaryFolder();
let engine: Engine;
let address: ServerAddress;

beforeAll(async () => {
  engine = startEngine(folder, { warn: () => {} });
  address = await engine.address(LIMIT_MS);
});
afterAll(async () => {
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** None of its gateways is given up: what a late machine holds up is not lost. */
const NONE_LOST = { ...SOON, lostAfterMs: 3_600_000 };
const NAMES = migrationFiles().map(({ name }) => name);

it.each([2, 3, 8])(
  "of %i gateways at once one applies each file, beside gateways of the release before",
  async (n) => {
    const database = await openDatabase(address, `at_once_${n}`);
    const old = ["run_a", "run_b"].map((run) => new OldGateway(database, run));
    for (const gateway of old) await gateway.insert(7);
    for (const gateway of old) gateway.start();
    await Promise.all(Array.from({ length: n }, () => migrate(database, { times: NONE_LOST })));
    const atEnd = old.map(({ rows }) => rows);
    await until("the old processes write on", () =>
      old.every(({ rows }, at) => rows > (atEnd[at] ?? 0) + 40),
    );
    for (const gateway of old) await gateway.stop();
    const applied = await database.rows<{ name: string }>("SELECT name FROM migrations ORDER BY name");
    expect(applied.map(({ name }) => name)).toEqual(NAMES);
    const { stored, summed } = await tagSums(database);
    expect(stored).toEqual(summed);
    expect(stored.length).toBeGreaterThan(6);
    const [found] = await database.rows<{ rows: number }>("SELECT count() AS rows FROM requests");
    expect(found?.rows).toBe(old.reduce((sum, { rows }) => sum + rows, 0));
    await database.close();
  },
);

it("sums up a batch once whose insertion began before the view was made and ends after", async () => {
  const database = await openDatabase(address, "slow_insertion");
  const old = new OldGateway(database, "run_a");
  await old.insert(3);
  const running = () =>
    database.rows("SELECT 1 FROM system.processes WHERE query LIKE '%sleep(1)%' AND query_kind = 'Insert'");
  // Made again where it was over before it was seen.
  const begun = await until(
    "an insertion is seen to run",
    async () => {
      let isOver = false;
      const slow = old.insert(1, 1).finally(() => {
        isOver = true;
      });
      const seen = await until("it runs, or is over", running, ({ length }) => length > 0 || isOver);
      if (seen.length === 0) await slow;
      return { slow, isSeen: seen.length > 0 };
    },
    ({ isSeen }) => isSeen,
  );
  await migrate(database, { times: SOON });
  await begun.slow;
  const { stored, summed } = await tagSums(database);
  expect(stored).toEqual(summed);
  await database.close();
});

it("a gateway whose ClickHouse goes away amid its turn goes on at once when it is back", async () => {
  const database = await openDatabase(address, "away");
  let [left, isAway] = [9, false];
  const unreachable = async <T>(send: () => Promise<T>): Promise<T> => {
    isAway ||= --left < 0;
    if (isAway) throw new Error("ECONNREFUSED");
    return await send();
  };
  const target: TurnTarget = {
    command: (sql) => unreachable(() => database.command(sql)),
    rows: (sql) => unreachable(() => database.rows(sql)),
  };
  // Those of another process are waited for longer than a test may take.
  const times = NONE_LOST;
  await expect(migrate(target, { times })).rejects.toThrow("ECONNREFUSED");
  const [begun] = await database.rows<{ is_over: boolean }>(
    "SELECT max(is_over) AS is_over FROM migration_turns",
  );
  expect(begun?.is_over).toBe(false);
  [left, isAway] = [Number.POSITIVE_INFINITY, false];
  await migrate(target, { times });
  const names = await database.rows<{ name: string }>("SELECT DISTINCT name FROM migrations ORDER BY name");
  expect(names.map(({ name }) => name)).toEqual(NAMES);
  await database.close();
});

/** Statements of a migration that begins with the tables of the release before. */
async function statementsOf(): Promise<readonly string[]> {
  const database = await openDatabase(address, "counted");
  await new OldGateway(database, "run_a").insert(2);
  const counted = pausedAt(database, Number.POSITIVE_INFINITY, false);
  await migrate(counted.target, { times: SOON });
  await database.close();
  return counted.statements();
}

/**
 * A statement that was sent and whose answer is lost leaves what one leaves that stops before the next statement, which is sent
 * late besides. So `npm test` stops before every second statement that makes and fills the roll-up by tag, before every fifth of the
 * others, each of which may be repeated, and behind the last one; a thorough run, in both ways at each.
 */
async function pauses(): Promise<{ readonly nth: number; readonly isSent: boolean }[]> {
  const statements = await statementsOf();
  expect(statements.length).toBeGreaterThan(20);
  return statements
    .flatMap((sql, nth) => [
      { nth, isSent: false, isOfPart: nth % (sql.includes("usage_tags_daily") ? 2 : 5) === 1 },
      { nth, isSent: true, isOfPart: nth === statements.length - 1 },
    ])
    .filter(({ isOfPart }) => isThorough || isOfPart);
}

it("a death or a pause at any statement leaves what the next gateway completes, and no late statement spoils it", async () => {
  await each(await pauses(), 4, async ({ nth, isSent }) => {
    const database = await openDatabase(address, `paused_${nth}_${isSent}`);
    const old = new OldGateway(database, "run_a");
    await old.insert(3);
    const paused = pausedAt(database, nth, isSent);
    const first = migrate(paused.target, { times: SOON });
    await paused.at;
    await old.insert(2);
    const going = new OldGateway(database, "run_b").start();
    await migrate(database, { times: SOON });
    await old.insert(2);
    paused.resume();
    await first;
    await going.stop();
    const { stored, summed } = await tagSums(database);
    expect({ nth, isSent, stored }).toEqual({ nth, isSent, stored: summed });
    const left = await database.rows<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'usage_tags_daily%' ORDER BY name",
    );
    const orphans = left
      .map(({ name }) => name)
      .filter((name) => !/^usage_tags_daily(_view|_first)?$/.test(name));
    expect({ nth, isSent, orphans }).toEqual({ nth, isSent, orphans: [] });
    const names = await database.rows<{ name: string }>("SELECT DISTINCT name FROM migrations ORDER BY name");
    expect(names.map(({ name }) => name)).toEqual(NAMES);
    await database.command(`DROP DATABASE ${database.name}`);
    await database.close();
  });
});

it("gateways killed at random moments leave a database that the last one completes", async () => {
  const database = await openDatabase(address, "killed");
  const random = seededRandom(7);
  const old = new OldGateway(database, "run_a");
  await old.insert(20);
  old.start();
  const start = () =>
    fork(new URL("./migrations.gateway.ts", import.meta.url), [JSON.stringify(address), database.name], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  for (let round = 0; round < 6; round++) {
    const gateways = [start(), start()];
    const exits = gateways.map((child) => once(child, "exit"));
    await Promise.all(gateways.map((child) => once(child, "message")));
    await anyMoment(random, 500);
    for (const child of gateways) child.kill("SIGKILL");
    await Promise.all(exits);
  }
  const last = Array.from({ length: 3 }, start);
  const exits = await Promise.all(last.map((child) => once(child, "exit")));
  expect(exits.map(([code]) => code)).toEqual([0, 0, 0]);
  await old.stop();
  const { stored, summed } = await tagSums(database);
  expect(stored).toEqual(summed);
  await database.close();
});

/** Acts on them, so many at once. */
async function each<T>(all: readonly T[], atOnce: number, act: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const lane = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await act(one);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
