/**
 * A whole gateway for tests: the real `startGateway` on a data folder of its own, in front of a simulator that the test can instruct and
 * watch. `spawnGateway` (`spawned-gateway.ts`) runs it as the process users run, for what only a process can show.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { pino } from "pino";
import { parse, stringify } from "yaml";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { type FirstStart, firstStart } from "../../src/account/first-start.ts";
import { AccountTables } from "../../src/account/tables.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openCredits } from "../../src/credits/ledger/credits.ts";
import { type Gateway, startGateway } from "../../src/host/gateway/gateway.ts";
import { readConfig } from "../../src/host/settings/config.ts";
import { openStore } from "../../src/store/store.ts";
import { putAnalyticsTables } from "./analytics-folder.ts";
import { httpCall } from "./http-client.ts";
import { writeSettings } from "./settings.fixtures.ts";
import { type OfCells, startCells } from "./start-cells.ts";
import { LIMIT_MS } from "./wait.ts";

const REPO = join(import.meta.dirname, "../..");
/** The project "any cell" of the tests has each gateway be several behind a proxy. */
const CELLS = Number(process.env.WEIR_TEST_CELLS ?? 0);

/** An endpoint of a model of the tests: what its upstream does to every call. */
export interface TestEndpoint {
  /** `test/model` unless told. */
  readonly model?: string;
  /** Provider id; also the endpoint's order under `svc.route.providers.order`. */
  readonly provider: string;
  /** Simulator instruction carried by the provider's address; see `simulator/README.md`. */
  readonly instruction?: Readonly<Record<string, unknown>>;
  /** Instead of the simulator; a closed port, for one. */
  readonly baseUrl?: string;
  /** `proxy` of the provider's YAML entry. */
  readonly proxy?: string;
  readonly price?: { readonly input: number; readonly output: number };
  /** What the provider speaks; chat unless told. */
  readonly dialects?: readonly string[];
  readonly quirks?: Readonly<Record<string, unknown>>;
  /** The environment variable that holds the provider's credential. */
  readonly credentialEnv?: string;
  /** What the provider does with data; keeps nothing and trains on nothing unless told. */
  readonly dataPolicy?: { readonly trains: boolean; readonly retention_days: number; readonly zdr: boolean };
  /** How the credential travels, where it is no bearer: `aws_sigv4`, … */
  readonly auth?: string;
  /** Not marked as simulated, so that test keys may not reach it. */
  readonly isReal?: boolean;
  /** Fields of the endpoint's YAML entry: `context`, `max_output`, `capabilities`, … */
  readonly entry?: Readonly<Record<string, unknown>>;
}

export interface GatewayOptions {
  /** Endpoints of `test/model` and of the models that they name, beside the shipped catalog. */
  readonly endpoints?: readonly TestEndpoint[];
  /** Fields of these models' YAML entries. */
  readonly model?: Readonly<Record<string, unknown>>;
  /** `weir.yaml`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The list of `plans.yaml`; without it there is only the plan `local`. */
  readonly plans?: readonly Readonly<Record<string, unknown>>[];
  /** `spawnGateway` puts `NODE_OPTIONS` behind those of the tests, without which each start strips all sources of their types. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * With ClickHouse in a child, for usage, feeds and reports. It costs more than the rest of a start: `testGateway` has it only
   * where it is asked for, `spawnGateway` unless it is told not to.
   */
  readonly engine?: boolean;
  /** Keep using a folder of an earlier gateway. */
  readonly folder?: string;
  /** So many cells behind a proxy, whatever the project of the tests asks for; 0: one alone. `between` says where they find Redis. */
  readonly cells?: number;
  readonly between?: Parameters<typeof startCells>[3];
  /** Lines of the operator's log are collected here. */
  readonly log?: string[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly json: any;
}

type CallOptions = { body?: unknown; key?: string | null; headers?: object };

export interface TestGateway extends OfCells {
  readonly url: string;
  readonly folder: string;
  readonly simulator: Simulator;
  readonly liveKey: string;
  readonly testKey: string;
  /** Any route; the live key unless `key` says otherwise (null: none). */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A chat completion of `weir/sim-small` unless the body says otherwise. */
  chat(body?: Record<string, unknown>, options?: { key?: string | null; headers?: object }): Promise<Answer>;
  openai(options?: { key?: string; maxRetries?: number; timeout?: number }): OpenAI;
  /** micro-USD. */
  balance(): Promise<{ available: number; held: number }>;
  reload(): Promise<void>;
  stop(): Promise<void>;
  /** Where a start would show one on a terminal: a link that signs the first owner in, once. */
  signInLink?(): string | undefined;
}

/** In this process. `stop` also removes its folder, unless the folder was given. */
export async function testGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const simulator = await startSimulator({});
  const cells = options.cells ?? CELLS;
  // Without ClickHouse cells cannot list their charges.
  const inProcess = { ...options, engine: options.engine ?? cells > 0 };
  const folder = prepareFolder(inProcess, simulator.url);
  const write = (line: string) => void options.log?.push(line);
  const log = options.log ? pino({ level: "debug" }, { write }) : pino({ level: "silent" });
  let gateway: Gateway & OfCells;
  try {
    const env = environment(inProcess, folder, simulator.url);
    gateway = await (cells === 0
      ? startGateway(readConfig(env), log)
      : startCells(env, log, cells, options.between));
  } catch (error) {
    await simulator.close();
    throw error;
  }
  const made = client(gateway.url, folder, simulator, {
    reload: () => gateway.reload(),
    stop: async () => {
      await gateway.stop();
      await simulator.close();
      if (options.folder === undefined) removeFolder(folder);
    },
  });
  const { cellUrls, redis, reloadAt, signInLink } = gateway;
  return Object.assign(made, { signInLink, cellUrls, redis, ...(reloadAt && { reloadAt }) });
}

