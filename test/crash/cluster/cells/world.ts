/**
 * The real supervisor with its cells, Redis and ClickHouse, and what a test does to them: kill -9, stops, looks at metrics, at Redis
 * and at the tables.
 */
import { strict as assert } from "node:assert";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Agent, request } from "undici";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { startSimulator } from "../../../../simulator/simulator.ts";
import { connectRedis, type RedisLink } from "../../../../src/cluster/cells/redis/redis.ts";
import { redisSocketIn } from "../../../../src/cluster/supervisor/asked-redis.ts";
import { putAnalyticsTables } from "../../../support/analytics-folder.ts";
import { removeFolder, seededFolder } from "../../../support/gateway.ts";
import { addOrgs, type OrgSpec } from "../../../support/money/orgs.ts";
import { place } from "../../../support/process.fixtures.ts";
import { writeSettings } from "../../../support/settings.fixtures.ts";
import { lives, type Running, redisPid, startAt } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";

/** Micro-USD a token of `test/model`, out; tokens in cost nothing, so that a call with `max_tokens` holds what it costs. */
export const OUTPUT_PRICE = 10;

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export interface Asked {
  readonly body?: object;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is wrong with an installation at rest; `until` waits for it to be "". */
type Fault = string;

/** Gauges that are 0 where no call is under way. */
const AT_REST = [
  "weir_calls_live",
  "weir_calls_draining",
  "weir_holds_open",
  "weir_held_micro_usd",
  "weir_budget_holds_open",
  "weir_slots_taken",
  "weir_cell_acts_pending",
];
/** Gauges that are 0 where all that was recorded is in ClickHouse. */
const RECORDED = ["weir_outbox_rows", "weir_ledger_rows"];

const ANSWER_MS = 30_000;

export class CellsWorld {
  readonly cells: Running;
  readonly count: number;
  readonly link: RedisLink;
  readonly key: string;
  readonly operatorKey: string;
  readonly orgId: string;
  readonly #atRest: readonly string[];

  constructor(
    cells: Running,
    link: RedisLink,
    { count, orgId, engine }: { readonly count: number; readonly orgId: string; readonly engine: boolean },
  ) {
    this.cells = cells;
    this.#atRest = engine ? [...AT_REST, ...RECORDED] : AT_REST;
    this.count = count;
    this.link = link;
    this.orgId = orgId;
    this.key = cells.where.key();
    this.operatorKey = readFileSync(join(cells.where.dataDir, "operator-key"), "utf8").trim();
  }

  /** One request to whichever cell the system gives the connection. @throws Error where the connection is cut */
  async ask(method: string, path: string, asked: Asked = {}, agent?: Agent): Promise<Answered> {
    const own = agent ?? new Agent(AGENT);
    try {
      const { body, key = this.key, headers } = asked;
      const answer = await request(`${this.cells.where.url}${path}`, {
        method: method as "GET",
        dispatcher: own,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } finally {
      if (agent === undefined) await own.destroy();
    }
  }

  /** The same, asked until it is answered well. */
  async read<T>(path: string, key = this.key): Promise<T> {
    let json: T | undefined;
    let last = "";
    await until(`${path} is answered`, async () => {
      const answer = await this.ask("GET", path, { key }).catch((error: Error) => {
        last = error.message;
      });
      if (answer === undefined) return false;
      last = `${answer.status} ${answer.text.slice(0, 300)}`;
      if (answer.status === 200) json = JSON.parse(answer.text);
      return json !== undefined;
    }).catch((error: Error) => assert.fail(`${error.message}: ${last}`));
    return json as T;
  }

  /** What each cell that answers measures, by its name. */
  async metrics(): Promise<Map<string, string>> {
    const pages = new Map<string, string>();
    for (const line of (await this.cells.metrics()).split("\n")) {
      const cell = /cell="([^"]+)"/.exec(line)?.[1];
      // What the supervisor says of a cell is there where the cell is silent, too.
      if (cell === undefined || /^weir_cell_(up|restarts_total)/.test(line)) continue;
      pages.set(cell, `${pages.get(cell) ?? ""}${line}\n`);
    }
    return pages;
  }

  /**
   * What `look` finds at each cell, by the cell's name: connections are made until all have been met.
   * @param look gets a connection to the cell, and its name
   */
  async atEach<Found>(look: (agent: Agent, cell: string) => Promise<Found>): Promise<Map<string, Found>> {
    const found = new Map<string, Found>();
    for (let tries = 0; found.size < this.count && tries < 50 * this.count; tries++) {
      const agent = new Agent(AGENT);
      const cell = await this.cellAt(agent).catch(() => undefined);
      if (cell !== undefined && !found.has(cell)) found.set(cell, await look(agent, cell));
      await agent.destroy();
    }
    return found;
  }

  /** Name of the cell that has the connection: it says so where it is asked for metrics. @throws Error where the connection is cut */
  async cellAt(agent: Agent): Promise<string | undefined> {
    const { text } = await this.ask("GET", "/metrics", {}, agent);
    return /This is cell ([\w.-]+),/.exec(text)?.[1];
  }

  /** Redis's answer to a question about a hash, list or set; undefined while Redis is away. */
  async redis(command: string, ...args: (string | number)[]): Promise<string[] | undefined> {
    try {
      const answer = await this.link.call(command, ...args);
      return Array.isArray(answer) ? answer.map(String) : [String(answer)];
    } catch {
      return undefined;
    }
  }

  async hash(name: string): Promise<Map<string, string> | undefined> {
    const fields = await this.redis("HGETALL", `{weir}:${name}`);
    if (fields === undefined) return undefined;
    const found = new Map<string, string>();
    for (let at = 0; at < fields.length; at += 2) found.set(fields[at] as string, fields[at + 1] as string);
    return found;
  }

  /** Rows of the installation's ClickHouse, each a list of texts. @throws Error where it does not answer */
  async sql(query: string): Promise<string[][]> {
    const engine = JSON.parse(readFileSync(join(this.cells.where.dataDir, "clickhouse.json"), "utf8"));
    const login = Buffer.from(`${engine.username}:${engine.password}`).toString("base64");
    const answer = await request(engine.url, {
      method: "POST",
      body: `${query} FORMAT TSV`,
      headers: { authorization: `Basic ${login}` },
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(text);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split("\t"));
  }

  /** Waits until all cells serve; a failure says what they logged. */
  async allReady(): Promise<void> {
    await this.cells.allReady().catch((error: Error) => assert.fail(`${error.message}\n${this.said()}`));
  }

  /** Waits until all cells serve and nothing is held, leased, claimed or on its way anywhere. */
  async atRest(orgIds: readonly string[] = [this.orgId]): Promise<void> {
    await this.allReady();
    let fault: Fault = "";
    await until("nothing is held", async () => {
      fault = (await this.#redisFault(orgIds)) || (await this.#metricsFault());
      return fault === "";
    }).catch((error: Error) => assert.fail(`${error.message}: ${fault}\n${this.said()}`));
  }

  /** What the cells and the supervisor logged last. */
  said(): string {
    return this.cells.output().slice(-3000);
  }

  async #metricsFault(): Promise<Fault> {
    const pages = await this.metrics();
    if (pages.size < this.count) return `only ${[...pages.keys()].join(", ")} answer`;
    for (const [cell, page] of pages) {
      const busy = this.#atRest.filter((name) => figureOf(page, name) !== 0);
      if (busy.length > 0)
        return `${cell}: ${busy.map((name) => `${name} ${figureOf(page, name)}`).join(", ")}`;
    }
    return "";
  }

  async #redisFault(orgIds: readonly string[]): Promise<Fault> {
    const names = Array.from({ length: this.count }, (_, i) => `local-${i + 1}`);
    for (const name of ["leases", "budget_leases", "claims"])
      for (const cell of names) {
        const found = await this.redis("SMEMBERS", `{weir}:${name}:${cell}`);
        if (found?.length !== 0) return `${name} of ${cell}: ${found ?? "Redis is away"}`;
      }
    const claims = await this.hash("claims");
    if (claims?.size !== 0) return `claims: ${claims === undefined ? "Redis is away" : [...claims.keys()]}`;
    for (const orgId of orgIds)
      for (const name of [`credit:${orgId}`, `spend:o:${orgId}`]) {
        const found = await this.hash(name);
        if (found === undefined) return "Redis is away";
        const rest = [...found].filter(([field, value]) => /^[lh](:|$)/.test(field) && value !== "0");
        if (rest.length > 0) return `${name}: ${rest.join(" ")}`;
      }
    return "";
  }

  /** The sums of leases and of holds that Redis keeps are those of its cells, at any moment. @throws AssertionError */
  async assertLeasesAddUp(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const found = await this.hash(name);
      if (found === undefined) return;
      for (const kind of ["l", "h"]) {
        const parts: [string, string][] = [...found].filter(([field]) => field.startsWith(`${kind}:`));
        const sum: number = parts.reduce((all, [, value]) => all + Number(value), 0);
        assert.equal(
          Number(found.get(kind) ?? 0),
          sum,
          `${name}: ${kind} is not the sum of its cells' parts`,
        );
      }
      if (name.startsWith("credit:")) {
        const [balance, leases] = [Number(found.get("b") ?? 0), Number(found.get("l") ?? 0)];
        assert.ok(leases <= Math.max(balance, 0), `${name}: ${leases} are leased of ${balance}`);
      }
    }
  }

  async pidsUp(): Promise<number[]> {
    const known = (await this.cells.status())?.cells ?? [];
    return known.flatMap(({ pid, state }) => (pid !== undefined && state === "ready" ? [pid] : []));
  }

  async redisPid(): Promise<number> {
    return await redisPid(this.cells);
  }

  async enginePid(): Promise<number> {
    return (await this.cells.status())?.engine?.pid ?? 0;
  }
}

