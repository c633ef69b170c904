/** The installation's own Redis: one on its folder, whatever dies; nothing acknowledged is lost. */
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { askRedis, redisSocketIn } from "../../../../src/cluster/supervisor/asked-redis.ts";
import { holdFolder } from "../../../../src/cluster/supervisor/folder-socket.ts";
import { startOwnRedis } from "../../../../src/cluster/supervisor/own-redis.ts";
import { findRedisServer, REDIS_SOCKET, redisLine } from "../../../../src/cluster/supervisor/redis-server.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";

const missing = missingRedis();
const hasRedis = missing === undefined;
const why = hasRedis ? "" : ` (skipped: ${missing})`;

function place(name = "data"): { dataDir: string; folder: string } {
  const root = mkdtempSync(join(tmpdir(), "weir-test-"));
  onTestFinished(() => removeFolder(root));
  const dataDir = join(root, name);
  return { dataDir, folder: join(dataDir, "redis") };
}

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

function lines() {
  const said: string[] = [];
  const say = (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`);
  return { said, log: { debug: say, info: say, warn: say, error: say } };
}

async function running(dataDir: string, program = findRedisServer()) {
  const { said, log } = lines();
  const redis = await startOwnRedis({ dataDir, program, log });
  onTestFinished(() => redis.stop());
  return { redis, said };
}

/** Texts of the answer; none where nobody answers. */
async function ask(folder: string, command: string): Promise<string[]> {
  const socket = redisSocketIn(folder);
  const [name = "", ...args] = command.split(" ");
  try {
    const said = await askRedis(folder, socket.path, 5000, (link) => link.call(name, ...args));
    return said === undefined ? [] : [said].flat().map(String);
  } finally {
    socket.release();
  }
}

test.skipIf(!hasRedis)(`it has no port, syncs every write and refuses to forget${why}`, async () => {
  const { dataDir, folder } = place();
  const { redis } = await running(dataDir);
  await redis.ready();
  const setting = async (name: string) => (await ask(folder, `CONFIG GET ${name}`))[1];
  expect([await setting("port"), await setting("appendfsync"), await setting("maxmemory-policy")]).toEqual([
    "0",
    "always",
    "noeviction",
  ]);
  expect(await setting("unixsocketperm")).toBe("700");
});

test.skipIf(!hasRedis)(`killed, it comes back with everything it had acknowledged${why}`, async () => {
  const { dataDir, folder } = place();
  const { redis } = await running(dataDir);
  await redis.ready();
  const first = redis.pid() ?? 0;
  expect(await ask(folder, "SET kept 1")).toEqual(["OK"]);
  process.kill(first, "SIGKILL");
  await until("another one answers", async () => (await ask(folder, "GET kept"))[0] === "1");
  expect(redis.pid()).not.toBe(first);
  expect(redis.restarts()).toBe(1);
});

test.skipIf(!hasRedis)(`a stop leaves no process, and the next start finds the data${why}`, async () => {
  const { dataDir, folder } = place();
  const one = await running(dataDir);
  await one.redis.ready();
  const pid = one.redis.pid() ?? 0;
  await ask(folder, "SET kept 2");
  await one.redis.stop();
  // Until its parent has heard of its end, a process that has ended still has its id.
  await until("Redis has ended", () => lives(pid), equals(false));
  const two = await running(dataDir);
  await two.redis.ready();
  expect(await ask(folder, "GET kept")).toEqual(["2"]);
});

test.skipIf(!hasRedis)(`two supervisors on one folder: the second is refused${why}`, async () => {
  const { dataDir } = place();
  const { redis } = await running(dataDir);
  await redis.ready();
  await expect(running(dataDir)).rejects.toThrow("another supervisor runs a Redis server");
});

/** A server as a killed supervisor leaves it. */
async function orphan(folder: string, args: readonly string[]) {
  mkdirSync(folder, { recursive: true });
  const common = ["--port", "0", "--unixsocket", REDIS_SOCKET, "--pidfile", "redis.pid", "--save", ""];
  const child = spawn(findRedisServer(), [...common, ...args], { cwd: folder, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await until("it answers", async () => (await ask(folder, "PING"))[0] === "PONG");
  return child;
}

const AS_REQUIRED = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"];

test.skipIf(!hasRedis)(
  `an orphan that is set as required is taken over, watched and stopped${why}`,
  async () => {
    const { dataDir, folder } = place();
    const left = await orphan(folder, AS_REQUIRED);
    const { redis } = await running(dataDir);
    await redis.ready();
    expect([redis.pid(), redis.isAdopted()]).toEqual([left.pid, true]);
    left.kill("SIGKILL");
    await until("its own is up", async () => !redis.isAdopted() && (await ask(folder, "PING"))[0] === "PONG");
    expect(redis.pid()).not.toBe(left.pid);
  },
);

test.skipIf(!hasRedis)(`an orphan with other settings, or that hangs, is ended first${why}`, async () => {
  for (const [args, stopped] of [
    [["--appendonly", "no"], false],
    [AS_REQUIRED, true],
  ] as const) {
    const { dataDir, folder } = place();
    const left = await orphan(folder, args);
    if (stopped) left.kill("SIGSTOP");
    const { redis, said } = await running(dataDir);
    await redis.ready();
    expect(left.exitCode ?? left.signalCode).not.toBeNull();
    expect(redis.isAdopted()).toBe(false);
    expect(said.join("\n")).toContain("left is ended");
  }
});

test.skipIf(!hasRedis)(
  `a damaged end of the append-only file is cut off, and that is said${why}`,
  async () => {
    const { dataDir, folder } = place();
    const one = await running(dataDir);
    await one.redis.ready();
    await ask(folder, "SET kept 3");
    await one.redis.stop();
    const files = join(folder, "appendonlydir");
    const [last = ""] = readdirSync(files).filter((name) => name.endsWith(".incr.aof"));
    appendFileSync(join(files, last), "*3\r\n$3\r\nSET\r\n$4\r\nha");
    const two = await running(dataDir);
    await two.redis.ready();
    expect(await ask(folder, "GET kept")).toEqual(["3"]);
    await until("it is said", () => two.said.join("\n").includes("was damaged and is cut off"));
  },
);

test.skipIf(!hasRedis)(`a long path of the data folder is no obstacle to its socket${why}`, async () => {
  const { dataDir } = place("d".repeat(120));
  const { redis } = await running(dataDir);
  await redis.ready();
  expect(Buffer.byteLength(redis.socket)).toBeLessThanOrEqual(100);
  const cli = spawnSync("redis-cli", ["-s", redis.socket, "ping"], { encoding: "utf8" });
  if (cli.error === undefined) expect(cli.stdout).toBe("PONG\n");
});

test("a server that cannot start says why, once, however often it is tried", async () => {
  const { dataDir } = place();
  mkdirSync(dataDir);
  const program = join(dataDir, "redis-server");
  writeFileSync(
    program,
    "#!/bin/sh\necho '1:M 01 Jan 2026 00:00:00.000 # Write error: No space left on device'\nexit 1\n",
  );
  chmodSync(program, 0o700);
  const { redis, said } = await running(dataDir, program);
  await expect(redis.ready()).rejects.toThrow("No space left on device");
  await until("it was tried three times", () => redis.restarts() >= 3);
  expect(said.filter((line) => line.startsWith("Redis ended"))).toHaveLength(1);
  expect(said.join("\n")).toContain("the disk that holds the data folder is full");
});

test("without a server on PATH the operator is told what to do", () => {
  expect(() => findRedisServer("/nowhere:relative")).toThrow("install redis-server or set REDIS_URL");
});

test("warnings of every start are no warnings to the operator", () => {
  const level = (text: string) => redisLine(`9:M 23 Nov 2026 21:26:17.873 ${text}`)?.level;
  expect([level("# Server initialized"), level("# WARNING Memory overcommit"), level("* Ready")]).toEqual([
    "debug",
    "warn",
    "debug",
  ]);
});

test("of twenty that want a folder with a dead socket, one gets it", async () => {
  const { dataDir } = place();
  mkdirSync(dataDir);
  const dead = spawnSync(process.execPath, [
    "-e",
    `require("net").createServer().listen(${JSON.stringify(join(dataDir, "x.sock"))}, () => process.kill(process.pid, "SIGKILL"))`,
  ]);
  expect([dead.signal, readdirSync(dataDir)]).toEqual(["SIGKILL", ["x.sock"]]);
  const held = await Promise.all(Array.from({ length: 20 }, () => holdFolder(dataDir, "x.sock")));
  const holders = held.filter((holder) => holder !== undefined);
  expect(holders).toHaveLength(1);
  holders[0]?.release();
  expect(readdirSync(dataDir)).toEqual([]);
});
