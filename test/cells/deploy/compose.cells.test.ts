/** The compose file of several cells: what Docker's own tool says of it, what it says of the product, and cells that run as it says. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { datasetIn } from "../../../src/cluster/cells/dataset/dataset.ts";
import { connectRedis } from "../../../src/cluster/cells/redis/redis.ts";
import { assertSettings } from "../../../src/cluster/cells/redis/trust.ts";
import { PAGE_ITEMS } from "../../../src/edge/openapi/page-items.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { missingCommand } from "../../support/debian.ts";
import {
  CELL_NAMES,
  cellsFile,
  environmentOf,
  missingNginx,
  startNames,
  startNginx,
} from "../../support/deploy/cells.fixtures.ts";
import { composeConfig } from "../../support/deploy/compose.fixtures.ts";
import { deployFile, imageEnvironment, secondsOf, services } from "../../support/deploy/fixtures.ts";
import { sseData } from "../../support/gateway.ts";
import { MAIN, place, quietPort, REPO, run, testFolder } from "../../support/process.fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

const { services: all, networks, volumes } = cellsFile();
const cells = CELL_NAMES.map((name) => all[name]);
const FILES = ["cells.weir.yaml", "cells.nginx.conf"];
const PASSWORDS = { CLICKHOUSE_PASSWORD: "0123abcd", REDIS_PASSWORD: "4567cdef" };

describe("docker-compose", () => {
  const reason = missingCommand("docker-compose", "docker-compose");

  const config = (text: string, env: Record<string, string>) =>
    composeConfig("compose.cells.yaml", text, env);

  test("reads the file without a complaint, and refuses what is misspelled", ({ skip }) => {
    skip(reason !== undefined, reason);
    const text = deployFile("compose.cells.yaml");
    const read = config(text, PASSWORDS);
    expect([read.status, read.stderr]).toEqual([0, ""]);
    expect(read.stdout.match(/redis:\/\/default:4567cdef@redis:6379/g)).toHaveLength(1 + CELL_NAMES.length);
    for (const [word, wrong] of [
      ["condition: service_completed_successfully", "condition: service_completed"],
      ["      - weir-2-data:/data", "      - weir-2-date:/data"],
      ["    tmpfs: [/tmp]", "    tmpf: [/tmp]"],
      ["        - subnet: 172", "        - subnets: 172"],
    ] as const) {
      expect(text).toContain(word);
      expect(config(text.replace(word, wrong), PASSWORDS).status, wrong).not.toBe(0);
    }
  });

  test("starts nothing without a password, and names it", ({ skip }) => {
    skip(reason !== undefined, reason);
    for (const name of Object.keys(PASSWORDS)) {
      const { status, stderr } = config(deployFile("compose.cells.yaml"), { ...PASSWORDS, [name]: "" });
      expect(status).not.toBe(0);
      expect(stderr).toContain(name);
    }
  });
});

test("the cells are alike but for a name and a volume of their own, and nobody else has these but `init` the first one's", () => {
  for (const [i, cell] of cells.entries()) {
    const { environment, volumes: mounts, ...rest } = cell;
    const { CELL, ...common } = environment ?? {};
    expect(CELL).toBe(CELL_NAMES[i]);
    expect(common).toEqual(all.init.environment);
    const { environment: _, volumes: __, ...first } = all["weir-1"];
    expect(rest).toEqual(first);
    expect(mounts?.[1]).toBe(all.init.volumes?.[1]);
  }
  const data = cells.map(({ volumes: [mount = ""] = [] }) => mount);
  expect(data.every((mount) => mount.endsWith(`:${imageEnvironment().DATA_DIR}`))).toBe(true);
  const names = data.map((mount) => mount.split(":")[0] as string);
  expect(new Set(names).size).toBe(CELL_NAMES.length);
  expect(all.init.volumes?.[0]).toBe(data[0]);
  const used = Object.values(all).flatMap((service) => (service.volumes ?? []).map((m) => m.split(":")[0]));
  for (const name of names.slice(1)) expect(used.filter((one) => one === name)).toHaveLength(1);
  expect(Object.keys(volumes).sort()).toEqual(
    [...new Set([...names, "clickhouse-data", "redis-data"])].sort(),
  );
});

test("a gateway of compose.yaml becomes the first cell: image, volumes, rights and ClickHouse are those of that file", () => {
  const { weir, clickhouse } = services();
  expect(all.clickhouse).toEqual(clickhouse);
  const own = ["volumes", "ports", "depends_on", "build", "environment"];
  const common = Object.fromEntries(Object.entries(weir).filter(([name]) => !own.includes(name)));
  expect(Object.keys(common)).toContain("read_only");
  for (const cell of cells) expect(cell).toMatchObject(common);
  expect(all["weir-1"].volumes?.[0]).toBe("weir-data:/data");
  expect(all.init.environment?.CLICKHOUSE_URL).toBe(String(weir.environment?.CLICKHOUSE_URL));
  // Metrics of a cell are for others of its network: the proxy does not pass them on.
  expect(all.proxy.ports).toEqual(weir.ports?.slice(0, 1));
  expect(cells.some(({ ports }) => ports !== undefined)).toBe(false);
});

test("cells wait for `init`, which is run once a start and waits for Redis; a stop ends the proxy first and Redis last", () => {
  for (const { depends_on: waited } of cells) {
    expect(waited?.init?.condition).toBe("service_completed_successfully");
    expect(waited?.redis?.condition).toBe("service_healthy");
  }
  expect(all.init).toMatchObject({ restart: "no", depends_on: { redis: { condition: "service_healthy" } } });
  expect(all.init.command).toEqual(["cells", "init", "--once"]);
  expect(all.proxy.depends_on).toEqual(CELL_NAMES);
});

test("files that the services mount are there, and the cells' weir.yaml believes the proxy's network", () => {
  const mounted = Object.values(all).flatMap((service) =>
    (service.volumes ?? []).filter((mount) => mount.startsWith("./")),
  );
  expect([...new Set(mounted)].sort()).toEqual([
    "./cells.nginx.conf:/etc/nginx/nginx.conf:ro",
    `./cells.weir.yaml:${imageEnvironment().CONFIG_DIR}/weir.yaml:ro`,
  ]);
  for (const file of FILES) expect(deployFile(file)).not.toBe("");
  const { settings } = readConfig({ CONFIG_DIR: configOfCells() });
  expect(settings.trusted_proxies).toEqual(networks.default.ipam.config.map(({ subnet }) => subnet));
  const SPARE_S = 5;
  for (const service of [...cells, all.proxy])
    expect(secondsOf(String(service.stop_grace_period))).toBeGreaterThanOrEqual(
      settings.timeouts.shutdown_ms / 1000 + SPARE_S,
    );
});

test("the proxy listens where the port leads, asks cells where they listen, and waits longer than a call may take", () => {
  const conf = deployFile("cells.nginx.conf");
  const { port, settings } = readConfig({ CONFIG_DIR: configOfCells() });
  const { total_ms, commit_ms } = settings.timeouts;
  const numberOf = (directive: RegExp) => Number(directive.exec(conf)?.[1]);
  expect(numberOf(/^ +listen (\d+);/m)).toBe(port);
  expect(numberOf(/proxy_pass http:\/\/\$cells:(\d+);/)).toBe(port);
  expect(numberOf(/proxy_read_timeout (\d+)s;/)).toBeGreaterThan((total_ms + commit_ms) / 1000);
  expect(numberOf(/worker_rlimit_nofile (\d+);/)).toBe(all.proxy.ulimits?.nofile);
  expect(numberOf(/worker_connections (\d+);/)).toBeLessThan(Number(all.proxy.ulimits?.nofile));
  const alias = /set \$cells (\w+);/.exec(conf)?.[1];
  for (const { networks: joined } of cells) expect(joined?.default.aliases).toEqual([alias]);
  const readiness = PAGE_ITEMS.find(({ operationId }) => operationId === "getReadiness")?.path;
  expect(all.proxy.healthcheck?.test.at(-1)).toBe(`http://127.0.0.1:${port}${readiness}`);
  // All that nginx writes is in the one folder that it may write to.
  expect(all.proxy).toMatchObject({ read_only: true, tmpfs: ["/tmp"] });
  expect(
    [...conf.matchAll(/^ *\w+(?:_path|pid) (\S+);/gm)].every(([, path]) => path?.startsWith("/tmp/")),
  ).toBe(true);
});

/** A folder with the catalog's small files and the cells' weir.yaml. */
function configOfCells(): string {
  const folder = testFolder();
  mkdirSync(join(folder, "models"));
  for (const file of ["providers.yaml", "plans.yaml", "supplier.yaml", "models/weir.yaml"])
    cpSync(join(REPO, "config", file), join(folder, file));
  writeFileSync(join(folder, "weir.yaml"), deployFile("cells.weir.yaml"));
  return folder;
}

