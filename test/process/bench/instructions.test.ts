/**
 * The gateway whose instructions are counted, as a process, without valgrind: it answers as the upstream does and tells its windows. What
 * callgrind counts of it is shown in docs/performance.md, and is not tested: it takes minutes.
 */
import { execFile, fork } from "node:child_process";
import { on } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { CountMessage, CountPlan } from "../../../bench/instructions/counted.ts";

const repoDir = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);
const bench = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(process.execPath, [join(repoDir, "bench/main.ts"), "instructions", ...args], {
    env: { ...process.env, ...env },
  });

test("the counted gateway answers every kind of call as the upstream does, and tells its windows", async () => {
  const scratchDir = mkdtempSync(join(tmpdir(), "weir-counted-"));
  const calls = { "json-1k": 32, "burst-64": 16, "stream-16": 16, "stream-272": 16 };
  const plan: CountPlan = {
    scratchDir,
    calls,
    warmUp: calls,
    warmUpRounds: 1,
    windows: 2,
    // Nothing is counted here.
    settlePauseMs: 1,
  };
  const child = fork(join(repoDir, "bench/instructions/counted.ts"), [JSON.stringify(plan)], {
    execArgv: ["--predictable"],
    env: { ...process.env, CLICKHOUSE_URL: "" },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr?.on("data", (text) => {
    errors += text;
  });
  onTestFinished(async () => {
    // Its engine ends with it, and writes in the folder until then.
    const ended = new Promise((end) => child.once("close", end));
    child.kill("SIGKILL");
    await ended;
    rmSync(scratchDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  const told: CountMessage[] = [];
  for await (const [message] of on(child, "message", { close: ["exit"] })) {
    told.push(message);
    if (message.kind === "done" || message.kind === "failed") break;
    child.send({});
  }
  const window = Object.entries(calls).flatMap(([of, amount]) => [
    { kind: "begin" },
    { kind: "end", of, calls: amount },
  ]);
  expect(told, errors).toEqual([{ kind: "warm" }, ...window, ...window, { kind: "done" }]);
  expect(readdirSync(join(scratchDir, "counted-data"))).toContain("first-key");
});

test("says how to get valgrind where there is none, before it starts anything", async () => {
  const file = join(repoDir, "bench/instructions.json");
  const before = readFileSync(file, "utf8");
  const missing =
    "valgrind is not on PATH, and without it instructions cannot be counted (Debian: apt-get install -y valgrind)\n";
  for (const args of [["--quick"], ["--quick", "--check"]])
    await expect(bench(args, { PATH: "/nowhere" })).rejects.toMatchObject({ code: 1, stderr: missing });
  expect(readFileSync(file, "utf8")).toBe(before);
  expect(existsSync(file)).toBe(true);
});

test("its help says which command rewrites the kept figures, and which compares", async () => {
  const { stdout } = await bench(["--quick", "--help"]);
  expect(stdout).toContain(
    "Without options it writes the figures to bench/instructions.json: commit the file.",
  );
  expect(stdout).toMatch(
    /--check +compares with that file in place of writing it; exit code 1 where instructions are more than 1 %, or heap bytes more than 2 % above/,
  );
});
