/** A cell that stops: calls that are on their way to it are answered, and their clients go to the other cells. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { initDataset } from "../../../src/cluster/cells/init/init.ts";
import { startGateway } from "../../../src/host/gateway/gateway.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { environment, prepareFolder, removeFolder } from "../../support/gateway.ts";
import { missingRedis, startRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";

/** A connection that a cell has accepted, and what came over it. */
async function opened(port: number): Promise<{ readonly socket: Socket; readonly text: () => string }> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  await once(socket, "connect");
  return { socket, text: () => text };
}

const SHUTDOWN_MS = 12_000;
/** More than a sixth of it, in which every client had to be gone once. */
const LONG_MS = 2500;

interface Asked {
  readonly content?: string;
  readonly stream?: boolean;
}

/** A chat call as it is sent over a connection. */
function chat(key: string, { content = "Hi", stream = false }: Asked = {}): string {
  const body = JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content }], stream });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}`;
  return `${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** The last answer over a connection. */
const lastOf = (text: string): string => text.slice(text.lastIndexOf("HTTP/1.1 "));

function expectLastWords(text: string): void {
  const answer = lastOf(text);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
  expect(answer).toContain('"choices"');
}

/** A cell that has its port to itself, as behind a proxy. */
async function startCell() {
  const simulator = await startSimulator({});
  const options = { engine: false, settings: { timeouts: { shutdown_ms: SHUTDOWN_MS } } };
  const folder = prepareFolder(options, simulator.url);
  const redis = await startRedis();
  const shared = { redisUrl: redis.url, redisReplicas: 0 };
  const log = pino({ level: "silent" });
  const env = { ...environment(options, folder, simulator.url), CELL: "only", REDIS_URL: redis.url };
  const config = readConfig({ ...env, WEIR_SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") });
  await initDataset(config, { redisUrl: redis.url, log });
  const gateway = await startGateway(config, log, { droppedLogLines: () => 0, shared });
  return {
    port: Number(new URL(gateway.url).port),
    key: readFileSync(join(config.dataDir, "first-key"), "utf8").trim(),
    stop: () => gateway.stop(),
    async close() {
      await redis.stop();
      await simulator.close();
      removeFolder(folder);
    },
  };
}

test.skipIf(missingRedis())(
  "calls over connections of before its stop are served, and these are closed",
  async () => {
    const cell = await startCell();
    // As a proxy's that was opened for a call, and one that was used before.
    const [fresh, kept] = [await opened(cell.port), await opened(cell.port)];
    kept.socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await until("the one is kept for more", () => kept.text().includes("200 OK"));
    const stopped = cell.stop();
    const isRefused = async () => {
      const one = await opened(cell.port).catch(() => undefined);
      one?.socket.destroy();
      return one === undefined;
    };
    await until("it takes no more connections", isRefused);
    for (const { socket } of [fresh, kept]) socket.write(chat(cell.key));
    for (const { socket, text } of [fresh, kept]) {
      await until("the connection is closed", () => socket.closed);
      expectLastWords(text());
    }
    await stopped;
    await cell.close();
  },
);

test.skipIf(missingRedis())(
  "answers that take long are whole, and calls behind them over their connections are served",
  async () => {
    const cell = await startCell();
    const [streamed, whole, late] = [
      await opened(cell.port),
      await opened(cell.port),
      await opened(cell.port),
    ];
    const gapMs = LONG_MS / 10;
    streamed.socket.write(chat(cell.key, { content: `[[sim tokens=10 gap_ms=${gapMs}]]`, stream: true }));
    const slow = { content: `[[sim first_ms=${LONG_MS}]]` };
    whole.socket.write(chat(cell.key, slow));
    await until("the stream has begun", () => streamed.text().includes("data: "));
    const stopped = cell.stop();
    late.socket.write(chat(cell.key, slow));
    await until("the stream is over", () => streamed.text().endsWith("\r\n0\r\n\r\n"));
    // It had begun before its client could be told to connect anew.
    streamed.socket.write(chat(cell.key));
    await until("the whole answer is there", () => whole.text().includes('"choices"') || whole.socket.closed);
    whole.socket.write(chat(cell.key));
    for (const { socket, text } of [streamed, whole, late]) {
      await until("the connection is closed", () => socket.closed);
      expectLastWords(text());
    }
    await stopped;
    await cell.close();
  },
);