/** An event stream read to its end: the parsed `data` of each event, `[DONE]` as a string. */
export async function events(response: Response): Promise<unknown[]> {
  return sseData(await response.text());
}

export const sseData = (text: string): unknown[] =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6))
    .map((data) => (data === "[DONE]" ? data : JSON.parse(data)));

/**
 * A new folder with what a first start makes and whatever `add` puts beside it: orgs and keys that no route can make.
 * For `GatewayOptions.folder`; the caller removes it.
 */
export async function seededFolder(
  add: (accounts: AccountTables, first: FirstStart) => void,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  const dataDir = join(folder, "data");
  const store = openStore(dataDir);
  const accounts = new AccountTables(store);
  const { book } = openCredits({ store, clock: systemClock });
  const first = await firstStart({
    accounts,
    clock: systemClock,
    dataDir,
    planId: "local",
    also: ({ orgId }) =>
      book.post(orgId, { kind: "grant", amountMicroUsd: 25_000_000, refType: "first_start", refId: orgId }),
  });
  await accounts.act(() => add(accounts, first as FirstStart));
  await store.close();
  return folder;
}

/** A gateway that was killed leaves an engine that writes there until it notices, a moment later. */
export const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });

/** A loopback port that nothing listens on. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The gateway's variables, with the fields of `options.env` above all. */
export function environment(
  options: GatewayOptions,
  folder: string,
  simulatorUrl: string,
): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    PORT: "0",
    DATA_DIR: join(folder, "data"),
    CONFIG_DIR: join(folder, "config"),
    SIMULATOR_URL: simulatorUrl,
    LOG_LEVEL: "warn",
    // Nothing listens there.
    ...(options.engine === false && { CLICKHOUSE_URL: "http://127.0.0.1:1" }),
    ...options.env,
  };
}

/** Writes the configuration. @returns the folder of data and configuration: a new one where `options` names none */
export function prepareFolder(options: GatewayOptions, simulatorUrl: string): string {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "weir-test-"));
  const config = join(folder, "config");
  mkdirSync(join(config, "models"), { recursive: true });
  cpSync(join(REPO, "config/models/weir.yaml"), join(config, "models/weir.yaml"));
  for (const name of ["supplier.yaml", "fx.yaml"]) cpSync(join(REPO, "config", name), join(config, name));
  const providers = shippedSimulators();
  for (const endpoint of options.endpoints ?? []) {
    const path = endpoint.instruction
      ? `/with/${encodeURIComponent(JSON.stringify(endpoint.instruction))}`
      : "";
    const baseUrl = endpoint.baseUrl ?? `${simulatorUrl}${path}/v1`;
    providers.push({
      ...provider(endpoint.provider, baseUrl),
      ...(endpoint.proxy !== undefined && { proxy: endpoint.proxy }),
      ...(endpoint.dialects && { dialects: endpoint.dialects }),
      ...(endpoint.quirks && { quirks: endpoint.quirks }),
      ...(endpoint.isReal && { simulated: false }),
      ...(endpoint.credentialEnv && { credential_env: [endpoint.credentialEnv] }),
      ...(endpoint.auth && { auth: endpoint.auth }),
      ...(endpoint.dataPolicy && { data_policy: endpoint.dataPolicy }),
    });
  }
  writeFileSync(join(config, "providers.yaml"), stringify({ providers }));
  if (options.endpoints)
    writeFileSync(join(config, "models/test.yaml"), stringify(testModels(options.endpoints, options.model)));
  if (options.folder === undefined && options.engine !== false && !options.env?.CLICKHOUSE_URL)
    putAnalyticsTables(join(folder, "data"));
  writeSettings(config, options);
  return folder;
}

