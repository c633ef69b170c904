/** The engine's process yields the processor to the process that serves calls. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { temporaryFolder } from "../../support/analytics/records.ts";

/** What this system calls a thread that ClickHouse itself raises, where it may: it looks at memory, some µs at a time. */
const RAISED = "MemoryWorker";
const PARENT = fileURLToPath(new URL("./engine-parent.ts", import.meta.url));

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** @param niceness of the gateway. @returns the priorities of the engine's threads */
async function prioritiesUnder(niceness: number): Promise<number[]> {
  const home = temporaryFolder();
  const parent = fork(PARENT, [home], { execArgv: ["--disable-warning=ExperimentalWarning"] });
  ends.push(async () => {
    const ended = once(parent, "exit");
    parent.kill("SIGKILL");
    await ended;
    rmSync(home, { recursive: true, force: true, maxRetries: 20 });
  });
  if (niceness > 0) setPriority(parent.pid ?? 0, niceness);
  const [pid] = (await once(parent, "message")) as [number];
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  const nameOf = (thread: number) => readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
  return threads.filter((thread) => nameOf(thread) !== RAISED).map(getPriority);
}

test.runIf(process.platform === "linux")("every thread of the engine yields", async () => {
  const priorities = await prioritiesUnder(0);
  expect(priorities.length).toBeGreaterThan(10);
  // That of these tests may be nicer itself.
  expect(Math.min(...priorities)).toBe(Math.max(5, getPriority()));
});

test.runIf(process.platform === "linux")("a gateway that is nicer itself has an engine", async () => {
  expect(Math.min(...(await prioritiesUnder(15)))).toBe(15);
});
