/** Cells of which one runs as a process that is killed: with a proxy before ClickHouse that holds back its entries of the ledger. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { secretsKeyText } from "../../../src/cluster/cells/init/init.ts";
import { retire } from "../../../src/cluster/cells/membership/registry.ts";
import { connectRedis, type RedisLink } from "../../../src/cluster/cells/redis/redis.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { environment, removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { LIMIT_MS, until } from "../../support/wait.ts";

const LOST = "lost";

export interface Entry {
  readonly seq: number;
  readonly kind: string;
  readonly amount_micro_usd: number;
  readonly created_at: string;
  readonly ref_type?: string;
  readonly ref_id?: string;
  readonly details?: { readonly first_seq: number; readonly last_seq: number; readonly entries: number };
}

export interface Listed {
  readonly entries: readonly Entry[];
  /** What the pages said; undefined where none lacked anything. */
  readonly incompleteSince: string | undefined;
}

export class LostFolder {
  readonly gateway: TestGateway;
  readonly #clickhouse: HeldClickHouse;
  readonly #link: RedisLink;
  readonly #folder = mkdtempSync(join(tmpdir(), "weir-lost-"));
  #datasetId = "";
  #lost: SpawnedGateway | undefined;

  private constructor(gateway: TestGateway, clickhouse: HeldClickHouse, link: RedisLink) {
    this.gateway = gateway;
    this.#clickhouse = clickhouse;
    this.#link = link;
  }

  static async open(): Promise<LostFolder> {
    const gateway = await testGateway({ cells: 2, engine: true });
    const link = connectRedis({ url: gateway.redis?.url ?? "", log: { warn() {} } });
    await link.ready(LIMIT_MS);
    const login = join(gateway.folder, "data/clickhouse.json");
    await until("the engine has said where it is", () => existsSync(login));
    const engine = JSON.parse(readFileSync(login, "utf8"));
    const all = new LostFolder(gateway, await HeldClickHouse.open(engine), link);
    // The keys of the first start, which the spawned process's client reads.
    mkdirSync(join(all.#folder, "data"), { mode: 0o700 });
    for (const file of ["first-key", "first-test-key"])
      cpSync(join(gateway.folder, "data", file), join(all.#folder, "data", file));
    all.#datasetId = String(await link.call("HGET", "{weir}:dataset", "id"));
    return all;
  }

  /** The cells that stay. */
  get urls(): readonly string[] {
    return this.gateway.cellUrls ?? [];
  }

  /** Starts the cell on its folder. */
  async start({ isHeld }: { readonly isHeld: boolean }): Promise<void> {
    this.#clickhouse.isHeld = isHeld;
    const { folder, simulator, redis } = this.gateway;
    const config = readConfig(environment({ engine: true }, folder, simulator.url));
    this.#lost = await spawnGateway({
      folder: this.#folder,
      simulator,
      engine: true,
      env: {
        CELL: LOST,
        REDIS_URL: redis?.url ?? "",
        WEIR_SECRETS_KEY: secretsKeyText(config),
        CLICKHOUSE_URL: this.#clickhouse.url,
        PUBLIC_URL: this.gateway.url,
      },
    });
  }

  /** So many calls, one after the other, at the cell that is lost, or at one that stays. Resolves once their charges have numbers. */
  async calls(count: number, at: "lost" | number): Promise<void> {
    const url = (at === "lost" ? this.#lost?.url : this.urls[at]) ?? "";
    const before = await this.newest();
    for (let n = 0; n < count; n++) {
      const answer = await this.#ask(url, "POST", "/v1/chat/completions", {
        model: "weir/sim-small",
        messages: [{ role: "user", content: "x".repeat(10 * (n + 1)) }],
      });
      expect(answer.status, answer.text).toBe(200);
    }
    await until("they have numbers", async () => (await this.newest()) === before + count);
  }

  /** Number of the newest entry. */
  async newest(): Promise<number> {
    return await this.#credit("n");
  }

  /** The balance, as Redis has it. */
  async balance(): Promise<number> {
    return await this.#credit("b");
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    await this.#lost?.kill(signal);
    this.#lost = undefined;
  }

  async retire(): Promise<void> {
    expect(await retire(this.#link, this.#datasetId, LOST, 0)).toBe(true);
  }

  /** What Redis knows of a cell that was killed at its first beat; or that it was retired. */
  async setAway(cell: string, isAway: boolean): Promise<void> {
    if (isAway) await this.#link.call("HSET", "{weir}:applied", cell, "1 1");
    else await this.#link.call("HDEL", "{weir}:applied", cell);
  }

  /** The list of one cell, page by page. */
  async list(url: string, limit: number, query = ""): Promise<Listed> {
    const entries: Entry[] = [];
    let incompleteSince: string | undefined;
    for (let cursor = ""; ; ) {
      const path = `/v1/credits/ledger?limit=${limit}${query}&cursor=${encodeURIComponent(cursor)}`;
      const { status, text } = await this.#ask(url, "GET", path);
      expect(status, text).toBe(200);
      const page = JSON.parse(text);
      entries.push(...page.data);
      incompleteSince ??= page.incomplete_since;
      cursor = page.next_cursor;
      if (cursor === "") return { entries, incompleteSince };
    }
  }

  async ask(url: string, path: string): Promise<{ readonly status: number; readonly text: string }> {
    return await this.#ask(url, "GET", path);
  }

  async close(): Promise<void> {
    this.#clickhouse.isHeld = false;
    await this.#lost?.stop();
    this.#link.close();
    await this.gateway.stop();
    await this.#clickhouse.close();
    removeFolder(this.#folder);
  }

  async #ask(url: string, method: string, path: string, body?: object) {
    const answer = await httpCall(method, `${url}${path}`, {
      headers: { authorization: `Bearer ${this.gateway.liveKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
      withinMs: LIMIT_MS,
    });
    if (answer === undefined) throw new Error(`no answer to ${method} ${path}`);
    return answer;
  }

  async #credit(field: "n" | "b"): Promise<number> {
    const [name = ""] = (await this.#link.call("KEYS", "{weir}:credit:*")) as Buffer[];
    return Number(await this.#link.call("HGET", String(name), field));
  }
}

/** ClickHouse as one cell finds it: while it is held, that cell inserts records, but no entries of the ledger. */
class HeldClickHouse {
  isHeld = false;
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async open(engine: { url: string; username: string; password: string }): Promise<HeldClickHouse> {
    const server = createServer((incoming, response) => {
      const statement = decodeURIComponent(incoming.url ?? "").replaceAll("+", " ");
      const isInsert = /INSERT INTO \W*ledger\b/.test(statement);
      if (held.isHeld && isInsert) {
        incoming.resume();
        return void response.writeHead(503).end();
      }
      const { method, headers, url } = incoming;
      const outgoing = request(`${engine.url.replace(/\/$/, "")}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(response);
      });
      outgoing.on("error", () => response.destroy());
      incoming.pipe(outgoing);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const login = `${encodeURIComponent(engine.username)}:${encodeURIComponent(engine.password)}`;
    const held = new HeldClickHouse(server, `http://${login}@127.0.0.1:${port}/weir`);
    return held;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
