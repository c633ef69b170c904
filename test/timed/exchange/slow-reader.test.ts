/**
 * Clients that read slowly or not at all, in front of a gateway that is a process of its own: it holds little for each,
 * pauses the upstream, and who reads on gets every byte, however long the pause was.
 */
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../../support/effort.ts";
import { sseData } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { equals, until } from "../../support/wait.ts";

/** `WEIR_SLOW_READERS=1000` for the figure of the documentation. Each fills buffers of the kernel with megabytes. */
const READERS = Number(process.env.WEIR_SLOW_READERS ?? amount(200, 80));
const MOST_KB_EACH = 128;
/** uWebSockets.js by itself ends a connection that took nothing for 10 s (looked at every 4 s). */
const LONG_PAUSE_MS = 13_000;

let gateway: SpawnedGateway;
beforeAll(async () => {
  gateway = await spawnGateway({
    engine: false,
    endpoints: [
      { provider: "bulk", instruction: { total_bytes: 30_000_000 } },
      { provider: "ten", instruction: { total_bytes: 10_000_000 } },
      { provider: "six", instruction: { total_bytes: 6_000_000 } },
      { provider: "trickle", instruction: { total_bytes: 7_000_000, event_bytes: 500_000, gap_ms: 200 } },
      { provider: "large", instruction: { bytes: 16_000_000 } },
      { provider: "endless", instruction: { fault: "no_newline_ever" } },
    ],
    settings: { grant_usd: 1_000_000, limits: { max_event_bytes: 1_000_000 } },
    // Garbage that V8 has not looked at yet is held by nobody.
    env: { NODE_OPTIONS: "--expose-gc --import data:text/javascript,setInterval(gc,300).unref()" },
  });
});
afterAll(() => {
  for (const response of paused.values()) response.destroy();
  return gateway?.stop();
});

/** Resident memory of the gateway, in KB. */
function residentKb(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
}

/** Resolves once the figure has not moved for most of a second. */
async function settled(read: () => number, tolerance = 0): Promise<number> {
  let last = read();
  let still = 0;
  while (still < 8) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = read();
    still = Math.abs(now - last) <= tolerance ? still + 1 : 0;
    last = now;
  }
  return last;
}

const body = (provider: string, stream: boolean) =>
  JSON.stringify({
    model: "test/model",
    stream,
    messages: [{ role: "user", content: "Hello" }],
    svc: { route: { providers: { only: [provider] } } },
  });

/** A client that sends its request and reads nothing at all. */
function mute(provider: string): Socket {
  const json = body(provider, true);
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.liveKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
  );
  return socket;
}

/** The answer's head; its body waits until it is read. */
function open(provider: string, stream = true): Promise<IncomingMessage> {
  const call = request(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
  });
  call.end(body(provider, stream));
  return new Promise((resolve, reject) => {
    call.once("response", resolve);
    call.once("error", reject);
  });
}

async function read(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  expect(response.complete).toBe(true);
  return Buffer.concat(parts).toString("latin1");
}

/** Bytes of content, and how the stream ended. */
function contentOf(text: string): { events: number; bytes: number; last: unknown } {
  const all = sseData(text) as { choices?: { delta: { content?: string } }[] }[];
  const contents = all.map((e) => e.choices?.[0]?.delta?.content ?? "").filter((c) => c !== "");
  return { events: contents.length, bytes: contents.join("").length, last: all.at(-1) };
}

/** Started before the other tests and read after them: the pause is long, and nobody waits for it. */
const PAUSED = ["ten", "six", "trickle", "large"] as const;
const paused = new Map<string, IncomingMessage>();
const expected = new Map<string, object>();
let pausedAt = 0;

describe("slow readers", () => {
  beforeAll(async () => {
    const asked = gateway.simulator.totalCalls;
    for (const name of PAUSED) paused.set(name, await open(name, name !== "large"));
    pausedAt = performance.now();
    const six = gateway.simulator.calls[asked + 1];
    await Promise.all(
      PAUSED.slice(0, 3).map(async (name) => expected.set(name, contentOf(await read(await open(name))))),
    );
    await until("the upstream of one has long finished", () => six?.ended === true);
  });

  test("T10, T11: clients that read nothing hold less than 128 KB each and pause their upstreams", async () => {
    const silent = async (count: number) => {
      const asked = gateway.simulator.totalCalls;
      const sockets = Array.from({ length: count }, () => mute("bulk"));
      await until(
        "all calls have reached the simulator",
        () => gateway.simulator.totalCalls,
        equals(asked + count),
      );
      const calls = gateway.simulator.calls.slice(-count);
      await settled(() => calls.reduce((sum, call) => sum + call.bytesWritten, 0));
      return { sockets, calls };
    };
    // The first few stay, too: with them comes what is allocated once, whatever the number of clients.
    const first = await silent(amount(50, 25));
    const before = await settled(residentKb, 500);
    const { sockets, calls } = await silent(READERS);
    const eachKb = ((await settled(residentKb, 500)) - before) / READERS;
    console.log(`${READERS} clients that read nothing: ${eachKb.toFixed(1)} KB each in the gateway`);
    expect(eachKb).toBeLessThan(MOST_KB_EACH);
    expect(calls.filter((call) => call.ended)).toEqual([]);
    // What the kernel holds on both ways is not ours; the rest of the 30 MB was never sent.
    expect(Math.max(...calls.map((call) => call.bytesWritten))).toBeLessThan(20_000_000);
    for (const socket of [...first.sockets, ...sockets]) socket.destroy();
    await until("their upstream calls are closed", () => calls.every((call) => call.closedByPeer));
  });

  test("T11: reading in sips, with pauses in between, gets every byte", async () => {
    const response = await open("six");
    let text = "";
    let sips = 0;
    for await (const part of response) {
      text += (part as Buffer).toString("latin1");
      if (++sips % 20 === 0 && sips < 400) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(contentOf(text)).toEqual(expected.get("six"));
  });

  test("T9: lines that never end are cut at the bound, and memory stays flat", async () => {
    const cut = async () => {
      const answer = await open("endless");
      expect(answer.statusCode).toBe(502);
      expect(JSON.parse(await read(answer)).error.code).toBe("upstream_invalid_response");
    };
    for (let i = 0; i < 10; i++) await cut();
    const before = await settled(residentKb, 500);
    for (let i = 0; i < 30; i++) await cut();
    const grownKb = (await settled(residentKb, 500)) - before;
    expect(grownKb).toBeLessThan(20_000);
    const areClosed = () => gateway.simulator.calls.slice(-30).every((call) => call.closedByPeer);
    await until("their upstream calls are closed", areClosed);
  });

  test("T11: reading on after a pause longer than the server's own patience gets every byte", async () => {
    const leftMs = LONG_PAUSE_MS - (performance.now() - pausedAt);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)));
    for (const name of PAUSED.slice(0, 3)) {
      expect(contentOf(await read(paused.get(name) as IncomingMessage)), name).toEqual(expected.get(name));
    }
    expect(expected.get("ten")).toMatchObject({ events: 610, last: "[DONE]" });
    const answer = JSON.parse(await read(paused.get("large") as IncomingMessage));
    expect(answer.choices[0].message.content.length).toBeGreaterThan(15_900_000);
    expect(answer.svc.cost.total_micro_usd).toBeGreaterThan(0);
    await atRest(gateway);
  });
});
