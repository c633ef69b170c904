/** Cells with detached calls: two in this process, and others as processes that are killed, retired, and started again on their folders. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { secretsKeyText } from "../../../../../src/cluster/cells/init/init.ts";
import { retire } from "../../../../../src/cluster/cells/membership/registry.ts";
import { connectRedis, type RedisLink } from "../../../../../src/cluster/cells/redis/redis.ts";
import { readConfig } from "../../../../../src/host/settings/config.ts";
import { type FaultProxy, startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import {
  type Answer,
  callsBy,
  environment,
  type GatewayOptions,
  removeFolder,
  type TestGateway,
  testGateway,
} from "../../../../support/gateway.ts";
import { charges } from "../../../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../../../support/spawned-gateway.ts";
import { LIMIT_MS, until } from "../../../../support/wait.ts";

/** Where calls are made, by the first live key. */
export interface At {
  readonly url: string;
  readonly liveKey: string;
}

/** What the provider "steady" says, in some tenths of a second. */
export const TOKENS = 8;

export const OPTIONS: GatewayOptions = {
  engine: true,
  endpoints: [
    { provider: "talks", instruction: { tokens: 40, gap_ms: 5 } },
    { provider: "brief", instruction: { tokens: 8, gap_ms: 5 } },
    { provider: "steady", instruction: { tokens: TOKENS, gap_ms: 50 } },
    { provider: "slow", instruction: { tokens: 100, gap_ms: 20 } },
    { provider: "stalls", instruction: { tokens: 100, fault: "stall", after: 20 } },
    { provider: "long", instruction: { total_bytes: 3_000_000, event_bytes: 500_000 } },
  ],
  settings: { timeouts: { keep_alive_ms: 0 }, operators: ["ops@example.test"] },
};

export interface Reading {
  /** All that it gets until its end, or until its connection is cut. */
  rest(): Promise<string>;
}

/** A reader that has got the first events of a call. @param last `Last-Event-ID` */
export async function readingAt(at: At, id: string, last?: string): Promise<Reading> {
  const response = await fetch(`${at.url}/v1/generation/${id}/stream`, {
    headers: { authorization: `Bearer ${at.liveKey}`, ...(last !== undefined && { "last-event-id": last }) },
  });
  expect(response.status).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const parts = [(await reader.read()).value ?? new Uint8Array()];
  return {
    async rest() {
      for (;;) {
        const read = await reader.read().catch(() => undefined);
        if (read === undefined || read.done) return Buffer.concat(parts).toString("latin1");
        parts.push(read.value);
      }
    },
  };
}

/** `svc` of calls that one provider answers. */
export const by = (provider: string) => ({ route: { providers: { only: [provider] } } });

/** What differs from the other cells. */
interface CellStart {
  /** Milliseconds. */
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly env?: Readonly<Record<string, string>>;
}

export class DetachedCells {
  readonly gateway: TestGateway;
  /** Before the second cell of this process. */
  readonly proxy: FaultProxy;
  readonly #link: RedisLink;
  readonly #folder = mkdtempSync(join(tmpdir(), "weir-detached-"));
  readonly #spawned = new Map<string, SpawnedGateway>();
  #datasetId = "";
  #clickhouse = "";

  private constructor(gateway: TestGateway, proxy: FaultProxy, link: RedisLink) {
    this.gateway = gateway;
    this.proxy = proxy;
    this.#link = link;
  }

  static async open(): Promise<DetachedCells> {
    const proxy = Promise.withResolvers<FaultProxy>();
    const gateway = await testGateway({
      ...OPTIONS,
      cells: 2,
      async between(redis) {
        const made = await startFaultProxy(redis.url);
        proxy.resolve(made);
        return [redis.url, made.url];
      },
    });
    const link = connectRedis({ url: gateway.redis?.url ?? "", log: { warn() {} } });
    await link.ready(LIMIT_MS);
    const all = new DetachedCells(gateway, await proxy.promise, link);
    const login = join(gateway.folder, "data/clickhouse.json");
    await until("the engine has said where it is", () => existsSync(login));
    const { url, username, password } = JSON.parse(readFileSync(login, "utf8"));
    const { host } = new URL(url);
    all.#clickhouse = `http://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${host}/weir`;
    all.#datasetId = String(await link.call("HGET", "{weir}:dataset", "id"));
    return all;
  }

  /** A cell of this process. */
  at(index: 0 | 1): At {
    return { url: this.gateway.cellUrls?.[index] ?? "", liveKey: this.gateway.liveKey };
  }