const noRedis = missingRedis();

/** Redis as the file starts it, on a port of this machine. */
async function startRedisOfFile() {
  const [folder, port] = [testFolder(), await quietPort()];
  const filled = (word: string) => word.replace(/\$\{REDIS_PASSWORD[^}]*\}/, PASSWORDS.REDIS_PASSWORD);
  const [program = "", ...args] = (all.redis.command ?? []).map((word) =>
    filled(word).replace("/data", folder),
  );
  run(program, [...args, "--port", String(port), "--bind", "127.0.0.1"], { stdio: "ignore" });
  const [, asked = "", ...question] = all.redis.healthcheck?.test ?? [];
  const health = (password: string) =>
    spawnSync(asked, ["-p", String(port), ...question], {
      env: { PATH: process.env.PATH, REDISCLI_AUTH: password },
      timeout: 10_000,
    }).status;
  await until("its health is asked with success", () => health(PASSWORDS.REDIS_PASSWORD) === 0);
  const url = String(environmentOf(all.init, PASSWORDS).REDIS_URL).replace("redis:6379", `127.0.0.1:${port}`);
  return { folder, health, url };
}

test("Redis as the file starts it is one that cells accept, keeps its data on the volume and asks for the password", async ({
  skip,
}) => {
  skip(noRedis !== undefined, noRedis);
  const { url, health, folder } = await startRedisOfFile();
  const link = connectRedis({ url, log: { warn() {} } });
  await link.ready(5000);
  await assertSettings(link);
  expect(String(await link.call("CONFIG", "GET", "maxmemory"))).toBe(`maxmemory,${2 * 1024 ** 3}`);
  expect(String(await link.call("CONFIG", "GET", "dir"))).toBe(`dir,${folder}`);
  link.close();
  expect(health("wrong")).not.toBe(0);
  expect(all.redis.volumes).toEqual(["redis-data:/data"]);
});

