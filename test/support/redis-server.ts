/** A real Redis for tests: on a socket in a folder of its own, with the settings that cells ask for. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectRedis } from "../../src/cluster/cells/redis/redis.ts";
import { REQUIRED_SETTINGS, redisArguments } from "../../src/cluster/cells/redis/required-settings.ts";
import { missingCommand } from "./debian.ts";

/** A program of util-linux. */
const SETPRIV = "/usr/bin/setpriv";
/** Has Debian's redis-server ready. @returns the reason where it cannot be had */
export const missingRedis = (): string | undefined => missingCommand("redis-server", "redis-server");

export interface TestRedis {
  /** Path of its socket. */
  readonly url: string;
  readonly folder: string;
  readonly pid: () => number;
  /** Ends it as kill -9 does. */
  kill(): Promise<void>;
  /** Starts it again on its folder. */
  start(): Promise<void>;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** It ends with the process of the tests, however that ends: nobody else would end it. */
export function spawnRedis(settings: readonly string[]): ChildProcess {
  const bound = existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", "KILL", "redis-server"] : ["redis-server"];
  const [program, ...before] = bound as [string, ...string[]];
  return spawn(program, [...before, ...settings], { stdio: "ignore" });
}

/** @param kept a folder that `stop` leaves: what an earlier Redis wrote there is read again */
export async function startRedis(more: readonly string[] = [], kept?: string): Promise<TestRedis> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), "weir-redis-"));
  const url = join(folder, "redis.sock");
  let child: ChildProcess | undefined;
  const start = async () => {
    const settings = [
      ...redisArguments({ port: "0", unixsocket: url, dir: folder, save: "", daemonize: "no" }),
      ...redisArguments(REQUIRED_SETTINGS),
    ];
    child = spawnRedis([...settings, ...more]);
    const probe = connectRedis({ url, log: { warn() {} } });
    await probe.ready(10_000);
    probe.close();
  };
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  await start();
  return {
    url,
    folder,
    pid: () => child?.pid ?? 0,
    kill,
    start,
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    async stop() {
      await kill();
      if (kept === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
