/** What a call allocates in V8's heap: bytes, objects, and the places where they are made. */
import type { ObjectWindow } from "../instructions/counted.ts";
import type { HeapFigures, HeapFrame, HeapPlace } from "../instructions/heap-meter.ts";
import { heapWindows } from "../instructions/heap-windows.ts";
import type { CallKind } from "../instructions/streams.ts";
import type { Processes } from "../processes.ts";
import { pathOf } from "./paths.ts";
import { type Step, stepOfFile } from "./steps.ts";
import { Tally } from "./tally.ts";

/** Each object is noted, and its note is kept until the end: no more than that many can be collected in seconds. */
const OBJECT_CALLS: Readonly<Record<CallKind, number>> = {
  "json-1k": 480,
  "burst-64": 160,
  "stream-16": 64,
  "stream-272": 32,
};

export interface HeapCounts {
  /** A call's, in each window: exact. */
  readonly figures: ReadonlyMap<CallKind, readonly HeapFigures[]>;
  /** A call's, by steps and places. */
  readonly tallies: ReadonlyMap<CallKind, Tally>;
}

interface Context {
  readonly repoDir: string;
  readonly scratchDir: string;
  readonly windows: number;
}

/** @throws Error where the counted gateway fails */
export async function countHeap(processes: Processes, context: Context): Promise<HeapCounts> {
  const { figures, objects } = await heapWindows(processes, { ...context, objectCalls: OBJECT_CALLS });
  const tallies = new Map(objects.map((window) => [window.of, tallyOf(window, context.repoDir)]));
  return { figures, tallies };
}

function tallyOf({ calls, places }: ObjectWindow, repoDir: string): Tally {
  const tally = new Tally();
  for (const place of places) {
    const { step, title } = whereOf(place, repoDir);
    for (const [group, key] of [["step", step] as const, ["place", title] as const]) {
      tally.add(group, key, "heapBytes", place.bytes / calls);
      tally.add(group, key, "objects", place.objects / calls);
    }
  }
  return tally;
}

/** The step of the innermost function that has one, and the innermost function of the repository or of a package. */
function whereOf({ frames }: HeapPlace, repoDir: string): { step: Step; title: string } {
  const files = frames.map(({ url }) => pathOf(url, repoDir));
  const step = files.map(stepOfFile).find((found) => found !== undefined);
  const own = files.findIndex((file) => file !== "" && !file.startsWith("node:"));
  return {
    step: step ?? "other threads, the rest",
    title: own < 0 ? "no caller in JavaScript" : titleOf(frames[own] as HeapFrame, files[own] ?? ""),
  };
}

const titleOf = ({ name, line }: HeapFrame, file: string): string =>
  `${name === "" ? "(anonymous)" : name} ${file}:${line}`;
