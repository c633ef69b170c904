/** Readers of large exports: slow ones, those that leave, and several at once. The gateway is a process of its own. */
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import { recorded } from "../../support/observations.ts";
import { rest } from "../../support/pace.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

/** Each is more than 1,500 bytes of JSON: far more than sockets and their kernel hold. */
const ROWS = amount(300_000, 80_000);
const LEAST_BYTES = ROWS * 1500;
/** What the gateway may hold for one that does not read: buffers, not the export. */
const MOST_KB = 60_000;

let gateway: SpawnedGateway;
beforeAll(async () => {
  // Garbage is not held: it is collected before much of it is there.
  const collecting = "--expose-gc --import data:text/javascript,setInterval(gc,100).unref()";
  gateway = await spawnGateway({ env: { NODE_OPTIONS: collecting } });
  expect((await gateway.chat()).status).toBe(200);
  await recorded(gateway);
  const [org] = (await ask("SELECT org_id FROM requests LIMIT 1")).split("\n");
  await ask(`INSERT INTO requests (request_id, ts, org_id, environment, model, status, route_trace)
    SELECT concat('large', toString(number)), now64(3) - number / 1000, '${org}', 'live', 'large', 'ok', repeat('x', 1000)
    FROM numbers(${ROWS})`);
});
afterAll(() => gateway?.stop());

/** A statement of the test's own, with the rights of the gateway. */
async function ask(sql: string): Promise<string> {
  const { url, username, password } = JSON.parse(
    readFileSync(join(gateway.folder, "data", "clickhouse.json"), "utf8"),
  );
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const answer = await fetch(`${url}/?database=weir`, {
    method: "POST",
    headers: { authorization },
    body: sql,
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text;
}

/** The head of an export; its body waits until it is read. */
function open(query = "&format=jsonl"): Promise<IncomingMessage> {
  const call = request(`${gateway.url}/v1/requests/export?model=large${query}`, {
    agent: false,
    headers: { authorization: `Bearer ${gateway.liveKey}` },
  });
  call.end();
  return new Promise((resolve, reject) => {
    call.once("response", resolve);
    call.once("error", reject);
  });
}

/** Statements of exports that run; this one is none. */
const running = async () =>
  Number(
    await ask(
      "SELECT count() FROM system.processes WHERE query LIKE '%toString(ts) AS time%' AND query NOT LIKE '%processes%'",
    ),
  );

const residentKb = () =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]);

async function leave(...exports: IncomingMessage[]): Promise<void> {
  for (const one of exports) one.destroy();
  await until("places are free again", async () => {
    const one = await open("&format=csv&request_id=none&status=error");
    one.resume();
    return one.statusCode === 200;
  });
}

test("an export whose client reads nothing is held back, and goes on whole once it reads", async () => {
  const before = residentKb();
  const slow = await open();
  expect([slow.statusCode, slow.headers["x-svc-rows"]]).toEqual([200, `${ROWS}`]);
  let most = 0;
  for (let looks = 0; looks < 20; looks++) {
    most = Math.max(most, residentKb());
    await rest(100);
  }
  expect(most - before).toBeLessThan(MOST_KB);
  expect(await running()).toBeGreaterThan(0);
  let bytes = 0;
  let lines = 0;
  for await (const part of slow as AsyncIterable<Buffer>) {
    bytes += part.length;
    for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) lines++;
    most = Math.max(most, residentKb());
  }
  expect([slow.complete, lines]).toEqual([true, ROWS]);
  expect(bytes).toBeGreaterThan(LEAST_BYTES);
  expect(most - before).toBeLessThan(MOST_KB);
});

test("a client that leaves ends the statement", async () => {
  const one = await open();
  expect(await running()).toBeGreaterThan(0);
  one.destroy();
  await until("no statement runs", async () => (await running()) === 0);
});

test("two run at once for an organisation, and a third is refused until one ends", async () => {
  const [first, second] = [await open(), await open()];
  const { status, json, headers } = await gateway.call("GET", "/v1/requests/export?model=large");
  expect([status, json.error.code]).toEqual([429, "concurrency"]);
  expect(headers.get("retry-after")).not.toBeNull();
  await leave(first);
  await leave(second);
});
