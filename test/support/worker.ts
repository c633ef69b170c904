/** A process that a test kills, which says in lines what it has done. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";

export interface Worker {
  /** What it has said; a line without its newline was cut off by the kill. */
  lines(): string[];
  /** What stands behind a word, of each line that begins with it. */
  said(word: string): string[];
  /** Characters that it has said. */
  size(): number;
  alive(): boolean;
  /** Waits for its end, which it is made to take with a signal, and expects that it complained of nothing. */
  end(signal?: NodeJS.Signals): Promise<[code: number | null, signal: NodeJS.Signals | null]>;
}

export function startWorker(program: string, args: readonly unknown[], env: object = {}): Worker {
  const child = spawn(process.execPath, [program, ...args.map(String)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  let said = "";
  let errors = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  child.stderr.on("data", (data: Buffer) => (errors += data.toString()));
  const lines = () => said.split("\n").slice(0, -1);
  return {
    lines,
    said: (word) =>
      lines().flatMap((line) => (line.startsWith(`${word} `) ? [line.split(" ")[1] ?? ""] : [])),
    size: () => said.length,
    alive: () => child.exitCode === null && child.signalCode === null,
    async end(signal) {
      if (signal !== undefined) child.kill(signal);
      const how = await ended;
      expect(errors).toBe("");
      return how;
    },
  };
}
