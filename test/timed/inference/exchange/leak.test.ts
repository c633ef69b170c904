/** More than a thousand calls of every kind, and nothing of them stays: neither memory nor slots, holds, timers or sockets. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { amount } from "../../../support/effort.ts";
import { closedPort } from "../../../support/gateway.ts";
import { atRest, metric, start } from "../../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { until } from "../../../support/wait.ts";

const ROUNDS = 5;
const CALLS_A_ROUND = amount(700, 270);

let gateway: SpawnedGateway;
beforeAll(async () => {
  gateway = await spawnGateway({
    endpoints: [
      { provider: "plain" },
      { provider: "talks", instruction: { tokens: 100, gap_ms: 2 } },
      { provider: "breaks", instruction: { fault: "reset_mid" } },
      { provider: "fails", instruction: { status: 500 } },
      { provider: "resets", instruction: { fault: "reset" } },
      { provider: "garbled", instruction: { fault: "half_json" } },
      { provider: "absent", baseUrl: `http://127.0.0.1:${await closedPort()}/v1` },
    ],
    settings: { grant_usd: 10_000 },
    env: { NODE_OPTIONS: "--expose-gc --import data:text/javascript,process.on('SIGUSR2',()=>gc())" },
  });
});
afterAll(() => gateway?.stop());

const large = "All the rivers run into the sea, yet the sea is not full. ".repeat(6000);

/** One call of a kind that its number decides; an abort in the midst is one of them. */
async function call(n: number): Promise<void> {
  const to = (...providers: string[]) => ({
    svc: { route: { providers: { order: providers, only: providers } } },
  });
  const read = async (body: object) => void (await (await start(gateway, body)).text());
  switch (n % 9) {
    case 0:
      return read({ ...to("plain") });
    case 1:
      return read({ stream: true, ...to("plain") });
    case 2:
      return read({ stream: true, ...to("fails", "plain") });
    case 3:
      return read({ stream: true, ...to("breaks") });
    case 4:
      return read({ ...to("resets", "absent", "garbled") });
    case 5:
      return read({ model: "no/such" });
    case 6:
      return read({ messages: [] });
    case 7:
      return n % 90 === 7
        ? read({ messages: [{ role: "user", content: large }], ...to("plain") })
        : read(to("absent"));
    default: {
      const going = new AbortController();
      const response = await start(gateway, { stream: true, ...to("talks") }, { signal: going.signal });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      going.abort();
    }
  }
}

async function round(): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < CALLS_A_ROUND) await call(next++);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  await atRest(gateway);
  // A read has all rows inserted at once: without it the wait below would be a second of looks.
  await gateway.call("GET", "/v1/requests?limit=1");
  await until("every record is stored", async () => (await metric(gateway, "weir_outbox_rows")) === 0);
}

/** Bytes in use, once they stop shrinking. Garbage is collected before each look, and else as Node sees fit. */
async function usedBytes(): Promise<number> {
  const read = async () => {
    gateway.process.kill("SIGUSR2");
    return (
      (await metric(gateway, "nodejs_heap_size_used_bytes")) +
      (await metric(gateway, "nodejs_external_memory_bytes"))
    );
  };
  let least = await read();
  for (let same = 0; same < 5; same++) {
    await new Promise((resolve) => setTimeout(resolve, 150));
    const now = await read();
    if (now < least - 100_000) same = 0;
    least = Math.min(least, now);
  }
  return least;
}

test(`T55, T65: heap, sockets and holds are after ${ROUNDS * CALLS_A_ROUND} mixed calls what they were before`, async () => {
  // The API reference is made a few seconds after the start, and kept.
  for (const path of ["/docs", "/openapi.json", "/schemas/policy.json"])
    await gateway.call("GET", path, { key: null });
  await round();
  await round();
  const first = await usedBytes();
  for (let i = 2; i < ROUNDS; i++) await round();
  const last = await usedBytes();
  const sockets = readdirSync(`/proc/${gateway.pid}/fd`).length;
  console.log(
    `in use after two rounds and after all: ${(first / 1e6).toFixed(1)}, ${(last / 1e6).toFixed(1)} MB; ${sockets} descriptors`,
  );
  // What caches and compiled code still gain, and 2 KB for each call that stayed.
  expect(last - first).toBeLessThan(amount(5_000_000, 3_500_000));
  expect(sockets).toBeLessThan(200);
});
