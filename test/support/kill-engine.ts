import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";

/** Kills the embedded engine of one gateway, and nothing else. @returns whether there was one: it may just be started again */
export function killEngine(gatewayPid: number): boolean {
  const list = execFileSync("ps", ["-A", "-o", "pid=,ppid=,command="], { encoding: "utf8" });
  const engines = list.split("\n").filter((line) => {
    const [, parent] = line.trim().split(/\s+/);
    return Number(parent) === gatewayPid && line.includes("engine-child");
  });
  assert.ok(engines.length <= 1, "one engine a gateway");
  for (const line of engines) process.kill(Number(line.trim().split(/\s+/)[0]), "SIGKILL");
  return engines.length > 0;
}
