/**
 * What a call allocates outside of V8's heap: blocks of the C library, with their bytes. Valgrind writes each block down; where its log
 * ends when a window begins and ends is what belongs to it.
 */
import { closeSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { conductCounted, PLAN } from "../instructions/counted-process.ts";
import type { CallKind } from "../instructions/streams.ts";
import type { Processes } from "../processes.ts";

export interface OutsideFigures {
  readonly blocks: number;
  readonly bytes: number;
  /** Bytes of a block, and how many there are of that size; the largest sums first. */
  readonly sizes: readonly (readonly [size: number, blocks: number])[];
}

/** The tool of valgrind's that takes the place of `malloc` and does least beside it. What it would write itself goes nowhere. */
const FLAGS = [
  "-q",
  "--tool=massif",
  "--trace-malloc=yes",
  "--stacks=no",
  "--num-callers=1",
  "--max-snapshots=10",
  "--detailed-freq=1000000",
  "--massif-out-file=/dev/null",
  "--smc-check=all-non-file",
  "--fair-sched=yes",
];

interface Context {
  readonly repoDir: string;
  readonly scratchDir: string;
}

/** @returns figures of one call of each kind. @throws Error where valgrind or the counted gateway fails */
export async function countOutside(
  processes: Processes,
  { repoDir, scratchDir }: Context,
): Promise<ReadonlyMap<CallKind, OutsideFigures>> {
  const dir = join(scratchDir, "outside");
  mkdirSync(dir);
  const log = join(dir, "blocks.log");
  const plan = { ...PLAN, scratchDir: dir, windows: 1 };
  const found = new Map<CallKind, OutsideFigures>();
  let from = 0;
  await conductCounted(
    processes,
    { repoDir, plan, name: "outside", under: ["valgrind", ...FLAGS, `--log-file=${log}`] },
    (step) => {
      if (step.kind === "begin") from = statSync(log).size;
      else if (step.kind === "end")
        found.set(step.of, outsideFigures(piece(log, from, statSync(log).size), step.calls));
    },
  );
  return found;
}

function piece(file: string, from: number, to: number): string {
  const bytes = Buffer.alloc(to - from);
  const handle = openSync(file, "r");
  readSync(handle, bytes, 0, bytes.length, from);
  closeSync(handle);
  return bytes.toString("latin1");
}

/** `--12-- malloc(24) = 0x…`, `calloc(2,8)`, `realloc(0x…,32)`, `memalign(al 16, size 48)`, `_Znwm(40)`. A new block of `realloc` is a `malloc` in the same line. */
const ALLOCATION = /(calloc|malloc|realloc|memalign|_Zn[wa]\w+)\(([^()]*)\) = /;

/** @param log what valgrind wrote in a window of so many calls */
export function outsideFigures(log: string, calls: number): OutsideFigures {
  const sizes = new Map<number, number>();
  for (const line of log.split("\n")) {
    const [, name, args = ""] = ALLOCATION.exec(line) ?? [];
    if (name === undefined) continue;
    const numbers = args.split(",").map((text) => Number(text.replace(/^.* /, "")));
    const size = name === "calloc" ? (numbers[0] ?? 0) * (numbers[1] ?? 0) : (numbers.at(-1) ?? 0);
    sizes.set(size, (sizes.get(size) ?? 0) + 1);
  }
  const all = [...sizes].map(([size, count]) => [size, count / calls] as const);
  return {
    blocks: all.reduce((sum, [, count]) => sum + count, 0),
    bytes: all.reduce((sum, [size, count]) => sum + size * count, 0),
    sizes: all.sort(([a, n], [b, m]) => b * m - a * n),
  };
}
