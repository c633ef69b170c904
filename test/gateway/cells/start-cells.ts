/**
 * Several cells of one installation, in this process, behind a proxy that gives each request to the next one: tests of one gateway run
 * against them unchanged (`WEIR_TEST_CELLS`).
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import type { Logger } from "pino";
import { startIdentityProvider } from "../../../simulator/identity/identity-provider.ts";
import { createDataset, type DatasetRow, datasetId } from "../../../src/cells/dataset.ts";
import { joinDataset, membershipOf } from "../../../src/cells/membership.ts";
import { connectRedis } from "../../../src/cells/redis.ts";
import { systemClock, systemRandom } from "../../../src/clock.ts";
import { readConfig } from "../../../src/config.ts";
import { isSharedTable } from "../../../src/gateway/cells.ts";
import { type Gateway, startGateway } from "../../../src/gateway/gateway.ts";
import { MASTER_KEY_FILE } from "../../../src/installation/master-key.ts";
import { openStore } from "../../../src/store/store.ts";
import { keyText } from "../../../src/store/table.ts";
import { startRedis } from "../../unit/cells/redis-server.ts";

type Env = Readonly<Record<string, string>>;

/** The store's own tables. */
const STORES_OWN = ["journal", "log_trims", "process"];

/**
 * Makes the dataset from the folder that the environment names, and starts `count` cells: the first on that folder, the others on
 * new ones. The gateway that is returned is all of them: its address is the proxy's.
 */
export async function startCells(env: Env, log: Logger, count: number): Promise<Gateway> {
  const dataDir = env.DATA_DIR as string;
  // A first start makes what the dataset begins with.
  if (!existsSync(join(dataDir, "weir.lmdb"))) await (await startGateway(readConfig(env), log)).stop();
  const redis = await startRedis();
  const folders = mkdtempSync(join(tmpdir(), "weir-cells-"));
  await makeDataset(dataDir, redis.url);
  const proxy = await startProxy();
  const identity =
    env.OIDC_ISSUER === undefined ? await identityFor(proxy.url, join(dataDir, "identity")) : undefined;
  const masterKey = env.WEIR_SECRETS_KEY ?? readFileSync(join(dataDir, MASTER_KEY_FILE), "utf8").trim();
  const common = {
    PUBLIC_URL: proxy.url,
    WEIR_SECRETS_KEY: masterKey,
    ...identity?.env,
    ...env,
  };
  const shared = { redisUrl: redis.url };
  const gateways: Gateway[] = [];
  for (let at = 0; at < count; at++) {
    const folder = at === 0 ? dataDir : join(folders, `cell-${at}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const config = readConfig({ ...common, DATA_DIR: folder, CELL: `cell-${at}` });
    gateways.push(await startGateway(config, log, { droppedLogLines: () => 0, shared }));
  }
  proxy.serve(gateways.map(({ url }) => url));
  return {
    ...(gateways[0] as Gateway),
    url: proxy.url,
    reload: async () => void (await Promise.all(gateways.map((gateway) => gateway.reload()))),
    async stop() {
      proxy.close();
      for (const gateway of gateways) await gateway.stop();
      await identity?.close();
      await redis.stop();
      rmSync(folders, { recursive: true, force: true });
    },
  };
}

async function makeDataset(dataDir: string, redisUrl: string): Promise<void> {
  const file = open({ path: join(dataDir, "weir.lmdb"), maxDbs: 512, readOnly: true });
  const tables = [...file.getKeys()].map(String).filter((name) => !STORES_OWN.includes(name));
  await file.close();
  const local = openStore(dataDir);
  const link = connectRedis({ url: redisUrl, log: { warn() {} } });
  await link.ready(5000);
  const id = membershipOf(local) ?? datasetId();
  function* rows(): Generator<DatasetRow> {
    for (const table of tables.filter(isSharedTable)) {
      for (const { key, value } of local.bytes(table).range())
        yield { table, text: keyText(key), bytes: value };
    }
  }
  await createDataset(link, id, rows());
  await joinDataset(local, id);
  link.close();
  await local.close();
}

/** One identity provider for all cells: that of the simulator, which each gateway has for itself otherwise. */
async function identityFor(publicUrl: string, folder: string) {
  const [id, secret] = ["weir", randomBytes(32).toString("base64url")];
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const provider = await startIdentityProvider({
    port: 0,
    peopleFile: join(folder, "people.json"),
    clients: [
      {
        ...{ id, secret },
        redirectUris: [`${publicUrl}/auth/callback`],
        postLogoutRedirectUris: [`${publicUrl}/auth/login`],
        backchannelLogoutUri: `${publicUrl}/auth/backchannel-logout`,
      },
    ],
    ...{ clock: systemClock, random: systemRandom },
    report() {},
  });
  return {
    env: { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret },
    close: () => provider.close(),
  };
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
    else pass(incoming, response, new URL(url));
  });
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
