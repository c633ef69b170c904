/**
 * A real Redis that is asked what the Redis of the simulation was asked, in the same order, with the same clock: its replies, and the rows
 * that it has in the end, must be the same.
 */
import { OK, type Reply } from "../../../bench/simulation/cells/redis/commands.ts";
import { type Database, RedisError } from "../../../bench/simulation/cells/redis/database.ts";
import { connectRedis, type RedisLink, type RedisValue } from "../../../src/cluster/cells/redis/redis.ts";
import { startRedis, type TestRedis } from "../../support/redis-server.ts";

interface Ran {
  readonly name: string;
  readonly args: readonly string[];
  readonly reply: Reply | RedisError;
  readonly atMs: number;
  /** Keys that end, after it. */
  readonly ends: readonly (readonly [key: string, ms: number])[];
}

type OnRun = (name: string, args: readonly string[], reply: Reply | RedisError, has: Database) => void;

const TIME = "{weir}:test_time";
const RUN = "{weir}:test_run";
/** What is not of rows, and pages, which a real one divides as it likes. */
const LEFT_OUT = new Set(["PUBLISH", "CONFIG"]);
const PAGES = /redis\.call\("H?SCAN"/;
const READS: Readonly<Record<string, readonly string[]>> = {
  hash: ["HGETALL"],
  set: ["SMEMBERS"],
  string: ["GET"],
  list: ["LRANGE", "0", "-1"],
  zset: ["ZRANGE", "0", "-1", "WITHSCORES"],
};

/** The clock and the id of the process come from keys; what ends by the real clock does not end in the test. */
const twinOf = (script: string): string =>
  script
    .replaceAll('redis.call("TIME")', `redis.call("LRANGE", "${TIME}", 0, 1)`)
    .replaceAll('redis.call("INFO", "server")', `redis.call("GET", "${RUN}")`)
    .replace("local FROZEN_MS = 300", "local FROZEN_MS = 300000")
    .replace("local TICKET_MS = 500", "local TICKET_MS = 500000");

export class RealTwin {
  readonly #redis: TestRedis;
  readonly #link: RedisLink;
  #ran: Ran[] = [];
  #has: Database | undefined;

  private constructor(redis: TestRedis, link: RedisLink) {
    this.#redis = redis;
    this.#link = link;
  }

  static async start(): Promise<RealTwin> {
    const redis = await startRedis();
    const link = connectRedis({ url: redis.url, log: { warn() {} } });
    await link.ready(5000);
    return new RealTwin(redis, link);
  }

  async stop(): Promise<void> {
    this.#link.close();
    await this.#redis.stop();
  }

  /** @returns how many commands were recorded */
  async record(run: (onRun: OnRun) => Promise<unknown>): Promise<number> {
    this.#ran = [];
    await run((name, args, reply, has) => {
      this.#ran.push({ name, args, reply, atMs: has.now(), ends: has.ends() });
      this.#has = has;
    });
    return this.#ran.length;
  }

  /** What differs, as far as there is something. */
  async differences(): Promise<string[]> {
    await this.#link.call("FLUSHALL");
    const found: string[] = [];
    let ends: Ran["ends"] = [];
    for (const [at, ran] of this.#ran.entries()) {
      const over = ends.filter(([, ms]) => ms <= ran.atMs).map(([key]) => Buffer.from(key, "latin1"));
      if (over.length > 0) await this.#link.call("DEL", ...over);
      ends = ran.ends;
      if (LEFT_OUT.has(ran.name) || PAGES.test(ran.args[0] ?? "")) continue;
      const [reply, real] = [plain(ran.reply), await this.#ask(ran)];
      if (JSON.stringify(reply) !== JSON.stringify(real))
        found.push(`${at} ${ran.name}: ${JSON.stringify(reply)} and ${JSON.stringify(real)}`.slice(0, 2000));
      if (found.length >= 3) return found;
    }
    return [...found, ...(await this.#rowDifferences())];
  }

  async #rowDifferences(): Promise<string[]> {
    await this.#link.call("DEL", TIME, RUN);
    const wanted = this.#has?.contents() ?? new Map<string, string[]>();
    const keys = (await this.#link.call("KEYS", "*")) as Buffer[];
    const found: string[] = [];
    for (const key of keys) {
      const name = key.toString("latin1");
      const [command = "", ...rest] = READS[String(await this.#link.call("TYPE", key))] ?? [];
      if (command === "") continue;
      const real = [plain(await this.#link.call(command, key, ...rest))].flat().sort();
      const has = [...(wanted.get(name) ?? [])].sort();
      wanted.delete(name);
      if (JSON.stringify(real) !== JSON.stringify(has)) found.push(`${name}: ${has} and ${real}`);
    }
    return [...found, ...[...wanted.keys()].map((name) => `${name} is missing`)];
  }

  async #ask({ name, args, atMs, reply }: Ran): Promise<unknown> {
    const [first = "", ...rest] = args;
    const ms = Math.floor(atMs);
    await this.#link.call("DEL", TIME);
    await this.#link.call("RPUSH", TIME, String(Math.floor(ms / 1000)), String((ms % 1000) * 1000));
    // What a process is called, its first exchange tells.
    if (first.includes('"INFO"') && Array.isArray(reply))
      await this.#link.call("SET", RUN, `run_id:${String(reply[0])}`);
    const all = [name === "EVAL" ? twinOf(first) : first, ...rest];
    try {
      return plain(await this.#link.call(name, ...all.map((text) => Buffer.from(text, "latin1"))));
    } catch (error) {
      return `error ${(error as Error).message.split(" ")[0]}`;
    }
  }
}

/** Both kinds of replies in one form; members of a set have no order. */
function plain(reply: Reply | RedisError | RedisValue): unknown {
  if (reply instanceof RedisError) return `error ${reply.message.split(" ")[0]}`;
  if (reply === OK) return "OK";
  if (Buffer.isBuffer(reply)) return reply.toString("latin1");
  if (!Array.isArray(reply)) return reply;
  const list = reply.map((one) => plain(one as Reply));
  return list.every((one) => typeof one === "string") ? list.sort() : list;
}
