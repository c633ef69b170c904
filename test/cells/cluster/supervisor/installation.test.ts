/** Several cells on one folder are one installation: new, or that of a gateway that ran there alone. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectRedis } from "../../../../src/cluster/cells/redis/redis.ts";
import { redisSocketIn } from "../../../../src/cluster/supervisor/asked-redis.ts";
import { MAIN, type Placed, place, run } from "../../../support/process.fixtures.ts";
import {
  hasRedis,
  processesOf,
  type Running,
  startAt,
  startCells,
  why,
} from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";

const it = test.skipIf(!hasRedis);

const weir = (where: Placed, ...words: string[]) =>
  spawnSync(process.execPath, [MAIN, ...words], { env: where.env, encoding: "utf8" });

interface Json {
  readonly secret: string;
  readonly data: readonly object[];
}

/** Each request is on a connection of its own, so any cell gets it. */
const asked = async (where: Placed, path: string, body?: object, key = where.key()) => {
  const answer = await fetch(`${where.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json().catch(() => undefined)) as Json };
};

async function stopped(cells: Running): Promise<void> {
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
  expect(processesOf(cells.where.dataDir)).toEqual([]);
}

async function creditIn({ dataDir }: Placed): Promise<string[]> {
  const socket = redisSocketIn(join(dataDir, "redis"));
  const link = connectRedis({ url: socket.path, log: { warn() {} } });
  try {
    await link.ready(5000);
    const keys = (await link.call("KEYS", "{weir}:credit:*")) as Buffer[];
    return await Promise.all(keys.map(async (key) => String(await link.call("HMGET", key, "n", "b"))));
  } finally {
    link.close();
    socket.release();
  }
}

it(`a first start makes one installation, prints it once, and any cell knows what another was told${why}`, async () => {
  const cells = await startCells(2);
  const { where } = cells;
  await until("it says so", () => cells.output().includes(`Weir is ready at ${where.url} with 2 cells`));
  expect(cells.output().match(/Key: in .*first-key, \$25\.00 granted/g)).toHaveLength(1);
  // A file, and on no terminal the screen: the secret is nowhere else.
  expect(cells.output()).not.toContain(where.key());
  expect(existsSync(join(where.dataDir, "cells/2/first-key"))).toBe(false);
  expect(existsSync(join(where.dataDir, "cells/2/secrets.key"))).toBe(false);
  const made = await asked(where, "/v1/keys", { name: "another", scopes: ["read:keys"] });
  expect(made.status).toBe(201);
  for (let i = 0; i < 12; i++)
    expect((await asked(where, "/v1/limits", undefined, made.json.secret)).status).toBe(200);
  const listed = weir(where, "cells").stdout;
  for (const name of ["local-1", "local-2"]) expect(listed).toMatch(new RegExp(`^${name} +alive `, "m"));
  const operatorKey = readFileSync(join(where.dataDir, "operator-key"), "utf8").trim();
  const known = await asked(where, "/v1/operator/cells", undefined, operatorKey);
  expect(known.json.data).toMatchObject([
    { cell: "local-1", status: "alive" },
    { cell: "local-2", status: "alive" },
  ]);
  const retire = async (cell: string) =>
    (await asked(where, `/v1/operator/cells/${cell}/retire`, {}, operatorKey)).status;
  expect([await retire("local-2"), await retire("nobody")]).toEqual([409, 404]);
  expect(weir(where, "retire", "local-2")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("alive"),
  });
  await stopped(cells);
});

it(`a gateway that ran alone becomes several on its folder, and one again, with its balance once${why}`, async () => {
  const where = await place();
  const alone = run(process.execPath, [MAIN], { env: where.env, stdio: ["ignore", "pipe", "pipe"] });
  await where.ready();
  const key = where.key();
  const hello = { model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] };
  expect((await asked(where, "/v1/chat/completions", hello)).status).toBe(200);
  const early = startAt(where, 2);
  expect((await early.ended).code).toBe(1);
  expect(early.output()).toContain("a gateway runs on DATA_DIR");
  // What only the journal has goes up too.
  alone.child.kill("SIGKILL");
  await alone.ended;
  const cells = startAt(where, 2);
  await cells.allReady();
  expect(where.key()).toBe(key);
  for (let i = 0; i < 8; i++) expect((await asked(where, "/v1/limits")).status).toBe(200);
  const [credit = ""] = await creditIn(where);
  const [entries, balance] = credit.split(",").map(Number) as [number, number];
  expect(entries).toBe(2);
  expect(balance).toBeGreaterThan(24_000_000);
  expect(balance).toBeLessThan(25_000_000);
  await stopped(cells);
  const one = startAt(where, 1);
  await one.allReady();
  expect(await creditIn(where)).toEqual([credit]);
  expect(one.output()).toMatch(/"cells":\[2\],.*these cells ran here before/);
  // It stopped in good order, so nobody has to be waited for.
  expect(weir(where, "retire", "local-2").stdout).toContain("local-2 is retired");
  expect(weir(where, "cells").stdout).toMatch(/^local-2 +retired /m);
  await stopped(one);
});

it(`a cell whose folder is lost starts on an empty one under a numbered name, once it is retired${why}`, async () => {
  const cells = await startCells(2);
  const { where } = cells;
  await cells.allReady();
  await stopped(cells);
  rmSync(join(where.dataDir, "cells/2"), { recursive: true });
  const one = startAt(where, 1);
  await one.allReady();
  expect(weir(where, "retire", "local-2").stdout).toContain("local-2 is retired");
  await stopped(one);
  const again = startAt(where, 2);
  await again.allReady();
  const listed = weir(where, "cells").stdout;
  for (const line of [/^local-1 +alive /m, /^local-2 +retired /m, /^local-2\.2 +alive /m])
    expect(listed).toMatch(line);
  await until("metrics have the name", async () => {
    return (await again.metrics()).includes('weir_cell_up{cell="local-2.2"} 1');
  });
  await stopped(again);
});

test("a cell needs a name, a key and an address that can be read", async () => {
  const where = await place();
  const refused = (env: Record<string, string>) => weir({ ...where, env: { ...where.env, ...env } }).stderr;
  const none = refused({ REDIS_URL: "/nowhere" });
  expect(none).toContain("CELL: is needed with REDIS_URL");
  expect(none).toContain("WEIR_SECRETS_KEY: is needed with REDIS_URL");
  const odd = refused({ REDIS_URL: "http://user:hidden@host" });
  expect(odd).toContain("REDIS_URL: use redis://");
  expect(odd).not.toContain("hidden");
  expect(refused({ REDIS_URL: "redis-cluster://host:1" })).toContain("one slot of a Redis Cluster");
});