  /** Starts a cell as a process, on its folder. @throws Error where it ends before it serves */
  async start(name: string, { timeouts = {}, env = {} }: CellStart = {}): Promise<At> {
    const { folder, simulator, redis, url: PUBLIC_URL } = this.gateway;
    const config = readConfig(environment(OPTIONS, folder, simulator.url));
    const own = join(this.#folder, name);
    // The keys of the first start, which the spawned process's client reads.
    mkdirSync(join(own, "data"), { recursive: true, mode: 0o700 });
    for (const file of ["first-key", "first-test-key"])
      cpSync(join(folder, "data", file), join(own, "data", file));
    const cell = await spawnGateway({
      ...OPTIONS,
      settings: { timeouts: { keep_alive_ms: 0, ...timeouts } },
      folder: own,
      simulator,
      env: {
        CELL: name,
        REDIS_URL: redis?.url ?? "",
        WEIR_SECRETS_KEY: secretsKeyText(config),
        CLICKHOUSE_URL: this.#clickhouse,
        PUBLIC_URL,
        ...env,
      },
    });
    this.#spawned.set(name, cell);
    return { url: cell.url, liveKey: this.gateway.liveKey };
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#spawned.get(name)?.process.kill(signal);
  }

  /** Whether the process has ended by itself. */
  hasDied(name: string): boolean {
    const { exitCode, signalCode } = (this.#spawned.get(name) as SpawnedGateway).process;
    return exitCode !== null || signalCode !== null;
  }

  /** What Redis knows of the org's credit, in micro-USD: the balance, and what a cell has leased of it and holds for calls. */
  async creditAt(name: string): Promise<{ balance: number; leased: number; held: number }> {
    const [key] = (await this.#link.call("KEYS", "{weir}:credit:*")) as Buffer[];
    const fields = ["b", `l:${name}`, `h:${name}`];
    const found = (await this.#link.call("HMGET", String(key), ...fields)) as (string | null)[];
    const [balance = 0, leased = 0, held = 0] = found.map(Number);
    return { balance, leased, held };
  }

  /** kill -9 */
  async kill(name: string): Promise<void> {
    await this.#spawned.get(name)?.kill("SIGKILL");
    this.#spawned.delete(name);
  }

  /** SIGTERM: it gives back all that it leased. @returns its exit code */
  async stop(name: string): Promise<number | null | undefined> {
    const code = await this.#spawned.get(name)?.kill("SIGTERM");
    this.#spawned.delete(name);
    return code;
  }

  async retire(name: string): Promise<void> {
    expect(await retire(this.#link, this.#datasetId, name, 0)).toBe(true);
  }

  /** Ids of the detached calls that the cell told of, and how long the others still know of them; -1: for as long as the cell runs. */
  async told(name: string): Promise<{ readonly ids: readonly string[]; readonly leftMs: number }> {
    const lives = ((await this.#link.call("SMEMBERS", "{weir}:calls")) as Buffer[]).map(String);
    const key = `{weir}:calls:${lives.find((life) => life.startsWith(`${name}:`)) ?? ""}`;
    const ids = ((await this.#link.call("HKEYS", key)) as Buffer[]).map(String);
    return { ids, leftMs: Number(await this.#link.call("PTTL", key)) };
  }

  /** The cell told of a further call, like one that it told of, as one that is killed before it has stored anything of it. */
  async tellOf(name: string, like: string, id: string): Promise<void> {
    for (const key of await this.#toldBy(name)) {
      const said = await this.#link.call("HGET", key, like);
      if (said !== null) await this.#link.call("HSET", key, id, String(said).replaceAll(like, id));
    }
  }

  /** The cell took back what it told of a call, as ten minutes behind the call's end. */
  async takeBack(name: string, id: string): Promise<void> {
    for (const key of await this.#toldBy(name)) await this.#link.call("HDEL", key, id);
  }

  /** Keys of what each life of the cell told. */
  async #toldBy(name: string): Promise<string[]> {
    const lives = ((await this.#link.call("SMEMBERS", "{weir}:calls")) as Buffer[]).map(String);
    return lives.filter((life) => life.startsWith(`${name}:`)).map((life) => `{weir}:calls:${life}`);
  }

  /** Any route, at one cell. */
  async call({ url }: At, method: string, path: string): Promise<Answer> {
    return await callsBy(this.gateway, url, this.gateway.simulator).call(method, path);
  }

  /** What the ledger charged each call, entry by entry, once all is listed. Below zero. */
  async charges(): Promise<Map<string, number[]>> {
    return await charges(callsBy(this.gateway, this.at(0).url, this.gateway.simulator));
  }

  /** What the ledger charged a call, entry by entry. */
  async chargesOf(id: string): Promise<number[]> {
    return ((await this.charges()).get(id) ?? []).map((amount) => -amount);
  }

  /** How many records each call has. */
  async records(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (let cursor = ""; ; ) {
      const path = `/v1/requests?limit=500&cursor=${encodeURIComponent(cursor)}`;
      const { status, text, json } = await this.call(this.at(0), "GET", path);
      expect(status, text).toBe(200);
      for (const { request_id: id } of json.data as { request_id: string }[])
        found.set(id, (found.get(id) ?? 0) + 1);
      cursor = json.next_cursor;
      if (cursor === "") return found;
    }
  }

  /** The operator's list of what nobody was charged for. */
  async uncharged(): Promise<{ readonly request_id: string; readonly amount_micro_usd: number }[]> {
    const key = readFileSync(join(this.gateway.folder, "data/operator-key"), "utf8").trim();
    const answer = await fetch(`${this.at(0).url}/v1/operator/uncharged`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return ((await answer.json()) as { data: { request_id: string; amount_micro_usd: number }[] }).data;
  }

  async close(): Promise<void> {
    for (const name of [...this.#spawned.keys()]) await this.stop(name);
    this.#link.close();
    await this.gateway.stop();
    await this.proxy.close();
    removeFolder(this.#folder);
  }
}
