/**
 * Analytics away: killed, refused, hanging, or cut in the midst of answers. Calls do not notice; records wait and arrive,
 * each once.
 */
import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket, connect as tcpConnect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { killEngine } from "../../support/kill-engine.ts";
import {
  allRecords,
  auditedLedger,
  chargesOf,
  idle,
  metric,
  sum,
  usageCost,
} from "../../support/money/fixtures.ts";
import { rest } from "../../support/pace.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { until } from "../../support/wait.ts";

const CLIENTS = 4;
/** Between two calls of a client: enough calls to be under way at any moment, and a processor that is not busy with them alone. */
const PAUSE_MS = amount(15, 30);
/** How long ClickHouse is refused; `WEIR_OUTAGE_SECONDS=60` for the whole minute. */
const AWAY_MS = Number(process.env.WEIR_OUTAGE_SECONDS ?? amount(1.5, 0.5)) * 1000;
/** How long calls are made before, to know what is usual. */
const USUAL_MS = amount(500, 250);
const HANGING_MS = amount(1000, 500);
const CUTS = amount(25, 10);

/** A wire between the gateway and ClickHouse that can be cut, made to hang, or made to break now and then. */
class Wire {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  port = 0;
  hangs = false;

  constructor(target: number) {
    this.#target = target;
  }

  async join(): Promise<void> {
    const server = createServer((near) => this.#carry(near));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", () => resolve()));
    this.port = (server.address() as { port: number }).port;
  }

  /** Every connection dies; the port goes on taking new ones. */
  breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** From here on connections are refused. */
  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    this.breakAll();
    await closed;
  }

  #carry(near: Socket): void {
    const far = tcpConnect(this.#target, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("data", (bytes) => {
        if (!this.hangs) other.write(bytes);
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}

/** The one that a test calls. */
let gateway: TestGateway;
/** The one with an engine of its own, which is the other one's ClickHouse server as well. */
let embedded: TestGateway;
beforeAll(async () => {
  embedded = await testGateway({ engine: true });
});
afterAll(() => embedded.stop());

/** Calls from a few clients for as long as `until` takes: how long each took, in milliseconds. All must succeed. */
async function load(during: Promise<unknown>): Promise<number[]> {
  let over = false;
  const end = during.finally(() => {
    over = true;
  });
  const tookMs: number[] = [];
  const client = async (n: number) => {
    for (let i = n; !over; i++) {
      const from = performance.now();
      const { status } = await gateway.chat({ stream: i % 2 === 0, simulator: { tokens: 5 } });
      expect(status).toBe(200);
      tookMs.push(performance.now() - from);
      await rest(PAUSE_MS);
    }
  };
  await Promise.all([end, ...Array.from({ length: CLIENTS }, (_, n) => client(n))]);
  return tookMs.sort((a, b) => a - b);
}

/**
 * Calls take as long as usual while `act` lasts: the median, with room for a busy machine. A call that waited for ClickHouse
 * would take seconds. `act` runs again where others had the machine. Returns how many calls were made.
 */
async function expectUsual(act: () => Promise<unknown>, usualMs: number): Promise<number> {
  let calls = 0;
  const isUsual = await holdsUnlessCrowded(async () => {
    const tookMs = await load(act());
    calls += tookMs.length;
    return median(tookMs) < usualMs * 5 + 50;
  });
  expect(isUsual).toBe(true);
  return calls;
}

const median = (sorted: readonly number[]): number => sorted[sorted.length >> 1] as number;

/** Everything charged so far has its record, once. */
async function checkRecords(): Promise<void> {
  await idle(gateway);
  const charges = chargesOf(await auditedLedger(gateway));
  const records = await allRecords(gateway);
  expect(new Map([...records.values()].map((r) => [r.request_id, r.cost_micro]))).toEqual(charges);
  expect((await usageCost(gateway)).get("")).toBe(sum(charges.values()));
}

describe("T35: a ClickHouse server by URL", () => {
  let wire: Wire;
  let usualMs = 0;

  beforeAll(async () => {
    await until("the engine is up", async () => (await embedded.call("GET", "/v1/usage")).status === 200);
    const connection = readFileSync(join(embedded.folder, "data/clickhouse.json"), "utf8");
    const { url, username, password } = JSON.parse(connection);
    wire = new Wire(Number(new URL(url).port));
    await wire.join();
    const CLICKHOUSE_URL = `http://${username}:${password}@127.0.0.1:${wire.port}/outage`;
    gateway = await testGateway({ env: { CLICKHOUSE_URL } });
    usualMs = median(await load(rest(USUAL_MS)));
  });
  afterAll(async () => {
    await gateway.stop();
    await wire.cut();
  });

  test(
    "refused: calls go on, what needs it says so, records arrive afterwards",
    async () => {
      await wire.cut();
      const calls = await expectUsual(() => rest(AWAY_MS), usualMs);
      expect(await metric(gateway, "weir_outbox_rows")).toBeGreaterThan(calls / 2);
      await until("it is known to be away", async () => (await metric(gateway, "weir_analytics_live")) === 0);
      const { status, json } = await gateway.call("GET", "/v1/usage");
      expect([status, json.error.code]).toEqual([503, "analytics_unavailable"]);
      expect((await gateway.call("GET", "/readyz", { key: null })).status).toBe(200);
      // A call of this very moment is found all the same.
      const made = await gateway.chat();
      const found = await gateway.call("GET", `/v1/generation/${made.json.svc.request_id}`);
      expect(found.json.cost).toEqual(made.json.svc.cost);
      await wire.join();
      await checkRecords();
    },
    60_000 + AWAY_MS * 8,
  );

  test("hanging: calls go on", async () => {
    wire.hangs = true;
    await expectUsual(() => rest(HANGING_MS), usualMs);
    wire.hangs = false;
    wire.breakAll();
    await checkRecords();
  });

  test("cut in the midst of questions and answers: an insertion whose answer is lost is not made twice", async () => {
    const failures = () => metric(gateway, "weir_insert_failures_total");
    const before = await failures();
    const cuts = async () => {
      for (let i = 0; i < CUTS || (await failures()) === before; i++) {
        await rest(20 + ((i * 37) % 60));
        wire.breakAll();
        // Asks for a batch now: an insertion is under way at most times.
        void gateway.call("GET", "/v1/requests?limit=1");
      }
    };
    await expectUsual(cuts, usualMs);
    await checkRecords();
    expect(await failures()).toBeGreaterThan(before);
  });
});

describe("T35: the embedded engine", () => {
  test("killed under load: calls go on, it comes back, records arrive", async () => {
    gateway = embedded;
    const usualMs = median(await load(rest(USUAL_MS)));
    const killed = async () => {
      const restarts = await metric(gateway, "weir_engine_restarts_total");
      // It may just be started again.
      await until("there is one to kill", () => killEngine(process.pid));
      const isUp = async () => (await metric(gateway, "weir_engine_restarts_total")) > restarts;
      await until("it is up again", isUp);
      await until("it answers", async () => (await gateway.call("GET", "/v1/usage")).status === 200);
    };
    await expectUsual(killed, usualMs);
    await checkRecords();
  });
});
