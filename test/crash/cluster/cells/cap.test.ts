/**
 * The cap over cells that are processes, over HTTP: credit or a hard budget for 100 calls admits 100 of any number at once, whatever is
 * killed, stopped or restarted meanwhile, and is spent to its end when all are back. Calls of all modes come together: held in full or
 * fitted, waiting or not. `npm run test:crash` runs more rounds with 10,000
 * calls each; WEIR_CRASH_SEED repeats a run's choices, as far as processes allow.
 */
import { Agent } from "undici";
import { expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import { known } from "../../../support/cells/known.ts";
import { amount } from "../../../support/effort.ts";
import { hasRedis, why } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";
import { FAULTS } from "./faults.ts";
import { AGENT, type CellsWorld, OUTPUT_PRICE, startWorld } from "./world.ts";

const isSlow = process.env.WEIR_CRASH_ROUNDS !== undefined;
const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(20, 4));
const SEED = Number(process.env.WEIR_CRASH_SEED ?? Date.now() % 1_000_000);
const CELLS = Number(process.env.WEIR_CRASH_CELLS ?? (isSlow ? 8 : 3));
const CALLS = isSlow ? 10_000 : 400;
const CONNECTIONS = isSlow ? 800 : 120;
/** What the credit of a round, or its budget, is enough for. */
const ROOM = 100;
const TOKENS = 100;
/** What a call costs, micro-USD. */
const COST = TOKENS * OUTPUT_PRICE;
/** A call holds so much more, for what is rounded. */
const MARGIN = 4;
/** All calls can hold at the same time, and what is left in the end is less than a call. */
const CREDIT = ROOM * (COST + MARGIN);
const BODY = {
  model: "test/model",
  messages: [{ role: "user", content: "Let me in." }],
  max_tokens: TOKENS,
  simulator: { tokens: TOKENS },
};
/** Longer than a fault. */
const WAIT_MS = 60_000;
/** What calls hold beyond what they cost, where they may be fitted, and how long they wait. */
const MODES: readonly object[] = [
  BODY,
  { ...BODY, max_tokens: 40 * TOKENS, svc: { hold: "fit" } },
  { ...BODY, stream: true, svc: { hold_wait_ms: WAIT_MS } },
  { ...BODY, stream: true, max_tokens: 40 * TOKENS, svc: { hold: "fit", hold_wait_ms: WAIT_MS } },
];
/** No answer is limited to fewer tokens than each has. */
const SETTINGS = { limits: { min_fit_tokens: TOKENS, max_hold_waits_of_org: CALLS } };

/** What a call had whose connection was cut. */
const CUT = { status: 0 };

/**
 * So many calls by a key, each once. @returns how many were answered well, and the other statuses
 * @param isAskedAgain where a cell could not know in time whether there is room
 */
async function atOnce(
  world: CellsWorld,
  { key }: Room,
  agent: Agent,
  isAskedAgain: boolean,
): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  const call = async (body: object) => {
    const ask = async () => {
      const { status, text } = await world.ask("POST", "/v1/chat/completions", { body, key }, agent);
      return { status: status === 200 ? statusIn(text) : status };
    };
    const { status } = await (isAskedAgain ? known(() => ask().catch(() => CUT)) : ask().catch(() => CUT));
    const what = status === CUT.status ? "cut" : String(status);
    seen.set(what, (seen.get(what) ?? 0) + 1);
  };
  await Promise.all(Array.from({ length: CALLS }, (_, n) => call(MODES[n % MODES.length] as object)));
  return seen;
}

/** A stream that has waited begins well and may end with an error, or be cut. */
function statusIn(text: string): number {
  if (text.includes('"insufficient_credits"') || text.includes('"budget_exceeded"')) return 402;
  if (text.includes('"error"')) return 503;
  const isWhole = !text.startsWith(":") && !text.startsWith("data:");
  return isWhole || text.endsWith("data: [DONE]\n\n") ? 200 : CUT.status;
}

