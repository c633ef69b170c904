/** O4: near the limit of descriptors calls are refused before the store, the engine or an upstream has none left. */
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { Descriptors, descriptorLimit } from "../../../src/base/process/descriptors.ts";
import { MAIN, metric, type Placed, place, run } from "../../support/process.fixtures.ts";
import { until } from "../../support/wait.ts";

const LIMIT = 200;
const controllers: AbortController[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const controller of controllers.splice(0)) controller.abort();
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A gateway that may have `limit` descriptors, in front of a simulator in this process. */
async function limited(limit: number) {
  const simulator = await startSimulator({});
  const where = await place({ SIMULATOR_URL: simulator.url });
  const command = `ulimit -n ${limit} && exec "$0" "$1"`;
  const started = run("sh", ["-c", command, process.execPath, MAIN], {
    env: where.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { simulator, where, ...started };
}

/** A streamed call that stays open, on a connection of its own: its status once the head is there. */
async function open({ url, key }: Placed): Promise<{ status: number; retry: string | null; text: string }> {
  const controller = new AbortController();
  controllers.push(controller);
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    signal: controller.signal,
    headers: { authorization: `Bearer ${key()}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "weir/sim-small",
      stream: true,
      messages: [{ role: "user", content: "[[sim tokens=10000 gap_ms=100]]" }],
    }),
  });
  const text = response.ok ? "" : await response.text();
  return { status: response.status, retry: response.headers.get("retry-after"), text };
}

test("O4: calls beyond what descriptors allow get 503 before any gets 502; others go on; room comes back", async () => {
  const { simulator, where, child, ended } = await limited(LIMIT);
  await where.ready();
  expect(await metric(where.url, "weir_descriptors_limit")).toBe(LIMIT);
  const answers = await Promise.all(Array.from({ length: 100 }, () => open(where)));
  const served = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(served.length).toBeGreaterThan(20);
  expect(refused.length).toBeGreaterThan(20);
  for (const { status, retry, text } of refused) {
    expect([status, retry]).toEqual([503, "1"]);
    expect(JSON.parse(text).error).toMatchObject({ type: "unavailable", code: "gateway_unavailable" });
  }
  expect(await metric(where.url, "weir_descriptors_used")).toBeLessThan(LIMIT - 32);
  expect(await metric(where.url, "weir_store_healthy")).toBe(1);

  for (const controller of controllers.splice(0)) controller.abort();
  await until("there is room again", async () => {
    const answer = await open(where);
    return answer.status === 200;
  });
  for (const controller of controllers.splice(0)) controller.abort();
  // O9: nor does the body of a call that was refused stay on the account of all bodies.
  await until("no body is held", async () => (await metric(where.url, "weir_bodies_bytes")) === 0);
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
  await simulator.close();
});

test("O4: connections that only stay open do not take the reserve: the newest are closed", async () => {
  const { simulator, where } = await limited(LIMIT);
  await where.ready();
  let closed = 0;
  for (let i = 0; i < LIMIT; i++) {
    const socket = connect(Number(new URL(where.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.on("close", () => {
      closed++;
    });
    sockets.push(socket);
  }
  await until("the excess is closed", () => closed > 20);
  for (const socket of sockets.splice(0, LIMIT / 2)) socket.destroy();
  await until("it answers again", () =>
    fetch(`${where.url}/healthz`).then(
      (response) => response.ok,
      () => false,
    ),
  );
  expect(await metric(where.url, "weir_store_healthy")).toBe(1);
  await simulator.close();
});

test("O4: a limit below what a start needs is refused with what to raise", async () => {
  const { simulator, ended, output } = await limited(96);
  expect((await ended).code).toBe(1);
  // The log may say at any time what else had no descriptors: the engine, and whoever asks it.
  const first = output()
    .split("\n")
    .find((line) => !line.startsWith("{"));
  expect(first).toMatch(
    /^this process may open 96 files and sockets, and needs \d+ at least: raise "ulimit -n" /,
  );
  await simulator.close();
});

test("O4: calls without a connection yet count as if they had one", () => {
  const held = { clients: 0, upstream: 0, simulator: 0 };
  const descriptors = new Descriptors(
    { clients: () => held.clients, upstream: () => held.upstream, simulator: () => held.simulator },
    1000,
    100,
  );
  expect(descriptors.fault()).toBeUndefined();
  // 1000 less the reserve of 64 and the margin of 20 leave 816 beside the 100 of the start.
  held.clients = 408;
  expect([descriptors.hasRoomForCall(408), descriptors.hasRoomForCall(409)]).toEqual([true, false]);
  // Connections that wait for their next call serve it.
  held.upstream = 408;
  expect([descriptors.hasRoomForCall(1), descriptors.hasRoomForCall(409)]).toEqual([true, false]);
  held.simulator = 1;
  expect(descriptors.hasRoomForCall(1)).toBe(false);
  expect(descriptors.hasRoomForClient()).toBe(true);
});

test("O4: the limit of this process is read from the system", () => {
  expect(descriptorLimit()).toBeGreaterThan(100);
});
