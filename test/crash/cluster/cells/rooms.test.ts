/**
 * Acts at random of all rooms at cells that are processes, while cells and their Redis are killed and cells stop for a while: they
 * equal the serial order of the stream. What was answered well is in it once, what was refused is not, and what was not answered is in
 * it once or not at all. `npm run test:crash` makes 1,000 acts at 8 cells; WEIR_CRASH_SEED repeats a run's choices, as far as
 * processes allow.
 */
import { strict as assert } from "node:assert";
import { expect, test } from "vitest";
import { type Random, seededRandom } from "../../../../src/base/clock.ts";
import type { AuditRow } from "../../../../src/store/events/audit.ts";
import { RoomsChecks, type Sent, type State, stateOf } from "../../../support/cells/rooms.checks.ts";
import { auditedActs } from "../../../support/cells/rooms.model.ts";
import { type Order, Orders, PLAN } from "../../../support/cells/rooms.orders.ts";
import { amount } from "../../../support/effort.ts";
import { rest } from "../../../support/pace.ts";
import { hasRedis, why } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";
import { FAULTS } from "./faults.ts";
import { type CellsWorld, startWorld } from "./world.ts";

const isSlow = process.env.WEIR_CRASH_ROUNDS !== undefined || amount(1, 0) === 1;
const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(20, 4));
const SEED = Number(process.env.WEIR_CRASH_SEED ?? Date.now() % 1_000_000);
const HINT = `WEIR_CRASH_SEED=${SEED}`;
const CELLS = Number(process.env.WEIR_CRASH_CELLS ?? (isSlow ? 8 : 3));
/** That are answered; those whose answers are lost are more. */
const ACTS = isSlow ? 1000 : 100;
const ACTS_A_ROUND = Math.ceil(ACTS / ROUNDS);
const CLIENTS = isSlow ? 24 : 12;
/** After an answer that was lost: where no cell is up, each connection is refused at once. */
const AGAIN_MS = 100;

/** Clients, each of whose acts is a connection of its own, to whichever cell the system gives it. */
class Actors {
  readonly sent = new Map<string, Sent>();
  readonly orders: Orders;
  readonly #world: CellsWorld;
  answered = 0;

  constructor(world: CellsWorld, random: Random) {
    this.#world = world;
    this.orders = new Orders(random, world.orgId);
  }

  async act(order: Order): Promise<void> {
    const mark = `act-${this.sent.size}`;
    this.sent.set(mark, order);
    const { method, path, body, isOperator = false } = order;
    const key = isOperator ? this.#world.operatorKey : this.#world.key;
    const asked = { key, headers: { "user-agent": mark }, ...(body && { body }) };
    const answer = await this.#world.ask(method, path, asked).catch(() => undefined);
    if (answer === undefined || answer.status >= 500) {
      await rest(AGAIN_MS);
      return;
    }
    const { status, text } = answer;
    const json = text === "" ? undefined : JSON.parse(text);
    this.sent.set(mark, { ...order, answer: { status, json } });
    this.answered++;
    if (status === 201) this.orders.remember(order.act, json);
  }

  async work(isOver: () => boolean): Promise<void> {
    const client = async () => {
      while (!isOver()) await this.act(this.orders.next());
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }
}

/** Acts before, during and after a fault. */
async function round(world: CellsWorld, actors: Actors, fault: string, random: Random): Promise<void> {
  const before = actors.answered;
  const from = before + random() * (ACTS_A_ROUND / 2);
  let isOver = false;
  const acting = actors.work(() => isOver);
  try {
    await until("acts are answered", () => actors.answered >= from);
    await FAULTS[fault]?.(world, random);
    const goal = Math.max(before + ACTS_A_ROUND, actors.answered + CLIENTS);
    await until(`acts are answered after ${fault}`, () => actors.answered >= goal);
  } catch (error) {
    assert.fail(`${(error as Error).message}; ${HINT}\n${world.said()}`);
  } finally {
    isOver = true;
    await acting;
  }
  actors.orders.learn(await audited(world));
}

async function audited(world: CellsWorld): Promise<AuditRow[]> {
  let rows: AuditRow[] | undefined;
  await until("Redis answers", async () => {
    rows = await auditedActs(world.link).catch(() => undefined);
    return rows !== undefined;
  });
  return rows ?? [];
}

/** What each cell shows, all of it over one connection. */
async function states(world: CellsWorld): Promise<State[]> {
  const found = await world.atEach(async (agent, cell) => {
    const read = async (path: string) => {
      const { status, text } = await until(
        `${path} can be read`,
        () => world.ask("GET", path, {}, agent),
        (answer) => answer.status !== 503,
      );
      expect(status, `${path}: ${text}`).toBe(200);
      return JSON.parse(text);
    };
    const state = await stateOf(read, world.orgId);
    expect(await world.cellAt(agent), "the connection was to another cell").toBe(cell);
    return state;
  });
  expect(found.size).toBe(CELLS);
  return [...found.values()];
}

test.skipIf(!hasRedis)(
  `${ACTS} acts of all rooms at ${CELLS} cells that are killed and stopped, ${ROUNDS} rounds${why}`,
  { timeout: 120_000 + ROUNDS * 60_000 },
  async () => {
    const random = seededRandom(SEED);
    const { world } = await startWorld(CELLS, { engine: true, orgs: {}, plans: [PLAN] });
    const actors = new Actors(world, seededRandom(SEED + 1));
    let first = 0;
    for (const order of actors.orders.first()) {
      first++;
      await until("it is answered", async () => {
        await actors.act(order);
        return actors.answered === first;
      });
    }
    const faults = Object.keys(FAULTS).filter((name) => name !== "none");
    for (let n = 0; n < ROUNDS; n++) {
      const fault = faults[n % faults.length] as string;
      await round(world, actors, fault, random);
      if (isSlow) console.log(`round ${n}, ${fault}: ${actors.answered} of ${actors.sent.size} answered`);
    }
    await world.atRest();
    const checks = new RoomsChecks(actors.sent, await audited(world), HINT);
    const { sent, refused, lost, lostAndDone, audited: rows } = checks.figures;
    console.log(
      `${sent} acts, ${refused} refused, ${lost} not answered, ${lostAndDone} of these done, ${rows} audited, ${HINT}`,
    );
    checks.check(await states(world));
  },
);