/** @throws AssertionError where the page has no such metric */
export function figureOf(page: string, name: string): number {
  const line = page.split("\n").find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`));
  assert.ok(line !== undefined, `${name} is not among the metrics`);
  return Number(line.slice(line.lastIndexOf(" ")));
}

/** One connection at a time, so that a client stays with a cell until it asks for another connection. */
export const AGENT = { connections: 1, pipelining: 1, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS };

export function signal(pid: number, name: NodeJS.Signals): void {
  if (pid > 0 && lives(pid)) process.kill(pid, name);
}

export interface WorldOptions<Name extends string> {
  readonly engine: boolean;
  readonly orgs: Readonly<Record<Name, OrgSpec>>;
  /** `weir.yaml` */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The list of `plans.yaml`; without it there is only the plan `local`. */
  readonly plans?: readonly Readonly<Record<string, unknown>>[];
  /** More variables of the environment, which the supervisor passes on to its cells. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `count` cells on a folder that a gateway alone has used, with the orgs of `specs`. */
export async function startWorld<Name extends string>(
  count: number,
  { engine, orgs, settings = {}, plans, env }: WorldOptions<Name>,
): Promise<{ readonly world: CellsWorld; readonly secrets: Readonly<Record<Name, string>> }> {
  const simulator = await startSimulator({ keepBodyBytes: 0 });
  onTestFinished(() => simulator.close());
  const where = await place({
    LOG_LEVEL: "warn",
    SIMULATOR_URL: simulator.url,
    ...(engine && { CLICKHOUSE_URL: "" }),
    ...env,
  });
  const configDir = where.env.CONFIG_DIR as string;
  addModel(configDir);
  writeSettings(configDir, { settings, ...(plans && { plans }) });
  let orgId = "";
  const seeded = await seededFolder((_, first) => {
    orgId = first.orgId;
  });
  onTestFinished(() => removeFolder(seeded));
  const secrets = await addOrgs(seeded, orgs);
  cpSync(join(seeded, "data"), where.dataDir, { recursive: true });
  if (engine) putAnalyticsTables(where.dataDir);
  const cells = startAt(where, count);
  await cells.allReady();
  const socket = redisSocketIn(join(where.dataDir, "redis"));
  const link = connectRedis({ url: socket.path, log: { warn() {} } });
  onTestFinished(() => {
    link.close();
    socket.release();
  });
  await link.ready(5000);
  return { world: new CellsWorld(cells, link, { count, orgId, engine }), secrets };
}

function addModel(configDir: string): void {
  const file = join(configDir, "models/test.yaml");
  mkdirSync(dirname(file), { recursive: true });
  const endpoint = { provider: "simulator", upstream_model: "sim-test", region: "local" };
  const model = {
    id: "test/model",
    name: "Test model",
    modalities: { in: ["text"], out: ["text"] },
    context: 1_000_000,
    max_output: 100_000,
    capabilities: [],
    endpoints: [{ ...endpoint, price: { input: 0, output: OUTPUT_PRICE, free: true } }],
  };
  writeFileSync(file, stringify({ vendor: "test", models: [model] }));
}
