/**
 * Bodies that arrive slowly, in part, or too many at once, over raw sockets: memory grows with what has arrived, all of them
 * together stay under one budget, small bodies pass beside them, and a slow one is told so.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BodyBudget, BodyShare } from "../../../src/edge/body/body-budget.ts";
import { longestTurn, WITNESSED } from "../../support/event-loop.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { HEALTH_MS, type HealthProbe, probeHealth, slowestMs } from "../../support/healthz.fixtures.ts";
import { atRest, metric } from "../../support/observations.ts";
import { holdsUnlessCrowded } from "../../support/processor-time.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

const MB = 1024 * 1024;
/** With `WEIR_SLOW_UPLOADS=1` the product's own budget; else a smaller one, for the same in seconds. */
const IS_LONG = process.env.WEIR_SLOW_UPLOADS === "1";
const BUDGET = (IS_LONG ? 512 : 128) * MB;
const UPLOADS = IS_LONG ? 500 : 100;
const HALF_OPEN = 1000;
/** Answers of `/healthz` beside them, at least. */
const LOOKS = 6;
/** A machine that stands still for a moment does so in one of them. */
const TRIES = 3;

describe("the budget", () => {
  const outcome = (share: BodyShare, bytes: number): string => {
    try {
      share.take(bytes);
      return "taken";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test("O9: an org's large bodies take half of it, all large ones three quarters, small ones the rest", () => {
    const budget = new BodyBudget(1_000_000);
    const one = new BodyShare(budget, "org_1");
    expect([outcome(one, 500_000), outcome(one, 1)]).toEqual(["taken", "concurrency"]);
    const other = new BodyShare(budget, "org_2");
    expect([outcome(other, 250_000), outcome(other, 1)]).toEqual(["taken", "concurrency"]);
    const small = Array.from({ length: 5 }, () => new BodyShare(budget, "org_1"));
    expect(small.map((share) => outcome(share, 60_000))).toEqual([...Array(4).fill("taken"), "concurrency"]);
    for (const share of [one, other, ...small, one]) share.release();
    expect(budget.bytes).toBe(0);
    expect(outcome(new BodyShare(budget, "org_1"), 500_000)).toBe("taken");
  });
});

class Client {
  text = "";
  closed = false;
  readonly #socket: Socket;

  constructor(gateway: TestGateway) {
    this.#socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    this.#socket.on("data", (data) => (this.text += data.toString("latin1")));
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => (this.closed = true));
  }

  /** Resolves when the bytes are on their way, or the connection is over. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(bytes, () => resolve());
    });
  }

  leave(): void {
    this.#socket.destroy();
  }

  get status(): number | undefined {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(this.text)?.[1];
    return status === undefined ? undefined : Number(status);
  }
}

const headOf = (gateway: TestGateway, ...lines: string[]) =>
  [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: weir",
    `Authorization: Bearer ${gateway.liveKey}`,
    ...lines,
    "",
    "",
  ].join("\r\n");

describe("beside a process of its own", () => {
  let gateway: SpawnedGateway;
  let probe: HealthProbe;
  const clients: Client[] = [];
  beforeAll(async () => {
    gateway = await spawnGateway({
      // Nothing listens there: nothing here reads analytics, and without the embedded engine a start is light.
      env: { ...WITNESSED, CLICKHOUSE_URL: "http://127.0.0.1:1" },
      settings: { limits: { max_bodies_bytes: BUDGET, ...(IS_LONG ? {} : { max_body_bytes: 16 * MB }) } },
    });
    await gateway.chat({ stop: Array.from({ length: 100_000 }, () => "s") });
    probe = probeHealth(gateway);
  });
  const everybodyLeaves = async () => {
    for (const client of clients.splice(0)) client.leave();
    await until("nothing is held", async () => (await metric(gateway, "weir_bodies_bytes")) === 0);
  };
  afterEach(everybodyLeaves);
  afterAll(() => {
    probe?.stop();
    return gateway?.stop();
  });

  /** `act`, with `/healthz` answering in time throughout. */
  async function staysHealthy(act: () => Promise<void>): Promise<void> {
    let slowest = Infinity;
    const inTime = await holdsUnlessCrowded(async () => {
      if (slowest < Infinity) await everybodyLeaves();
      await probe.health();
      await longestTurn(gateway);
      await act();
      // What the act brought about lasts: a fast machine is asked some more times, and a late probe has its time.
      const health = await probe.health(LOOKS);
      const turnMs = await longestTurn(gateway);
      if (IS_LONG) console.info({ ...health, turnMs });
      expect(health.failed).toBe(0);
      slowest = Math.max(turnMs, slowestMs(health, IS_LONG));
      return slowest < HEALTH_MS;
    });
    if (!inTime) expect(slowest).toBeLessThan(HEALTH_MS);
  }

  const residentBytes = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) * 1024;
  const open = (...lines: string[]): Client => {
    const client = new Client(gateway);
    clients.push(client);
    void client.send(headOf(gateway, ...lines));
    return client;
  };

  test("O9: what is announced takes nothing; half-open bodies take what has arrived", async () => {
    const before = residentBytes();
    await staysHealthy(async () => {
      for (let i = 0; i < HALF_OPEN; i++) void open(`Content-Length: ${15 * MB}`).send("{");
      await until(
        "all have begun",
        async () => (await metric(gateway, "weir_bodies_bytes")) >= HALF_OPEN * 16_384,
      );
    });
    expect(await metric(gateway, "weir_bodies_bytes")).toBe(HALF_OPEN * 16_384);
    expect(residentBytes() - before).toBeLessThan(100 * MB);
    expect((await gateway.chat()).status).toBe(200);
  });

  test("O9: slow uploads stay under the budget, what is beyond is refused at once, small bodies pass", async () => {
    const before = residentBytes();
    const piece = Buffer.alloc(MB / 8, "x");
    let uploads: readonly Client[] = [];
    let most = 0;
    await staysHealthy(async () => {
      uploads = Array.from({ length: UPLOADS }, () => open(`Content-Length: ${15 * MB}`));
      for (let sent = 0; sent < 8; sent++) {
        await Promise.all(
          uploads.filter(({ status }) => status === undefined).map((client) => client.send(piece)),
        );
        most = Math.max(most, await metric(gateway, "weir_bodies_bytes"));
        expect((await gateway.chat()).status).toBe(200);
      }
    });
    await until("some are refused", () => uploads.some(({ status }) => status === 429));
    const refused = uploads.filter(({ status }) => status !== undefined);
    expect(refused.every(({ status }) => status === 429)).toBe(true);
    expect(refused[0]?.text).toContain('"code":"concurrency"');
    expect(refused[0]?.text.toLowerCase()).toContain("retry-after: 1\r\n");
    expect(most).toBeGreaterThan(BUDGET / 4);
    expect(most).toBeLessThanOrEqual(BUDGET / 2 + 64 * 1024 * UPLOADS);
    expect(residentBytes() - before).toBeLessThan(BUDGET);
  });

  test("O9: bodies that wait for the thread or for an answer count until their call is over", async () => {
    // Many messages take the thread longer than their upload takes: calls meet there, however slowly they are sent.
    const message = { role: "user", content: "x".repeat(50) };
    const messages = Array.from({ length: (5 * MB) / JSON.stringify(message).length }, () => message);
    const body = JSON.stringify({ model: "weir/sim-small", user: "", messages });
    const ask = () => gateway.call("POST", "/v1/chat/completions", { body });
    const seen = new Set<number>();
    // A busy machine may send them so slowly that none meets another.
    await holdsUnlessCrowded(async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, ask));
      const statuses = answers.map(({ status }) => status);
      // As many as half of the budget holds, and more as those end.
      expect(statuses.filter((status) => status !== 429).length).toBeGreaterThanOrEqual(IS_LONG ? 20 : 4);
      for (const status of statuses) seen.add(status);
      return IS_LONG || seen.has(429);
    });
    expect(seen).toEqual(new Set(IS_LONG ? [400] : [400, 429]));
    await atRest(gateway);
    expect(await metric(gateway, "weir_bodies_bytes")).toBe(0);
  });
});

