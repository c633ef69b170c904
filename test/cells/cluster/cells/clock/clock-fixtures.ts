/** The script that judges clocks (`clock.lua`), alone: Redis's time is what the test says, and so is what cells say of theirs. */
import { readFileSync } from "node:fs";
import { Unpackr } from "msgpackr";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { datasetId } from "../../../../../src/cluster/cells/dataset/dataset.ts";
import { DATASET_KEY, KEY_PREFIX } from "../../../../../src/cluster/cells/redis/keys.ts";
import {
  connectRedis,
  type RedisLink,
  type RedisValue,
  Script,
} from "../../../../../src/cluster/cells/redis/redis.ts";
import { SCRIPTS } from "../../../../../src/cluster/cells/scripts/scripts.ts";
import { createDataset } from "../../../../support/cells/dataset.ts";
import { startRedis, type TestRedis } from "../../../../support/redis-server.ts";

const CLOCK = `${KEY_PREFIX}test-clock`;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** Steady time at the beginning of each test. */
export const T = 1_800_000_000_000;
/** Long before: a cell that gave a sign of life then is not waited for. */
export const STALE = T - 5000;
/** As those of the script. */
export const CONTRADICT_MS = 500;
export const HEARD_MS = 2000;
const unpackr = new Unpackr({ int64AsType: "number" });

/** The script with Redis's time taken from a key. */
const JUDGE = (() => {
  const real = 'redis.call("TIME")';
  const { text } = SCRIPTS.clock;
  if (text.split(real).length !== 2) throw new Error("the time is read in another way: the test must follow");
  const virtual = `(function() local ms = redis.call("GET", "${CLOCK}")
    return { string.sub(ms, 1, -4), string.sub(ms, -3) .. "000" } end)()`;
  return new Script(text.replace(real, virtual));
})();

/** What a cell says, milliseconds: what it takes steady time to be, and the same by its machine's course; and its machine's clock. */
export interface Said {
  readonly steady?: number;
  readonly slept?: number;
  readonly machine?: number;
  /** Whether the machine's clock was off Redis's before. */
  readonly wasOff?: boolean;
}

export interface Judged {
  readonly goes: boolean;
  readonly shift: number;
  readonly changes: number;
}

/** What exchanges take the time of something to be (`15-clock.lua`). */
const WALL_OF = new Script(`local function key(name) return "${KEY_PREFIX}" .. name end
local shift = tonumber(redis.call("HGET", KEYS[1], "shift") or 0)
${readFileSync(new URL("../../../../../src/cluster/cells/scripts/exchange/15-clock.lua", import.meta.url), "utf8")}
return string.format("%.0f", wall_of(tonumber(ARGV[1])))`);

export const GOES: Judged = { goes: true, shift: 0, changes: 0 };
export const WAITS: Judged = { ...GOES, goes: false };
export const SET = (shift: number): Judged => ({ goes: true, shift, changes: 1 });

/** A Redis of the tests of a `describe`, with a new dataset for each. */
export function judgeOfClocks() {
  let redis: TestRedis;
  let link: RedisLink;
  let id: string;
  beforeAll(async () => {
    redis = await startRedis(["--appendonly", "no"]);
    link = connectRedis({ url: redis.url, log: { warn() {} } });
    await link.ready(5000);
  });
  afterAll(async () => {
    link.close();
    await redis.stop();
  });
  beforeEach(async () => {
    await link.call("FLUSHALL");
    id = datasetId();
    await createDataset(link, id);
  });

  const hash = async (name: string) => {
    const found = (await link.call("HGETALL", `${KEY_PREFIX}${name}`)) as Buffer[];
    return new Map(
      found.flatMap((field, at) => (at % 2 === 0 ? [[String(field), found[at + 1] as Buffer]] : [])),
    );
  };
  const spans = async () => unpackr.unpack((await hash("clock")).get("spans") as Buffer);
  /** A cell went by Redis's clock at this steady time. */
  async function wentBy(cell: string, steady: number): Promise<void> {
    await link.call("HSET", `${KEY_PREFIX}applied`, cell, `0 ${steady}`);
    await link.call("HSET", `${KEY_PREFIX}vouched`, cell, steady);
    await link.call("HSET", DATASET_KEY, "steady", steady);
  }

  /** A cell asks while Redis's clock says `redisMs`. */
  async function judge(redisMs: number, said: Said, cell = "a"): Promise<Judged> {
    await link.call("SET", CLOCK, redisMs);
    const { steady, slept = steady, machine = T - 100 * DAY, wasOff = false } = said;
    const expected = steady === undefined ? ["", ""] : [steady - 2000, steady + 2000];
    const evidence = [...expected, steady ?? "", slept ?? "", machine, wasOff ? 1 : ""];
    const answer = (await link.run(JUDGE, DATASET_KEY, id, cell, ...evidence)) as RedisValue[];
    const [goes, wall, shift = 0, changes = 0] = answer.slice(0, 4).map(Number);
    expect(wall).toBe(redisMs);
    return { goes: goes === 1, shift, changes };
  }

  /** Asks until a claim holds that no cell contradicts. @returns the second answer */
  async function claimed(steady: number, shift: number): Promise<Judged> {
    for (const ms of [steady, steady + CONTRADICT_MS - 1])
      expect(await judge(ms + shift, { steady: ms, slept: ms + shift })).toMatchObject({ goes: false });
    const ms = steady + CONTRADICT_MS;
    return await judge(ms + shift, { steady: ms, slept: ms + shift });
  }
  const wallOf = async (steady: number) => Number(await link.run(WALL_OF, DATASET_KEY, steady));
  /** A cell has doubted Redis's clock at this time of it. */
  const doubted = (cell: string, redisMs: number) =>
    link.call("HSET", `${KEY_PREFIX}clock`, `d:${cell}`, redisMs);
  const becomeAnother = () => link.call("HSET", DATASET_KEY, "id", "another");
  return { judge, claimed, wentBy, doubted, hash, spans, wallOf, becomeAnother };
}
