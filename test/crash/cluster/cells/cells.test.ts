/**
 * Kill -9 of cells, of their Redis and of their ClickHouse and cuts between them under mixed load, again and again: what clients hold is in the ledger once, its
 * numbers have no gaps, each charge has one row in ClickHouse, leases add up, and at rest nothing is held. `npm run test:crash` runs
 * more rounds; WEIR_CRASH_SEED repeats a run's choices, as far as processes allow.
 */
import { expect, test } from "vitest";
import { type Random, seededRandom } from "../../../../src/base/clock.ts";
import { amount } from "../../../support/effort.ts";
import { anyMoment } from "../../../support/pace.ts";
import { hasRedis, why } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";
import { Books } from "./books.ts";
import { Client, Held } from "./clients.ts";
import { type CellsWorld, signal, startWorld } from "./world.ts";

const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(20, 4));
const SEED = Number(process.env.WEIR_CRASH_SEED ?? Date.now() % 1_000_000);
const isSlow = process.env.WEIR_CRASH_ROUNDS !== undefined;
const CELLS = Number(process.env.WEIR_CRASH_CELLS ?? (isSlow ? 8 : 3));
const CLIENTS = isSlow ? 24 : 12;
/** Rounds between two looks at the books. */
const BOOKS_EVERY = ROUNDS > 20 ? 10 : 1;
/** A round goes on once so many more calls were answered. */
const CALLS_A_ROUND = CLIENTS;

/**
 * Connections to Redis are cut: what Redis did for the cells is not told to them. Or it hears all and does nothing for a while.
 * @returns what was done; empty: nothing
 */
async function cut(world: CellsWorld, random: Random): Promise<string[]> {
  const kind = random();
  if (kind < 0.15) {
    await world.redis("CLIENT", "PAUSE", Math.floor(random() * 2000));
    return ["pause of Redis"];
  }
  if (kind < 0.55) return [];
  const times = 1 + Math.floor(random() * 3);
  for (let n = 0; n < times; n++) {
    await world.redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await anyMoment(random, 100);
  }
  return [`${times} cuts`];
}

/** Connections are cut; one process dies, or several; one is stopped for a while. */
async function harm(world: CellsWorld, random: Random): Promise<string> {
  const done = await cut(world, random);
  const up = await world.pidsUp();
  const some = () => up.splice(Math.floor(random() * up.length), 1)[0] ?? 0;
  const kind = random();
  const kills = kind < 0.1 ? up.length : kind < 0.35 ? 2 : kind < 0.85 ? 1 : 0;
  const isRedisToo = kills === 0 || random() < 0.3;
  if (isRedisToo && random() < 0.5) {
    signal(await world.redisPid(), "SIGKILL");
    done.push("Redis");
    await anyMoment(random, 300);
  }
  for (let n = 0; n < kills; n++) {
    signal(some(), "SIGKILL");
    done.push("cell");
    if (random() < 0.5) await anyMoment(random, 200);
  }
  if (isRedisToo && !done.includes("Redis")) {
    signal(await world.redisPid(), "SIGKILL");
    done.push("Redis");
  }
  if (random() < 0.2) {
    const stopped = some();
    signal(stopped, "SIGSTOP");
    done.push("stop");
    await anyMoment(random, 1500);
    signal(stopped, "SIGCONT");
  }
  if (random() < 0.1) {
    signal(await world.enginePid(), "SIGKILL");
    done.push("ClickHouse");
  }
  return done.join(", ");
}

/** Clients that work until they are told to rest. */
function atWork(clients: readonly Client[]): () => Promise<void> {
  let rests = false;
  const all = Promise.all(clients.map((client) => client.work(() => rests)));
  return async () => {
    rests = true;
    await all;
  };
}

/** A second key for calls, with a hard budget that is never used up. */
async function budgetKey(world: CellsWorld): Promise<string> {
  const body = { name: "budget", budget: { daily_micro: 1_000_000_000, hard: true } };
  const { status, text } = await world.ask("POST", "/v1/keys", { body });
  expect([status, text]).toEqual([201, text]);
  return JSON.parse(text).secret;
}

test.skipIf(!hasRedis)(
  `kill -9 of ${CELLS} cells, Redis and ClickHouse under load, ${ROUNDS} rounds${why}`,
  { timeout: 120_000 + ROUNDS * 30_000 },
  async () => {
    console.log(`WEIR_CRASH_SEED=${SEED}`);
    const random = seededRandom(SEED);
    const { world } = await startWorld(CELLS, { engine: true, orgs: {} });
    const held = new Held();
    const books = new Books(world, held);
    const callKeys = [world.key, await budgetKey(world)];
    const clients = Array.from(
      { length: CLIENTS },
      (_, n) => new Client(world, held, seededRandom(SEED + n), callKeys),
    );
    let rest = atWork(clients);
    const shared = [`credit:${world.orgId}`, `spend:o:${world.orgId}`];
    for (let round = 1; round <= ROUNDS; round++) {
      const before = held.calls;
      const done = await harm(world, random);
      await until("calls are answered", () => held.calls >= before + CALLS_A_ROUND).catch((error) =>
        expect.fail(`${error.message}; round ${round}: ${done}; seed ${SEED}\n${world.said()}`),
      );
      await world.assertLeasesAddUp(shared);
      await anyMoment(random, 500);
      if (round % BOOKS_EVERY !== 0 && round !== ROUNDS) continue;
      await rest();
      await world.atRest();
      await books.check();
      if (isSlow) console.log(`round ${round}: ${done}; ${figures(held, books)}`);
      if (round !== ROUNDS) rest = atWork(clients);
    }
    expect(books.charged).toBeGreaterThan(ROUNDS * CALLS_A_ROUND);
  },
);

function figures(held: Held, books: Books): string {
  const counts = [...held.counts].sort().map(([what, count]) => `${what}: ${count}`);
  return `${books.charged} charges; ${counts.join(", ")}`;
}
