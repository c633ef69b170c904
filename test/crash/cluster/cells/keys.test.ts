/**
 * A cell that is killed between the charge of a call under an `Idempotency-Key` and the exchange that would tell Redis: the call is charged
 * once and never made again, whether the cell comes back or is retired.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { retire } from "../../../../src/cluster/cells/membership/registry.ts";
import { connectRedis, type RedisLink } from "../../../../src/cluster/cells/redis/redis.ts";
import { startFaultProxy } from "../../../support/cells/fault-proxy.ts";
import { type Answer, sseData, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { MAIN, type Placed, place, run } from "../../../support/process.fixtures.ts";
import { hasRedis, why } from "../../../support/supervisor/fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

const CELL = "killed";
const SECRETS_KEY = Buffer.alloc(32, 7).toString("base64");
const BODY = { model: "test/model", stream: true, messages: [{ role: "user", content: "Hello" }] };
const HEADERS = { "idempotency-key": "once" };
/** Longer than it takes to cut Redis off once the first token is there. */
const ENDPOINTS = [{ provider: "slow", instruction: { gap_ms: 40, tokens: 50 } }];

/** Another cell, and what Redis has of the org's credit. */
interface World {
  readonly other: TestGateway;
  readonly link: RedisLink;
  readonly where: Placed;
  /** Number of the newest entry of the ledger, and the balance. */
  credit(): Promise<readonly [seq: number, microUsd: number]>;
  /** The same call at the other cell. */
  again(): Promise<Answer>;
}

async function startWorld(): Promise<World> {
  const env = { WEIR_SECRETS_KEY: SECRETS_KEY };
  const other = await testGateway({ cells: 1, engine: false, endpoints: ENDPOINTS, env });
  onTestFinished(() => other.stop());
  const redisUrl = other.redis?.url ?? "";
  const link = connectRedis({ url: redisUrl, log: { warn() {} } });
  onTestFinished(() => link.close());
  await link.ready(5000);
  const { json } = await other.call("GET", "/v1/orgs");
  const where = await place({
    ...env,
    CELL,
    CONFIG_DIR: join(other.folder, "config"),
    SIMULATOR_URL: other.simulator.url,
    REDIS_URL: redisUrl,
    LOG_LEVEL: "warn",
  });
  return {
    other,
    link,
    where,
    async credit() {
      const found = await link.call("HMGET", `{weir}:credit:${json.data[0].id}`, "n", "b");
      const [seq = 0, microUsd = 0] = (found as Buffer[]).map(String).map(Number);
      return [seq, microUsd];
    },
    // A cell that has no answer of Redis in time says so.
    again: () =>
      until(
        "the cell knows of the key",
        () => other.call("POST", "/v1/chat/completions", { body: BODY, headers: HEADERS }),
        ({ status }) => status !== 503,
      ),
  };
}

/** A cell answers the call in full while it does not reach Redis, and is killed. @returns the answer and what it cost */
async function answeredAndKilled({ other, where }: World): Promise<{ text: string; cost: number }> {
  const proxy = await startFaultProxy(other.redis?.url ?? "");
  onTestFinished(() => proxy.close());
  const cell = run(process.execPath, [MAIN], {
    env: { ...where.env, REDIS_URL: proxy.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await where.ready();
  const answer = await fetch(`${where.url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...HEADERS, authorization: `Bearer ${other.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify(BODY),
  });
  expect(answer.status).toBe(200);
  const parts: Uint8Array[] = [];
  for await (const part of answer.body ?? []) {
    if (parts.length === 0) proxy.pause();
    parts.push(part);
  }
  cell.child.kill("SIGKILL");
  await cell.ended;
  const text = Buffer.concat(parts).toString();
  const ends = sseData(text) as { svc?: { cost?: { total_micro_usd: number } } }[];
  return { text, cost: ends.find(({ svc }) => svc?.cost)?.svc?.cost?.total_micro_usd ?? 0 };
}

const restarted = async ({ where }: World) => {
  run(process.execPath, [MAIN], { env: where.env, stdio: ["ignore", "pipe", "pipe"] });
  await where.ready();
};

const asSaid = ({ status, json, text, headers }: Answer) =>
  status === 200 ? [text, headers.get("idempotent-replayed")] : [status, json.error.code];

test.skipIf(!hasRedis)(
  `the key waits for the cell to come back, then has its answer, and one charge is made${why}`,
  async () => {
    const world = await startWorld();
    const [seq, balance] = await world.credit();
    const { text, cost } = await answeredAndKilled(world);
    expect(cost).toBeGreaterThan(0);
    // It is charged in the cell's folder alone.
    expect(await world.credit()).toEqual([seq, balance]);
    for (let tries = 0; tries < 3; tries++)
      expect(asSaid(await world.again())).toEqual([409, "idempotency_in_progress"]);
    await restarted(world);
    await until("the answer is there again", async () => asSaid(await world.again()), equals([text, "true"]));
    await until("the credit is what was charged", world.credit, equals([seq + 1, balance - cost]));
    expect(world.other.simulator.totalCalls).toBe(1);
  },
);

test.skipIf(!hasRedis)(
  `where the cell is retired the key is refused, and its charge is nobody's when the folder is back${why}`,
  async () => {
    const world = await startWorld();
    const { link, other } = world;
    const before = await world.credit();
    const { text, cost } = await answeredAndKilled(world);
    expect(asSaid(await world.again())).toEqual([409, "idempotency_in_progress"]);
    const id = String(await link.call("HGET", "{weir}:dataset", "id"));
    expect(await retire(link, id, CELL)).toBe("alive");
    // As after the silence that retirement asks for.
    expect(await retire(link, id, CELL, 0)).toBe(true);
    const refused = await world.again();
    expect(asSaid(refused)).toEqual([409, "state"]);
    expect(refused.text).toContain("was shut down for good");
    await restarted(world);
    await until("the answer is there again", async () => asSaid(await world.again()), equals([text, "true"]));
    const operatorKey = readFileSync(join(other.folder, "data/operator-key"), "utf8").trim();
    const listed = async () =>
      (await other.call("GET", "/v1/operator/uncharged", { key: operatorKey })).json.data.map(
        (row: { amount_micro_usd: number }) => row.amount_micro_usd,
      );
    await until("the charge is listed", listed, equals([cost]));
    expect(await world.credit()).toEqual(before);
    expect(other.simulator.totalCalls).toBe(1);
  },
);
