import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";

/** Pids of the embedded engine of one gateway: one, or none while it is started again. */
export function enginesOf(gatewayPid: number): number[] {
  const list = execFileSync("ps", ["-A", "-o", "pid=,ppid=,command="], { encoding: "utf8" });
  const engines = list.split("\n").filter((line) => {
    const [, parent] = line.trim().split(/\s+/);
    return Number(parent) === gatewayPid && line.includes("engine-child");
  });
  assert.ok(engines.length <= 1, "one engine a gateway");
  return engines.map((line) => Number(line.trim().split(/\s+/)[0]));
}

/** Kills it, and nothing else. @returns whether there was one: it may just be started again */
export function killEngine(gatewayPid: number): boolean {
  const engines = enginesOf(gatewayPid);
  for (const pid of engines) process.kill(pid, "SIGKILL");
  return engines.length > 0;
}