describe("pace", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({
      settings: { timeouts: { upload_ms: 400 }, limits: { min_upload_bytes_per_s: 1000 } },
    });
  });
  afterAll(() => gateway.stop());

  test.each([
    ["with a length", ["Content-Length: 1000"], "{"],
    ["in chunks", ["Transfer-Encoding: chunked"], "1\r\n{\r\n"],
    ["in chunks, none of them there", ["Transfer-Encoding: chunked"], ""],
    ["compressed", ["Content-Length: 1000", "Content-Encoding: gzip"], "\u001f"],
  ])(
    "O16: a body %s that stops arriving gets a 408 of ours, and its connection is closed",
    async (_, lines, begun) => {
      const client = new Client(gateway);
      await client.send(headOf(gateway, ...lines) + begun);
      await until("it is closed", () => client.closed);
      expect(client.status).toBe(408);
      expect(client.text).toContain('"code":"request_timeout"');
      expect(client.text.toLowerCase()).toContain("connection: close");
    },
  );

  test("O16: a body that keeps the pace is waited for, and its call is made", async () => {
    const body = JSON.stringify({
      model: "weir/sim-small",
      messages: [{ role: "user", content: "slowly ".repeat(1000) }],
      max_tokens: 2,
    });
    /** The status of the answer. */
    const sendSlowly = async () => {
      const client = new Client(gateway);
      await client.send(headOf(gateway, `Content-Length: ${body.length}`));
      // Each piece in a turn of its own, over several of the windows.
      for (let at = 0; at < body.length; at += 500) {
        const endMs = performance.now() + 100;
        await client.send(body.slice(at, at + 500));
        await until("it is time for the next", () => performance.now() > endMs);
      }
      await until("the answer", () => client.status !== undefined);
      client.leave();
      return client.status;
    };
    // Whoever stands still for a window has not kept the pace.
    let status: number | undefined;
    for (let tries = 0; tries < TRIES && status !== 200; tries++) status = await sendSlowly();
    expect(status).toBe(200);
  });

  test("O9: who leaves in the middle leaves nothing behind", async () => {
    const client = new Client(gateway);
    await client.send(`${headOf(gateway, "Content-Length: 100000")}${"x".repeat(50_000)}`);
    await until("it has begun", async () => (await metric(gateway, "weir_bodies_bytes")) > 0);
    client.leave();
    await until("it is gone", async () => (await metric(gateway, "weir_bodies_bytes")) === 0);
  });
});