/** The product's own entries of the simulator; their address is that of the environment. Read once: most tests start a gateway. */
let shipped: readonly Record<string, unknown>[] | undefined;

function shippedSimulators(): Record<string, unknown>[] {
  shipped ??= (
    parse(readFileSync(join(REPO, "config/providers.yaml"), "utf8")).providers as Record<string, unknown>[]
  ).filter(({ simulated }) => simulated === true);
  return [...shipped];
}

const provider = (id: string, baseUrl: string): Record<string, unknown> => ({
  id,
  name: id,
  base_url: baseUrl,
  dialects: ["chat"],
  simulated: true,
  data_policy: { trains: false, retention_days: 0, zdr: true },
  regions: ["local", "eu", "us"],
});

function testModels(endpoints: readonly TestEndpoint[], fields: GatewayOptions["model"]): object {
  const byModel = Map.groupBy(endpoints, ({ model = "test/model" }) => model);
  return {
    vendor: "test",
    models: [...byModel].map(([id, own]) => ({
      id,
      name: "Test model",
      modalities: { in: ["text", "image"], out: ["text"] },
      // Takes a million tokens of any kind, also where a rough estimate is far above the truth.
      context: 1_900_000,
      max_output: 100_000,
      capabilities: ["tools", "parallel_tools", "json_schema"],
      ...fields,
      endpoints: own.map((e) => ({
        provider: e.provider,
        upstream_model: "sim-test",
        region: "local",
        price: e.price ?? { input: 1, output: 2 },
        ...e.entry,
      })),
    })),
  };
}

/** What a test does with a gateway at an address. @param folder has the keys of its first start */
export function client(
  url: string,
  folder: string,
  simulator: Simulator,
  life: Pick<TestGateway, "reload" | "stop">,
): TestGateway {
  const read = (file: string) => readFileSync(join(folder, "data", file), "utf8").trim();
  const keys = { liveKey: read("first-key"), testKey: read("first-test-key") };
  return { folder, ...callsBy(keys, url, simulator), ...life };
}

export type TestCalls = Omit<TestGateway, "folder" | "reload" | "stop" | keyof OfCells>;

/** Calls by the keys of an org. */
export function callsBy(
  { liveKey, testKey }: Pick<TestGateway, "liveKey" | "testKey">,
  url: string,
  simulator: Simulator,
): TestCalls {
  const call: TestGateway["call"] = async (method, path, { body, key = liveKey, headers } = {}) => {
    const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const answer = await httpCall(method, `${url}${path}`, {
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(sent !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
      withinMs: LIMIT_MS,
    });
    if (answer === undefined) {
      const open = `the simulator has ${simulator.openCalls} calls open`;
      const asked = `${method} ${path} ${sent?.slice(0, 500)}`;
      throw new Error(`no answer within ${LIMIT_MS} ms to ${asked}; ${open}`);
    }
    const { status, text } = answer;
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status,
      headers: answer.headers,
      text,
      json: isJson && text !== "" ? JSON.parse(text) : undefined,
    };
  };
  return {
    url,
    simulator,
    liveKey,
    testKey,
    call,
    chat: (body = {}, options = {}) =>
      call("POST", "/v1/chat/completions", { body: { ...HELLO, ...body }, ...options }),
    openai: ({ key = liveKey, maxRetries = 0, timeout = LIMIT_MS } = {}) =>
      new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries, timeout }),
    async balance() {
      const { json } = await call("GET", "/v1/credits");
      return { available: json.available_micro_usd, held: json.held_micro_usd };
    },
  };
}

const HELLO = { model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] };
