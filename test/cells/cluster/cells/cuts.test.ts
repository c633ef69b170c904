/**
 * A connection that is cut at every place of every kind of script: before Redis has the request, amid its bytes, amid the bytes of the
 * reply, and in place of the reply. Each operation of an exchange happens once and has the reply of an exchange that nothing
 * befell. Exchanges run at one instant, so that what Redis holds can be compared to the last byte.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  beginDataset,
  enterDataset,
  fillDataset,
  noteRestored,
} from "../../../../src/cluster/cells/dataset/dataset.ts";
import { Blobs, type Operation, Session } from "../../../../src/cluster/cells/exchange/exchange.ts";
import { DATASET_KEY, KEY_PREFIX } from "../../../../src/cluster/cells/redis/keys.ts";
import {
  connectRedis,
  type RedisLink,
  type RedisValue,
  Script,
} from "../../../../src/cluster/cells/redis/redis.ts";
import { SCRIPTS } from "../../../../src/cluster/cells/scripts/scripts.ts";
import { createDataset } from "../../../support/cells/dataset.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/cells/fault-proxy.ts";
import { missingRedis, startRedis, type TestRedis } from "../../../support/redis-server.ts";
import {
  CELL,
  DATASET_ID,
  NOW_MS,
  OPERATIONS,
  type OperationCase,
  OTHER,
  OTHER_SCRIPTS,
  operationNames,
  type ScriptCase,
  TERM,
} from "./cut-cases.ts";

const missing = missingRedis();
const log = { warn() {} };
const ROWS = [{ table: "keys", text: '"key"', bytes: Buffer.from("row") }];
/** Above the time of any start, so that lives have the same numbers each time. */
const FORMER_LIFE = 9_000_000_000_000;
const CUTS = ["cutBefore", "cutWithin", "cutWithinReply", "cutAfter"] as const;
type Cut = (typeof CUTS)[number];

/** The exchange at one instant; what it keeps for some milliseconds only stays. */
const AT_ONE_INSTANT = (() => {
  const replaced: [RegExp, string][] = [
    [/local function wall_ms\(\)[\s\S]*?\nend\n/, `local function wall_ms() return ${NOW_MS} end\n`],
    [/local TICKET_MS = \d+/, "local TICKET_MS = 600000"],
    [/local FROZEN_MS = \d+/, "local FROZEN_MS = 600000"],
  ];
  let { text } = SCRIPTS.exchange;
  for (const [found, by] of replaced) {
    if (!found.test(text)) throw new Error(`${found} is written in another way: this test must follow`);
    text = text.replace(found, by);
  }
  return new Script(text);
})();

const plain = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(plain) : Buffer.isBuffer(value) ? value.toString("latin1") : value;

/** All that Redis holds, as what prints it. */
async function stateOf(link: RedisLink): Promise<Record<string, unknown>> {
  const reads: Record<string, (key: string) => Promise<RedisValue>> = {
    string: (key) => link.call("GET", key),
    hash: (key) => link.call("HGETALL", key),
    set: (key) => link.call("SORT", key, "ALPHA"),
    zset: (key) => link.call("ZRANGE", key, 0, -1, "WITHSCORES"),
    list: (key) => link.call("LRANGE", key, 0, -1),
    stream: (key) => link.call("XRANGE", key, "-", "+"),
  };
  const state: Record<string, unknown> = {};
  const expiring: string[] = [];
  for (const key of plain(await link.call("KEYS", "*")) as string[]) {
    const type = String(await link.call("TYPE", key));
    const read = reads[type];
    if (read === undefined) throw new Error(`${key} is a ${type}`);
    const found = plain(await read(key)) as unknown;
    if (Number(await link.call("PTTL", key)) >= 0) expiring.push(key);
    state[key] = type === "hash" ? fieldsOf(found as string[]) : found;
  }
  return { ...state, expiring: expiring.sort() };
}

const inTerm = ([name, ...args]: Operation, term: string): Operation => [
  name,
  ...args.map((arg) => (arg === TERM ? term : arg)),
];

const fieldsOf = (flat: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : [])));

