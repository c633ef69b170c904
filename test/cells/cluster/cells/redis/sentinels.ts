/** Real Sentinels for tests: each a process with a folder of its own, which look and vote within tenths of a second. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../../support/free-port.ts";
import { spawnRedis } from "../../../../support/redis-server.ts";
import { until } from "../../../../support/wait.ts";
import { ask } from "../replicas-fixtures.ts";

/** Their name of the master. */
export const MASTER = "main";
/** Until a master that does not answer counts as down. */
const DOWN_MS = 300;
const FAILOVER_MS = 3000;
/** Sentinels by themselves have 10 s, 2 s and 1 s. @see https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/ */
const PERIODS = ["info-period", "100", "publish-period", "100", "ask-period", "100", "ping-period", "100"];

export interface Sentinel {
  /** Where it answers. */
  readonly url: string;
  readonly port: number;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** @param lines of its file besides. It may not answer yet: clients ask again */
export async function startSentinel(
  master: number,
  quorum = 1,
  lines: readonly string[] = [],
): Promise<Sentinel> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "weir-sentinel-"));
  const file = join(folder, "sentinel.conf");
  const own = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${master} ${quorum}`,
    `sentinel down-after-milliseconds ${MASTER} ${DOWN_MS}`,
    `sentinel failover-timeout ${MASTER} ${FAILOVER_MS}`,
  ];
  writeFileSync(file, [...own, ...lines, ""].join("\n"));
  const child = spawnRedis([file, "--sentinel"]);
  const ended = once(child, "exit");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    kill,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Sentinels {
  readonly all: readonly Sentinel[];
  /** As `REDIS_URL` has them. */
  readonly url: string;
  /** Port of the master, as one that runs has it. */
  master(): Promise<number>;
  stop(): Promise<void>;
}

/** Resolves once each knows the others and the replicas, so that a majority can promote one. */
export async function startSentinels(master: number, count: number, replicas: number): Promise<Sentinels> {
  const starting = Array.from({ length: count }, () => startSentinel(master, Math.floor(count / 2) + 1));
  const all = await Promise.all(starting);
  for (const sentinel of all) {
    await ask(sentinel, "SENTINEL", "DEBUG", ...PERIODS);
    const known = `slaves=${replicas},sentinels=${count}`;
    await until(
      "the Sentinel knows it",
      () => ask(sentinel, "INFO", "sentinel"),
      (seen) => seen.includes(known),
    );
  }
  return {
    all,
    url: `redis-sentinel://${all.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${MASTER}`,
    async master() {
      const said = await ask(all.at(-1) as Sentinel, "SENTINEL", "get-master-addr-by-name", MASTER);
      return Number(said.split(",")[1]);
    },
    async stop() {
      for (const sentinel of all) await sentinel.stop();
    },
  };
}
