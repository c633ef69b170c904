/** The compose file: Docker's own tool reads it, and Redis takes the settings that it gives. */
import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missingCommand } from "../../support/debian.ts";
import { until } from "../fixtures.ts";
import { run, testFolder } from "../process/fixtures.ts";
import { DEPLOY, deployFile, services } from "./fixtures.ts";

const reason = missingCommand("docker-compose", "docker-compose");
const hasRedis = missingCommand("redis-server", "redis-server") === undefined;

/** `docker-compose config`, which needs no daemon, as in the file's folder after its first lines. */
function config(text: string, env: Record<string, string>) {
  const folder = testFolder();
  writeFileSync(join(folder, "compose.yaml"), text);
  copyFileSync(join(DEPLOY, "weir.env.example"), join(folder, "weir.env"));
  const { PATH = "" } = process.env;
  const { status, stdout, stderr } = spawnSync("docker-compose", ["--file", "compose.yaml", "config"], {
    cwd: folder,
    env: { PATH, HOME: folder, ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("docker-compose reads the file without a complaint, and refuses what is misspelled", {
  timeout: 300_000,
}, ({ skip }) => {
  skip(reason !== undefined, reason);
  const text = deployFile("compose.yaml");
  const env = { CLICKHOUSE_PASSWORD: "0123abcd" };
  const read = config(text, env);
  expect([read.status, read.stderr]).toEqual([0, ""]);
  expect(read.stdout).toContain("http://weir:0123abcd@clickhouse:8123/weir");
  for (const [word, wrong] of [
    ["stop_grace_period:", "stop_grace_time:"],
    ["cap_drop: [ALL]", "cap_drop: ALL"],
    ["    read_only: true", "    read_only: [true]"],
    ["      - weir-data:/data", "      - weir-date:/data"],
  ] as const) {
    expect(text).toContain(word);
    expect(config(text.replace(word, wrong), env).status, wrong).not.toBe(0);
  }
});

test("without a password for ClickHouse nothing starts, and the message names the variable", ({ skip }) => {
  skip(reason !== undefined, reason);
  const { status, stderr } = config(deployFile("compose.yaml"), {});
  expect(status).not.toBe(0);
  expect(stderr).toContain("CLICKHOUSE_PASSWORD");
});

test("Redis starts for the profile `cells` alone, and nothing depends on it", () => {
  const all = services();
  expect(all.redis.profiles).toEqual(["cells"]);
  for (const [name, service] of Object.entries(all)) {
    if (name === "redis") continue;
    expect(service.profiles, name).toBeUndefined();
    expect(JSON.stringify(service), name).not.toContain("redis");
  }
});

test("Redis started as the compose file says keeps every acknowledged write and refuses rather than evicts", async ({
  skip,
}) => {
  skip(!hasRedis, "there is no redis-server on this machine");
  const folder = testFolder();
  const socket = join(folder, "redis.sock");
  const [program = "", ...args] = (services().redis.command ?? []).map((word) =>
    word.replace("/data", folder),
  );
  run(program, [...args, "--port", "0", "--unixsocket", socket], { stdio: "ignore" });
  const ask = (...words: string[]) =>
    spawnSync("redis-cli", ["-s", socket, ...words], { encoding: "utf8", timeout: 10_000 }).stdout.trim();
  await until("Redis answers", () => ask("PING") === "PONG");
  const wanted = { appendonly: "yes", appendfsync: "always", "maxmemory-policy": "noeviction", dir: folder };
  for (const [name, value] of Object.entries(wanted)) {
    expect(ask("CONFIG", "GET", name).split("\n")).toEqual([name, value]);
  }
  // Kept across containers only if it writes where the volume is.
  expect(services().redis.volumes).toEqual(["redis-data:/data"]);
});