describe.skipIf(missing !== undefined)(`cuts${missing === undefined ? "" : `: ${missing}`}`, () => {
  let redis: TestRedis;
  let link: RedisLink;
  let proxy: FaultProxy;
  /** Through the proxy. */
  let cutLink: RedisLink;
  beforeAll(async () => {
    redis = await startRedis();
    proxy = await startFaultProxy(redis.url);
    link = connectRedis({ url: redis.url, log });
    cutLink = connectRedis({ url: proxy.url, log });
    await link.ready(5000);
    for (const { text } of [...Object.values(SCRIPTS), AT_ONE_INSTANT])
      await link.call("SCRIPT", "LOAD", text);
  });
  afterAll(async () => {
    cutLink.close();
    link.close();
    await proxy.close();
    await redis.stop();
  });

  const session = async (cell: string, over: RedisLink) => {
    const made = new Session({
      link: over,
      datasetId: DATASET_ID,
      cell,
      script: AT_ONE_INSTANT,
      onEnd() {},
    });
    await made.start();
    return made;
  };
  const bytes = () => {
    const blobs = new Blobs();
    blobs.add(Buffer.from("bytes"));
    return blobs;
  };
  const run = async (of: Session, lane: string, operations: readonly Operation[]) =>
    plain(await of.lane(lane).send(operations, bytes()));

  /** A dataset as the operation needs it. */
  async function prepared({ formerly, before = [], other, isNewTerm, isRestored }: OperationCase) {
    await link.call("FLUSHALL");
    await createDataset(link, DATASET_ID, ROWS);
    for (const cell of [CELL, OTHER]) await link.call("HSET", `${KEY_PREFIX}lives`, cell, FORMER_LIFE);
    const [former, beside] = [await session(CELL, link), await session(OTHER, link)];
    if (isRestored === true) await noteRestored(link, DATASET_ID);
    if (isNewTerm !== true) for (const each of [former, beside]) await run(each, "term", [["restated"]]);
    if (formerly !== undefined) await run(former, "formerly", [formerly]);
    const made = await session(CELL, cutLink);
    if (before.length > 0) await run(made, "before", before);
    if (other !== undefined) await run(beside, "other", [other]);
    return made;
  }

  async function outcomeOf(operation: OperationCase, cut?: Cut) {
    const made = await prepared(operation);
    const before = await stateOf(link);
    const cuts = proxy.cuts();
    if (cut !== undefined) proxy[cut](operation.send[0]);
    const reply = await run(made, "lane", [inTerm(operation.send, made.term)]);
    expect(proxy.cuts() - cuts).toBe(cut === undefined ? 0 : 1);
    return { reply, before, state: await stateOf(link) };
  }

  test("all operations of the exchange, and all scripts, are in the table of this test", () => {
    const names = operationNames();
    expect(names).toHaveLength(SCRIPTS.exchange.text.split(/^operations\W/m).length - 1);
    expect(Object.keys(OPERATIONS).sort()).toEqual(names.sort());
    expect([...Object.keys(OTHER_SCRIPTS), "clock", "exchange"].sort()).toEqual(Object.keys(SCRIPTS).sort());
    for (const [name, { send }] of Object.entries(OPERATIONS)) expect(send[0]).toBe(name);
  });

  test.each(Object.keys(OPERATIONS))("%s happens once, wherever its connection is cut", async (name) => {
    const operation = OPERATIONS[name] as OperationCase;
    const { reply, before, state } = await outcomeOf(operation);
    // It had something to do: more is there than its kept answer.
    const kept = { [`${KEY_PREFIX}kept`]: state[`${KEY_PREFIX}kept`] };
    if (operation.isRead) expect(state).toEqual({ ...before, ...kept });
    else expect({ ...state, ...kept }).not.toEqual({ ...before, ...kept });
    for (const cut of CUTS) {
      const found = await outcomeOf(operation, cut);
      expect({ reply: found.reply, state: found.state }, cut).toEqual({ reply, state });
    }
  });

  /** A dataset as far as the script needs it. @returns the term */
  async function preparedFor({ stage }: ScriptCase): Promise<string> {
    await link.call("FLUSHALL");
    if (stage === "nothing") return "";
    await beginDataset(link, DATASET_ID);
    if (stage === "filling") return "";
    await fillDataset(link, DATASET_ID, ROWS);
    await link.run(SCRIPTS.open, DATASET_KEY, DATASET_ID);
    await link.call("HSET", `${KEY_PREFIX}lives`, CELL, FORMER_LIFE);
    const { term } = await enterDataset(link, { datasetId: DATASET_ID, cell: CELL });
    await link.call("HSET", `${KEY_PREFIX}applied`, CELL, `1 ${NOW_MS}`);
    return term;
  }

  /** Until there is a reply, as a cell that starts, or somebody at a terminal, sends it again. */
  async function sent(script: Script, args: readonly (string | number)[]): Promise<unknown> {
    for (;;) {
      await cutLink.ready(5000);
      try {
        return plain(await cutLink.run(script, DATASET_KEY, DATASET_ID, ...args));
      } catch (error) {
        if ((error as Error).name === "ReplyError") throw error;
      }
    }
  }

  test.each(Object.keys(OTHER_SCRIPTS))(
    "the script %s may be sent again, wherever its connection is cut",
    async (name) => {
      const script = SCRIPTS[name as keyof typeof OTHER_SCRIPTS];
      const row: ScriptCase = OTHER_SCRIPTS[name as keyof typeof OTHER_SCRIPTS];
      const calls = row.calls("").length;
      for (let at = 0; at < calls; at++) {
        const outcome = async (cut?: Cut) => {
          const args = row.calls(await preparedFor(row))[at] ?? [];
          const before = await stateOf(link);
          const cuts = proxy.cuts();
          if (cut !== undefined) proxy[cut](script.sha);
          const reply = await sent(script, args);
          expect(proxy.cuts() - cuts).toBe(cut === undefined ? 0 : 1);
          return { reply, before, state: await stateOf(link) };
        };
        const { reply, before, state } = await outcome();
        if (row.isRead) expect(state).toEqual(before);
        else expect(state).not.toEqual(before);
        for (const cut of CUTS) {
          const found = await outcome(cut);
          const ranBefore = cut === "cutAfter" || cut === "cutWithinReply";
          const again = ranBefore && row.again !== undefined ? row.again : reply;
          const expected =
            ranBefore && row.hasLife ? withNextLife({ reply: again, state }) : { reply: again, state };
          expect({ reply: found.reply, state: found.state }, `${cut}, ${at}`).toEqual(expected);
        }
      }
    },
  );
});

/** The same with the life that the script began or ended once one higher. */
function withNextLife(outcome: unknown): unknown {
  const [first, second] = [FORMER_LIFE + 2, FORMER_LIFE + 3].map(String) as [string, string];
  return JSON.parse(JSON.stringify(outcome).replaceAll(first, second));
}
