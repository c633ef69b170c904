/**
 * The product as a newcomer starts it, with its own simulator and engine, takes very many calls, none like another, and questions beside
 * them: memory and descriptors stay as they were. Here because it measures the memory of a process.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import { enginesOf } from "../../support/kill-engine.ts";
import { metric } from "../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

const CALLS = amount(100_000, 8000);
/** What fills caches and pools, and has code compiled. */
const FIRST = 3000;
const CLIENTS = 16;
/** A statement on a machine of so many cores has so many threads. */
const CORES = 32;
const QUESTIONS = 200;
/** Three files of /proc for each of some fifty threads, and fifty others; by ClickHouse's defaults for servers there were 477. */
const MOST_DESCRIPTORS = 220;
/** What a collection has not freed yet, 6 MB here; with the scripts of 64 MB of replies kept it was 50, and 135 once there were as many. */
const MOST_GROWTH_MB = 30;

let gateway: SpawnedGateway;
beforeAll(async () => {
  gateway = await spawnGateway({ engine: true, env: { SIMULATOR_URL: "" }, settings: { grant_usd: 10_000 } });
});
afterAll(() => gateway?.stop());

const residentMb = (): number => {
  const [, kb = ""] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8")) ?? [];
  return Number(kb) / 1024;
};

async function calls(from: number, to: number): Promise<void> {
  let next = from;
  const client = async () => {
    while (next < to) {
      const { status } = await gateway.chat({
        messages: [{ role: "user", content: `Call ${next++}. [[sim tokens=64]]` }],
        stream: true,
      });
      if (status !== 200) throw new Error(`a call was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Asked at the engine itself, as analysts' tools ask. */
async function questions(): Promise<void> {
  const file = join(gateway.folder, "data", "clickhouse.json");
  const { url, username, password } = JSON.parse(readFileSync(file, "utf8"));
  let asked = 0;
  const client = async () => {
    while (asked++ < QUESTIONS) {
      const answer = await fetch(`${url}/?database=weir&max_threads=${CORES}`, {
        method: "POST",
        headers: { "x-clickhouse-user": username, "x-clickhouse-key": password },
        body: "SELECT model, uniqExact(request_id), max(duration_ms) FROM requests GROUP BY model FORMAT JSON",
      });
      if (!answer.ok) throw new Error(await answer.text());
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

test.skipIf(process.platform !== "linux")(
  `C7: ${CALLS} calls leave memory of the gateway and descriptors of its engine as they were`,
  async () => {
    await calls(0, FIRST);
    await questions();
    const before = residentMb();
    await calls(FIRST, CALLS);
    await questions();
    await until("the records are stored", async () => (await metric(gateway, "weir_outbox_rows")) === 0);
    expect(residentMb() - before).toBeLessThan(MOST_GROWTH_MB);
    const [engine = 0] = enginesOf(gateway.pid);
    expect(readdirSync(`/proc/${engine}/fd`).length).toBeLessThan(MOST_DESCRIPTORS);
  },
);
