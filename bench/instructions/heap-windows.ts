/** Bytes that a call allocates in V8's heap: of the same windows in which instructions are counted, without valgrind. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Processes } from "../processes.ts";
import type { ObjectWindow } from "./counted.ts";
import { conductCounted, PLAN } from "./counted-process.ts";
import type { HeapFigures } from "./heap-meter.ts";
import type { CallKind } from "./streams.ts";

interface Context {
  readonly repoDir: string;
  readonly scratchDir: string;
  readonly windows: number;
  /** Calls of each kind in further windows in which each object is noted, with its place. */
  readonly objectCalls?: Readonly<Record<CallKind, number>>;
}

export interface HeapWindows {
  /** A call's, in each window. */
  readonly figures: ReadonlyMap<CallKind, readonly HeapFigures[]>;
  readonly objects: readonly ObjectWindow[];
}

/** @throws Error where the counted gateway fails */
export async function heapWindows(
  processes: Processes,
  { repoDir, scratchDir, windows, objectCalls }: Context,
): Promise<HeapWindows> {
  const heapDir = join(scratchDir, "heap");
  mkdirSync(heapDir);
  const heap = objectCalls === undefined ? {} : { objectCalls };
  const plan = { ...PLAN, scratchDir: heapDir, windows, heap };
  const figures = new Map<CallKind, HeapFigures[]>();
  let objects: readonly ObjectWindow[] = [];
  await conductCounted(processes, { repoDir, plan, name: "heap" }, (step) => {
    if (step.kind === "objects") objects = step.windows;
    if (step.kind !== "end" || step.heap === undefined) return;
    const { heapBytes, bufferBytes } = step.heap;
    const one = { heapBytes: heapBytes / step.calls, bufferBytes: bufferBytes / step.calls };
    figures.set(step.of, [...(figures.get(step.of) ?? []), one]);
  });
  return { figures, objects };
}
