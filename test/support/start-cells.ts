/**
 * Several cells of one installation, in this process, behind a proxy that gives each request to the next one: tests of one gateway run
 * against them unchanged (`WEIR_TEST_CELLS`).
 */
import { mkdirSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Engine, startEngine } from "../../src/analytics/engine/engine.ts";
import { systemClock } from "../../src/base/clock.ts";
import { Listeners } from "../../src/base/network/listeners.ts";
import { initDataset, secretsKeyText } from "../../src/cluster/cells/init/init.ts";
import type { KnownServices } from "../../src/cluster/supervisor/services.ts";
import { type Gateway, startGateway } from "../../src/host/gateway/gateway.ts";
import { openServices } from "../../src/host/services/services.ts";
import { readConfig } from "../../src/host/settings/config.ts";
import { missingRedis, startRedis, type TestRedis } from "./redis-server.ts";

type Env = Readonly<Record<string, string>>;

/** What a test can reach of cells beside their proxy. */
export interface OfCells {
  readonly cellUrls?: readonly string[] | undefined;
  readonly redis?: TestRedis | undefined;
  /** Has one of the cells read its catalog again. */
  reloadAt?(cell: number): Promise<void>;
}

/**
 * Makes the dataset from the folder that the environment names, and starts `count` cells: the first on that folder, the others and
 * Redis on folders beside it, where a later start finds what they wrote. The gateway that is returned is all of them: its address is
 * the proxy's.
 * @param between gives the address at which the cells find Redis, or that of each cell: of a proxy before it
 */
export async function startCells(
  env: Env,
  log: Logger,
  count: number,
  between: (redis: TestRedis) => Promise<string | readonly string[]> = async ({ url }) => url,
): Promise<Gateway & OfCells> {
  const reason = missingRedis();
  if (reason !== undefined) throw new Error(reason);
  const dataDir = env.DATA_DIR as string;
  const folders = makeFolders(dataDir, count);
  const ends: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const redis = await startRedis([], folders.redis);
    ends.push(() => redis.stop());
    await initDataset(readConfig(env), { redisUrl: redis.url, log });
    const proxy = await startProxy();
    ends.push(() => proxy.close());
    const listeners = new Listeners();
    const services = openServices(readConfig(env), { clock: systemClock, log, listeners });
    ends.push(() => services.close());
    const engine =
      env.CLICKHOUSE_URL === undefined
        ? startEngine(dataDir, log, { onListening: (port) => listeners.add("engine", port) })
        : undefined;
    ends.push(() => engine?.stop());
    const addresses = await between(redis);
    const redisUrlOf = (at: number) =>
      typeof addresses === "string" ? addresses : (addresses[at] as string);
    const common = { PUBLIC_URL: proxy.url, WEIR_SECRETS_KEY: secretsKeyText(readConfig(env)), ...env };
    const shareOf = sharing(services);
    const start = async (folder: string, at: number): Promise<Gateway> => {
      const config = readConfig({ ...common, DATA_DIR: folder, CELL: `cell-${at}` });
      const cell = {
        engine: engine && { engine: lentTo(engine), dataDir, inbox: `inbox-${at}` },
        services: shareOf(),
        machineDir: dataDir,
        hurry: Promise.resolve(),
        metricsUrl: undefined,
        portsOfMachine: () => services.state().ports,
      };
      const shared = { redisUrl: redisUrlOf(at), redisReplicas: 0 };
      const gateway = await startGateway(config, log, { droppedLogLines: () => 0, shared, cell });
      ends.push(() => gateway.stop());
      return gateway;
    };
    // All at once: a Redis that was started again lends nothing before every cell is there.
    const started = await Promise.allSettled(folders.cells.map(start));
    const failed = started.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    const gateways = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const cellUrls = gateways.map(({ url }) => url);
    proxy.serve(cellUrls);
    services.listensAt(Number(new URL(proxy.url).port));
    return {
      ...(gateways[0] as Gateway),
      url: proxy.url,
      cellUrls,
      redis,
      reload: async () => void (await Promise.all(gateways.map((gateway) => gateway.reload()))),
      reloadAt: async (cell) => await gateways[cell]?.reload(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** As a supervisor gives it to a cell, which does not end it with itself: the others may still have rows to insert. */
const lentTo = (engine: Engine): Engine => ({
  address: (withinMs) => engine.address(withinMs),
  pid: () => engine.pid(),
  restarts: () => engine.restarts(),
  setAnalysts: (users) => engine.setAnalysts(users),
  stop: () => Promise.resolve(),
});

function makeFolders(dataDir: string, count: number) {
  const beside = join(dataDir, "../cells");
  const cells = [dataDir];
  for (let at = 1; at < count; at++) cells.push(join(beside, `cell-${at}`));
  const redis = join(beside, "redis");
  for (const folder of [...cells, redis]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { cells, redis };
}

/** Gives each cell the services that all have, as their supervisor would. */
function sharing(services: KnownServices): () => KnownServices {
  const heard: (() => void)[] = [];
  services.onChange(() => {
    for (const changed of heard) changed();
  });
  return () => ({
    identity: () => services.identity(),
    payments: () => services.payments(),
    portal: () => services.portal(),
    forgetPerson: (sub) => services.forgetPerson(sub),
    firstPerson: () => services.firstPerson(),
    hasLink: services.hasLink,
    isLinkOpen: (token) => services.isLinkOpen(token),
    takeLink: (token) => services.takeLink(token),
    state: () => services.state(),
    onChange: (changed) => void heard.push(changed),
  });
}

interface Proxy {
  readonly url: string;
  serve(urls: readonly string[]): void;
  close(): void;
}

async function startProxy(): Promise<Proxy> {
  let urls: readonly string[] = [];
  let turn = 0;
  const server: Server = createServer((incoming, response) => {
    const url = urls[turn++ % urls.length];
    if (url === undefined) response.writeHead(503).end();
    else if (incoming.url === "/metrics") void sums(urls, response);
    else pass(incoming, response, new URL(url));
  });
  // A client that uses an idle connection in the moment in which it is closed fails.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    serve(given) {
      urls = given;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Metrics are those of one gateway, so who watches several adds them up. */
async function sums(urls: readonly string[], response: ServerResponse): Promise<void> {
  const sum = new Map<string, number>();
  const lines: string[] = [];
  let head: Response | undefined;
  for (const url of urls) {
    const page = await fetch(`${url}/metrics`);
    head ??= page;
    for (const line of (await page.text()).split("\n")) {
      const [, name, labels = "", value] = /^(\w+)(?:\{cell="[^"]*",?([^}]*)\})? (\S+)$/.exec(line) ?? [];
      const series = name === undefined ? line : `${name}${labels && `{${labels}}`}`;
      if (!sum.has(series)) lines.push(series);
      sum.set(series, (sum.get(series) ?? 0) + Number(value ?? 0));
    }
  }
  const headers = Object.fromEntries(head?.headers ?? []);
  delete headers["content-length"];
  response.writeHead(200, headers);
  response.end(
    lines.map((line) => (line === "" || line.startsWith("#") ? line : `${line} ${sum.get(line)}`)).join("\n"),
  );
}

function pass(incoming: IncomingMessage, response: ServerResponse, { hostname: host, port }: URL): void {
  const { method, url: path, headers } = incoming;
  const outgoing = httpRequest({ host, port, method, path, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  outgoing.on("error", () => response.destroy());
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}