/** Calls one after the other until there is no room: what was held by calls that died is free again. */
async function spendTheRest(world: CellsWorld, key: string): Promise<void> {
  await until("there is no room for a call", async () => {
    const answer = await world
      .ask("POST", "/v1/chat/completions", { body: BODY, key })
      .catch(() => undefined);
    return answer?.status === 402;
  });
}

/** What limits the calls of a round: the credit of an org of its own, or a hard budget of a key of the first org. */
interface Room {
  readonly what: string;
  readonly key: string;
  /** Calls that were charged. */
  charged(world: CellsWorld): Promise<number>;
}

function creditRoom(key: string, orgId: string): Room {
  return {
    what: "credit",
    key,
    async charged(world) {
      const credit = await world.hash(`credit:${orgId}`);
      const [entries, balance] = [Number(credit?.get("n")), Number(credit?.get("b"))];
      expect(balance).toBe(CREDIT - (entries - 1) * COST);
      return entries - 1;
    },
  };
}

async function budgetRoom(world: CellsWorld, name: string): Promise<Room> {
  const body = { name, budget: { daily_micro: CREDIT, hard: true } };
  let made: { id: string; secret: string } | undefined;
  await until("the key is made", async () => {
    const { status, text } = await world.ask("POST", "/v1/keys", { body });
    if (status === 201) made = JSON.parse(text);
    return made !== undefined;
  });
  const { id, secret } = made as { id: string; secret: string };
  return {
    what: "budget",
    key: secret,
    async charged() {
      const spend = await world.hash(`spend:k:${id}`);
      return Number(spend?.get("t") ?? 0) / COST;
    },
  };
}

test.skipIf(!hasRedis)(
  `room for ${ROOM} of ${CALLS} calls at once at ${CELLS} cells, ${ROUNDS} rounds${why}`,
  { timeout: 120_000 + ROUNDS * 60_000 },
  async () => {
    console.log(`WEIR_CRASH_SEED=${SEED}`);
    const random = seededRandom(SEED);
    const names = Array.from({ length: ROUNDS }, (_, n) => `cap_${n}`);
    const orgs = Object.fromEntries(names.map((name) => [name, { creditMicroUsd: CREDIT }]));
    const { world, secrets } = await startWorld(CELLS, { engine: false, orgs, settings: SETTINGS });
    // In each round another one; the first has none.
    const faults = Object.keys(FAULTS);
    const orgIds = [world.orgId];
    for (let round = 0; round < ROUNDS; round++) {
      const fault = faults[round % faults.length] as string;
      const name = names[round] as string;
      const secret = secrets[name] as string;
      const { data } = await world.read<{ data: { id: string }[] }>("/v1/orgs", secret);
      const orgId = data[0]?.id ?? "";
      orgIds.push(orgId);
      // Each fault meets both kinds of room.
      const isBudget = round % 2 === 1;
      const room = isBudget ? await budgetRoom(world, name) : creditRoom(secret, orgId);
      const agent = new Agent({ ...AGENT, connections: CONNECTIONS });
      const calls = atOnce(world, room, agent, fault === "none");
      const [seen] = await Promise.all([calls, FAULTS[fault]?.(world, random)]);
      await agent.destroy();
      await world.allReady();
      await spendTheRest(world, room.key);
      const told = `round ${round}: ${room.what}, ${fault}: ${[...seen].map(([what, n]) => `${n} ${what}`).join(", ")}; seed ${SEED}`;
      // The last charge may be on its way.
      await until("all is charged", async () => (await room.charged(world)) >= ROOM).catch(() => {});
      const charged = await room.charged(world);
      if (isSlow) console.log(`${told}; ${charged} charged in the end`);
      if (fault === "none") expect(seen.get("200"), told).toBeGreaterThanOrEqual(ROOM - 1);
      expect(seen.get("200") ?? 0, told).toBeLessThanOrEqual(ROOM);
      expect(charged, told).toBe(ROOM);
      if (round === ROUNDS - 1 || round % faults.length === faults.length - 1) await world.atRest(orgIds);
    }
  },
);
