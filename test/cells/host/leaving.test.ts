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

/** A cell that has its port to itself, as behind a proxy. */
async function startCell() {
  const simulator = await startSimulator({});
  const options = { engine: false };
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
    const body = JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }] });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${cell.key}`;
    for (const { socket } of [fresh, kept])
      socket.write(
        `${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    for (const { socket, text } of [fresh, kept]) {
      await until("the connection is closed", () => socket.closed);
      const answer = text().slice(text().lastIndexOf("HTTP/1.1 "));
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
      expect(answer).toContain('"choices"');
    }
    await stopped;
    await cell.close();
  },
);
