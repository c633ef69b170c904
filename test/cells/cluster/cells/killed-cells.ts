/**
 * Cells in processes of their own, killed and paused at any moment, with a Redis that is killed too. What they told a client, and what
 * they noted, is in files, which a kill may tear.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Random, seededRandom } from "../../../../src/base/clock.ts";
import { amount } from "../../../support/effort.ts";
import { anyMoment } from "../../../support/pace.ts";
import { type Bench, openBench } from "./fixtures.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"].slice(0, amount(8, 3));

export interface KilledCells {
  readonly bench: Bench;
  /** Decides everything that is at random here; `WEIR_SEED` repeats it, as far as processes can be repeated. */
  readonly seed: number;
  /** Starts all, kills, pauses and starts one after the other, and has all end well. Redis answers then. */
  run(rounds: number): Promise<void>;
  /** The whole lines of all cells' files of a kind, read as JSON; of a torn one, what it said is told again. */
  lines<T>(kind: string): T[];
  close(): Promise<void>;
}

/**
 * @param program of a cell, as `process-cell.ts` has it
 * @param more its arguments behind those that every cell has; the last one is always a seed
 */
export async function openKilledCells(program: string, more: readonly string[]): Promise<KilledCells> {
  const bench = await openBench();
  const seed = Number(process.env.WEIR_SEED ?? Date.now() % 1e9);
  const random = seededRandom(seed);
  const running = new Map<string, ChildProcess>();

  const start = async (name: string): Promise<void> => {
    const own = [join(bench.folder, name), name, bench.id, bench.redis.url];
    const args = [join(import.meta.dirname, program), ...own, ...more, String(Math.floor(random() * 1e9))];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    running.set(name, child);
    await new Promise((resolve, reject) => {
      child.stdout?.once("data", resolve);
      child.once("exit", (code) => reject(new Error(`cell ${name} ended with ${code}, seed ${seed}`)));
    });
  };

  return {
    bench,
    seed,
    async run(rounds) {
      await Promise.all(NAMES.map(start));
      for (let round = 0; round < rounds; round++) {
        await anyMoment(random, 250);
        const name = NAMES[Math.floor(random() * NAMES.length)] as string;
        await disturb(running.get(name) as ChildProcess, bench, random, () => start(name));
      }
      for (const child of running.values()) {
        const gone = ended(child);
        child.stdin?.end();
        expect(await gone, `seed ${seed}`).toBe(0);
      }
      await bench.link.ready(5000);
    },
    lines: <T>(kind: string) =>
      NAMES.flatMap((name) =>
        wholeLines(join(bench.folder, `${name}.${kind}`)).map((line) => JSON.parse(line) as T),
      ),
    async close() {
      for (const child of running.values()) child.kill("SIGKILL");
      await bench.close();
    },
  };
}

/** Pauses a cell, or kills it, alone or with Redis, and starts it again. */
async function disturb(
  child: ChildProcess,
  { redis }: Bench,
  random: Random,
  start: () => Promise<void>,
): Promise<void> {
  const kind = random();
  if (kind < 0.2) {
    child.kill("SIGSTOP");
    await anyMoment(random, 300);
    child.kill("SIGCONT");
    return;
  }
  const isBoth = kind < 0.5;
  const gone = ended(child);
  child.kill("SIGKILL");
  if (isBoth) await redis.kill();
  await gone;
  if (isBoth) await redis.start();
  await start();
}

const ended = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => child.once("exit", resolve));

/** A kill may tear the last line, to which the next process appends. */
function wholeLines(file: string): string[] {
  const text = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  return text.filter((line) => /^(?:\{[^{}]*\}|"[^"{}]*")$/.test(line));
}
