/** Calls before a gateway listens: how they end, and what they leave. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../../src/host/gateway/gateway.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import { openAnswerer } from "../../../src/host/warm-up/answerer.ts";
import { CALLS } from "../../../src/host/warm-up/calls.ts";
import { type WarmUpOptions, warmUp, warmUpFolder } from "../../../src/host/warm-up/warm-up.ts";
import { closedPort, environment, prepareFolder, removeFolder, testGateway } from "../../support/gateway.ts";

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** So long that no machine is too slow for a warm-up. */
const LONG_MS = 60_000;

/** Each reading is a part of the setting after the last one, and there is one a call. */
function counting(perSetting: number): () => number {
  let readings = 0;
  return () => (readings++ * LONG_MS) / perSetting;
}

const countingClock = (perSetting: number) => ({ now: () => Date.now(), monotonic: counting(perSetting) });

/** Warms up by clocks that stand still unless the options say otherwise. @returns the lines of the log */
async function warmed(options: Partial<WarmUpOptions> & Pick<WarmUpOptions, "dataDir">) {
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const clock = { now: () => Date.now(), monotonic: () => 0 };
  await warmUp({ ms: LONG_MS, log, clock, spentMs: () => 0, ...options });
  return lines.map((line) => JSON.parse(line));
}

test.each([
  // Each call reads the clock once, and the processor time once the share of time for calls is over.
  ["its share of the time is over", { spentMs: counting(0.5), clock: countingClock(100) }, 80],
  [
    "also its processor time is over: half as much again",
    { spentMs: counting(100), clock: countingClock(100) },
    200,
  ],
  ["three times the setting has passed", { clock: countingClock(40) }, 120],
  ["there is little left to compile", {}, 480],
])("a warm-up makes calls until %s, says how many, and leaves nothing", async (_, options, most) => {
  const dataDir = emptyFolder();
  const [line, ...others] = await warmed({ dataDir, ...options });
  expect(others).toEqual([]);
  expect(line).toMatchObject({ msg: "warmed up" });
  // The reading with which it begins is none of a call.
  expect(line.calls).toBeGreaterThanOrEqual(most - 2);
  expect(line.calls).toBeLessThanOrEqual(most);
  expect(readdirSync(dataDir)).toEqual([]);
});

test("each format of clients is asked whole and streamed, and answered in full", async () => {
  const answerer = await openAnswerer();
  const dialects = ["chat", "messages", "responses"];
  const endpoint = { provider: "warm", baseUrl: `${answerer.url}/v1`, dialects };
  const gateway = await testGateway({ endpoints: [endpoint] });
  onTestFinished(() => gateway.stop().then(() => answerer.close()));
  const asked = CALLS.map(({ path, body }) => ({
    path,
    body: { ...JSON.parse(body.toString()), model: "test/model" },
  }));
  expect(new Set(asked.map(({ path, body }) => `${path} ${body.stream === true}`)).size).toBe(6);
  for (const { path, body } of asked) {
    const { status, text } = await gateway.call("POST", path, { body });
    // What it has cost comes with the end of an answer whose usage was read.
    expect([status, text]).toEqual([
      200,
      expect.stringMatching(/"units":230.*"total_micro_usd"|"total_micro_usd".*"units":230/),
    ]);
  }
});

test("it ends early where it is told to", async () => {
  const dataDir = emptyFolder();
  const [line] = await warmed({ dataDir, signal: AbortSignal.abort() });
  expect(line).toMatchObject({ msg: "warmed up", calls: 0 });
  expect(readdirSync(dataDir)).toEqual([]);
});

test("a failure is logged, and nothing is thrown", async () => {
  const file = join(emptyFolder(), "file");
  writeFileSync(file, "");
  const [line] = await warmed({ dataDir: join(file, "data") });
  expect(line).toMatchObject({ level: 40, err: { code: "ENOTDIR" } });
  expect(line.msg).toContain("was not warmed up");
});

test("what a killed warm-up left is removed, also where there is none any more", async () => {
  const dataDir = emptyFolder();
  const left = join(warmUpFolder(dataDir), "0", "data");
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, "first-key"), "secret");
  expect(await warmed({ dataDir, ms: 0 })).toEqual([]);
  expect(existsSync(warmUpFolder(dataDir))).toBe(false);
});

test("a gateway listens once what it does before is done", async () => {
  const folder = emptyFolder();
  const options = { folder, engine: false };
  prepareFolder(options, "http://127.0.0.1:1");
  const port = await closedPort();
  const env = { ...environment(options, folder, "http://127.0.0.1:1"), PORT: String(port) };
  const answers: string[] = [];
  const look = async () => void answers.push(await connectionTo(port));
  const around = { droppedLogLines: () => 0, beforeListening: look };
  const gateway = await startGateway(readConfig(env), pino({ level: "silent" }), around);
  await look();
  await gateway.stop();
  expect(answers).toEqual(["ECONNREFUSED", "open"]);
});

const connectionTo = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    socket.on("connect", () => {
      socket.destroy();
      resolve("open");
    });
  });