test("cells that run as the file says: `init` runs again beside them, and a cell is stopped behind the proxy without a caller noticing", async ({
  skip,
}) => {
  const reason = noRedis ?? missingNginx();
  skip(reason !== undefined, reason);
  const redis = await startRedisOfFile();
  const port = await quietPort();
  const secrets = { WEIR_SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"), REDIS_URL: redis.url };
  const addresses = ["127.0.0.2", "127.0.0.3"];
  const places = await Promise.all(
    addresses.map((HOST, i) =>
      place({
        ...secrets,
        HOST,
        PORT: String(port),
        CELL: CELL_NAMES[i] as string,
        CONFIG_DIR: configOfCells(),
      }),
    ),
  );
  const [first, second] = places as [(typeof places)[0], (typeof places)[0]];
  const init = () =>
    spawnSync(process.execPath, [MAIN, ...(all.init.command ?? [])], { env: first.env, encoding: "utf8" });
  expect(init()).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("The installation is in Redis"),
  });
  const start = ({ env }: typeof first) =>
    run(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [ending] = [start(first), start(second)];
  const isReady = async (address: string) =>
    (await fetch(`http://${address}:${port}/readyz`).catch(() => undefined))?.status === 200;
  for (const address of addresses) await until(`${address} is ready`, () => isReady(address));
  expect(init()).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("An installation is in this Redis already"),
  });
  const link = connectRedis({ url: redis.url, log: { warn() {} } });
  await link.ready(5000);
  expect((await datasetIn(link))?.isFinished).toBe(true);
  link.close();

  const url = await startNginx(await quietPort(), port, await startNames(() => addresses));
  const key = readFileSync(join(first.dataDir, "first-key"), "utf8").trim();
  const call = (text: string, stream: boolean) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "weir/sim-small", stream, messages: [{ role: "user", content: text }] }),
    });
  const TOKENS = 30;
  const streams = await Promise.all(
    Array.from({ length: 8 }, () => call(`[[sim tokens=${TOKENS} gap_ms=100]]`, true)),
  );
  const texts = Promise.all(streams.map((stream) => stream.text()));
  texts.catch(() => {});
  ending.child.kill("SIGTERM");
  let isOver = false;
  void ending.ended.then(() => {
    isOver = true;
  });
  let calls = 0;
  while (!isOver) {
    const answer = await call("[[sim tokens=1]]", false);
    expect([answer.status, calls++, await answer.text()]).toMatchObject([
      200,
      expect.any(Number),
      expect.any(String),
    ]);
  }
  expect(await ending.ended).toEqual({ code: 0, signal: null });
  expect(calls).toBeGreaterThan(1);
  // Either cell had some of them.
  expect(ending.output()).toContain("everything is saved");
  for (const text of await texts) {
    expect(sseData(text).length).toBeGreaterThanOrEqual(TOKENS + 2);
    expect(text.trimEnd().endsWith("[DONE]")).toBe(true);
  }
});
