/** How quickly `/healthz` answers while something else goes on, as another process sees it: see `healthz.probe.ts`. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestGateway } from "./gateway.ts";

export interface Health {
  /** Answers since it was last asked. */
  readonly count: number;
  /** Asked in vain since the start. */
  readonly failed: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

export interface HealthProbe {
  /** @param least resolves once there are so many answers */
  health(least?: number): Promise<Health>;
  stop(): void;
}

export function probeHealth({ url }: TestGateway): HealthProbe {
  const child = spawn(process.execPath, [join(import.meta.dirname, "healthz.probe.ts"), url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  return {
    health: (least = 0) =>
      new Promise((resolve) => {
        lines.once("line", (line) => resolve(JSON.parse(line) as Health));
        child.stdin.write(`${least}\n`);
      }),
    stop: () => void child.kill("SIGTERM"),
  };
}

/** Milliseconds within which `/healthz` answers whatever else goes on. */
export const HEALTH_MS = 50;

/**
 * What must hold of the answers.
 * @param isQuiet the machine does nothing else: each of them counts. Beside other work one that waited for a processor tells
 * nothing of the gateway, whose own turns `longestTurn` measures; most must be in time all the same.
 */
export const slowestMs = ({ medianMs, worstMs }: Health, isQuiet: boolean): number =>
  isQuiet ? worstMs : medianMs;
