/** Cells in processes of their own (`serial-process.ts`) beside those of a bench. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Bench } from "../fixtures.ts";

const PROGRAM = new URL("./serial-process.ts", import.meta.url).pathname;

export class SerialProcesses {
  readonly #bench: Bench;
  /** What acts are random by, for a failure. */
  readonly #seed: number;
  readonly #running = new Map<string, ChildProcess>();

  constructor(bench: Bench, seed: number) {
    this.#bench = bench;
    this.#seed = seed;
  }

  /** Resolves once it acts. @param what seed of its acts, or how many rows it puts each 10 ms */
  async start(name: string, what: number | `puts:${number}`): Promise<void> {
    const { folder, id, redis } = this.#bench;
    const args = [join(folder, name), name, id, redis.url, String(what)];
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.#running.set(name, child);
    await new Promise((resolve, reject) => {
      child.stdout?.once("data", resolve);
      child.once("exit", (code) => reject(new Error(`cell ${name} ended with ${code}, seed ${this.#seed}`)));
    });
  }

  of(name: string): ChildProcess {
    return this.#running.get(name) as ChildProcess;
  }

  /** Each ends in good order. */
  async endAll(): Promise<void> {
    for (const child of this.#running.values()) {
      const gone = once(child, "exit");
      child.stdin?.end();
      expect((await gone)[0], `WEIR_SEED=${this.#seed}`).toBe(0);
    }
    this.#running.clear();
  }

  /** What it noted of its acts. */
  lines(name: string, kind: "told" | "refused"): string[] {
    const file = join(this.#bench.folder, `${name}.${kind}`);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  }

  kill(): void {
    for (const child of this.#running.values()) child.kill("SIGKILL");
    this.#running.clear();
  }
}
