/** Downloads of requests and usage: so many of an organisation, and of all, run at once, at whichever of three cells. */
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recorded } from "../../support/observations.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const missing = missingRedis();
/** Each is more than 1,500 bytes of JSON: together more than sockets and their kernel hold. */
const ROWS = 30_000;
let gateway: TestGateway;
beforeAll(async () => {
  if (missing !== undefined) return;
  gateway = await testGateway({ cells: 3, engine: true });
  expect((await gateway.chat()).status).toBe(200);
  await recorded(gateway);
  const [org = ""] = (await ask("SELECT org_id FROM requests LIMIT 1")).split("\n");
  await fill(org);
});
afterAll(() => gateway?.stop());

/** A statement of the test's own, with the rights of the gateway. */
async function ask(sql: string): Promise<string> {
  const file = join(gateway.folder, "data", "clickhouse.json");
  const { url, username, password } = JSON.parse(readFileSync(file, "utf8"));
  const answer = await fetch(`${url}/?database=weir`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
    body: sql,
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text;
}

/** The org has rows whose export does not end before it is read. */
const fill = (org: string) =>
  ask(`INSERT INTO requests (request_id, ts, org_id, environment, model, status, route_trace)
    SELECT concat('large', toString(number)), now64(3) - number / 1000, '${org}', 'live', 'large', 'ok', repeat('x', 1000)
    FROM numbers(${ROWS})`);

/** The head of an export at one of the cells; its body waits until it is read. @param key of the org */
function open(cell: number, key = gateway.liveKey): Promise<IncomingMessage> {
  const call = request(`${gateway.cellUrls?.[cell]}/v1/requests/export?model=large&format=jsonl`, {
    agent: false,
    headers: { authorization: `Bearer ${key}` },
  });
  call.end();
  return new Promise((resolve, reject) => void call.once("response", resolve).once("error", reject));
}

test.skipIf(missing)(
  "two of an organisation run at once over all cells, and a third where one has ended",
  async () => {
    const two = await Promise.all([open(0), open(1)]);
    expect(two.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    for (const cell of [0, 1, 2]) {
      const third = await open(cell);
      third.resume();
      expect([third.statusCode, third.headers["retry-after"]]).toEqual([429, "5"]);
    }
    // A client that leaves gives its place back, too.
    two[0]?.destroy();
    await until("another cell has the place", async () => {
      const next = await open(2);
      next.destroy();
      return next.statusCode === 200;
    });
    two[1]?.destroy();
    await until("all places are free", async () => {
      const next = await Promise.all([open(1), open(2)]);
      for (const one of next) one.destroy();
      return next.every(({ statusCode }) => statusCode === 200);
    });
  },
);

test.skipIf(missing)("eight of all organisations run at once over all cells", async () => {
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const keys: string[] = [];
  for (const slug of ["one", "two", "three", "four", "five"]) {
    const org = await owner.call("POST", "/v1/orgs", { body: { slug, name: slug, billing_country: "US" } });
    const main = { org: slug, body: { slug: "main", name: "Main" } };
    const project = await owner.call("POST", "/v1/projects", main);
    const body = { name: "reads", project_id: project.json.id, scopes: ["read:usage"] };
    keys.push((await owner.call("POST", "/v1/keys", { org: slug, body })).json.secret);
    await fill(org.json.id);
  }
  const [last = "", ...others] = keys;
  const eight = await Promise.all(others.flatMap((key, i) => [open(i % 3, key), open((i + 1) % 3, key)]));
  expect(eight.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(200));
  for (const cell of [0, 1, 2]) {
    const ninth = await open(cell, last);
    ninth.resume();
    expect([ninth.statusCode, ninth.headers["retry-after"]]).toEqual([429, "5"]);
  }
  eight[0]?.destroy();
  await until("another organisation has the place", async () => {
    const next = await open(2, last);
    next.destroy();
    return next.statusCode === 200;
  });
  for (const one of eight) one.destroy();
});
