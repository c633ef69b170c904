/**
 * Clients that read nothing, and upstreams whose lines never end, in front of a gateway that is a process of its own: it holds little
 * for each, and pauses the upstream. What slow readers get is tested in `test/process/inference/exchange/slow-reader.test.ts`.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { amount } from "../../../support/effort.ts";
import { openAnswer, readWhole, slowBody } from "../../../support/exchange/slow-reader.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { equals, until } from "../../../support/wait.ts";

/** `WEIR_SLOW_READERS=1000` for the figure of the documentation. Each fills buffers of the kernel with megabytes. */
const READERS = Number(process.env.WEIR_SLOW_READERS ?? amount(200, 80));
const MOST_KB_EACH = 128;

let gateway: SpawnedGateway;
beforeAll(async () => {
  gateway = await spawnGateway({
    engine: false,
    endpoints: [
      { provider: "bulk", instruction: { total_bytes: 30_000_000 } },
      { provider: "endless", instruction: { fault: "no_newline_ever" } },
    ],
    settings: { grant_usd: 1_000_000, limits: { max_event_bytes: 1_000_000 } },
    // Garbage that V8 has not looked at yet is held by nobody.
    env: { NODE_OPTIONS: "--expose-gc --import data:text/javascript,setInterval(gc,300).unref()" },
  });
});
afterAll(() => gateway?.stop());

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

/** A client that sends its request and reads nothing at all. */
function mute(provider: string): Socket {
  const json = slowBody(provider, true);
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.liveKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
  );
  return socket;
}

describe("slow readers", () => {
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

  test("T9: lines that never end are cut at the bound, and memory stays flat", async () => {
    const cut = async () => {
      const answer = await openAnswer(gateway, "endless");
      expect(answer.statusCode).toBe(502);
      expect(JSON.parse(await readWhole(answer)).error.code).toBe("upstream_invalid_response");
    };
    for (let i = 0; i < 10; i++) await cut();
    const before = await settled(residentKb, 500);
    for (let i = 0; i < 30; i++) await cut();
    const grownKb = (await settled(residentKb, 500)) - before;
    expect(grownKb).toBeLessThan(20_000);
    const areClosed = () => gateway.simulator.calls.slice(-30).every((call) => call.closedByPeer);
    await until("their upstream calls are closed", areClosed);
  });
});