test("a key that is revoked while the body of its call arrives admits no call", async () => {
  const gateway = await testGateway();
  const { json } = await gateway.call("POST", "/v1/keys", { body: { name: "short-lived" } });
  const client = new Client(gateway);
  const body = JSON.stringify({ model: "weir/sim-small", messages: [{ role: "user", content: "Hello" }] });
  const head = ["Content-Type: application/json", `Content-Length: ${body.length}`];
  await client.send(headOf({ ...gateway, liveKey: json.secret }, ...head));
  await client.send(body.slice(0, 20));
  const sentMs = performance.now();
  expect((await gateway.call("DELETE", `/v1/keys/${json.id}`)).status).toBeLessThan(300);
  await until("the body was slow", () => performance.now() - sentMs > 150);
  await client.send(body.slice(20));
  await until("it is answered", () => client.status !== undefined);
  expect(client.status).toBe(401);
  client.leave();
  await gateway.stop();
});

test("bodies that arrived while their uploads were paused are answered, however long their answers take", async () => {
  // Longer than a connection may be idle.
  const gateway = await testGateway({ endpoints: [{ provider: "late", instruction: { first_ms: 13_000 } }] });
  const url = `data:image/png;base64,${"A".repeat(2.5 * MB)}`;
  const content = [{ type: "image_url", image_url: { url } }];
  const ask = () =>
    gateway.chat({ model: "test/model", messages: [{ role: "user", content }], max_tokens: 2 });
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  await gateway.stop();
});
