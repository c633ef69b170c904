/**
 * `npm run bench -- budget`: what a JSON call, a burst and one streamed event take, by counting, by step and by place: instructions,
 * bytes and objects in V8's heap, blocks outside of it, entries into V8's runtime, system calls. Nothing of it is a time.
 */
import { parseArgs } from "node:util";
import { valgrindVersion } from "../instructions/callgrind.ts";
import { FIGURES, type FigureName } from "../instructions/kept.ts";
import { type CallKind, LONG_EVENTS, SHORT_EVENTS } from "../instructions/streams.ts";
import { withProcesses } from "../processes.ts";
import { countHeap, type HeapCounts } from "./heap-counts.ts";
import { countInstructions } from "./instruction-counts.ts";
import { countOutside, type OutsideFigures } from "./outside-counts.ts";
import { type Budget, budgetText, type FigureBudget } from "./report.ts";
import { countSystemCalls, HOW_TO_GET_STRACE, hasStrace } from "./system-calls.ts";
import { Tally } from "./tally.ts";

export const BUDGET_USAGE = `npm run bench -- budget [options]   what a call takes by counting, by step and by place; 6 to 7 minutes beside other work

  Needs valgrind, which runs on Linux. System calls are counted where strace is on PATH.

  --case A,B           of: ${FIGURES.join(", ")} (default: all)
  --top N              rows of each list of places (default 30; 0: only the tables by step)
  --markdown           prints tables for docs/performance.md
  --no-system-calls    leaves out what needs sockets and strace`;

/** Windows of the exact bytes; the middle one counts. */
const HEAP_WINDOWS = 3;
const MOST_ROWS = 1_000;

interface Options {
  readonly figures: readonly FigureName[];
  readonly top: number;
  readonly isMarkdown: boolean;
  readonly hasSystemCalls: boolean;
}

interface Context {
  readonly repoDir: string;
  readonly cacheDir: string;
  readonly say: (line: string) => void;
}

/** @throws Error that names the invalid argument */
export function readBudgetOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      case: { type: "string", default: FIGURES.join(",") },
      top: { type: "string", default: "30" },
      markdown: { type: "boolean", default: false },
      "system-calls": { type: "boolean", default: true },
    },
  });
  const names = values.case.split(",");
  const unknown = names.find((name) => !FIGURES.some((figure) => figure === name));
  if (unknown !== undefined) throw new Error(`--case: "${unknown}" is none of ${FIGURES.join(", ")}`);
  const top = Number(values.top);
  if (!(Number.isInteger(top) && top >= 0 && top <= MOST_ROWS))
    throw new Error(`--top: "${values.top}" is not a whole number from 0 to ${MOST_ROWS}`);
  return {
    figures: FIGURES.filter((figure) => names.includes(figure)),
    top,
    isMarkdown: values.markdown,
    hasSystemCalls: values["system-calls"],
  };
}

/** @returns the tables. @throws Error where an argument is invalid, valgrind is missing, or a counted gateway fails */
export async function benchBudget(args: readonly string[], context: Context): Promise<string> {
  const { figures, top, isMarkdown, hasSystemCalls } = readBudgetOptions(args);
  // Before minutes are spent.
  await valgrindVersion();
  const { instructions, heap, outside, systemCalls } = await withProcesses(async (processes, scratchDir) => {
    const counting = { ...context, scratchDir };
    // Valgrind takes minutes of one core, and no count depends on what other processes do.
    const [counted, others] = await Promise.all([
      countInstructions(processes, counting),
      (async () => {
        const found = await countHeap(processes, { ...counting, windows: HEAP_WINDOWS });
        context.say("bytes and objects of the heap are counted");
        const [outside, systemCalls] = await Promise.all([
          countOutside(processes, counting),
          hasSystemCalls ? systemCallsIn(context) : "",
        ]);
        return { heap: found, outside, systemCalls };
      })(),
    ]);
    return { instructions: counted, ...others };
  });
  const budget: Budget = {
    figures: figures.map((figure) => figureBudget(figure, { instructions, heap, outside })),
    systemCalls,
  };
  return budgetText(budget, isMarkdown, top);
}

const systemCallsIn = async (context: Context): Promise<Budget["systemCalls"]> =>
  (await hasStrace()) ? await countSystemCalls(context) : HOW_TO_GET_STRACE;

/** Which kinds of calls make a figure, and how often each counts: an event is what a longer stream takes more. */
const MADE_OF: Readonly<Record<FigureName, readonly (readonly [CallKind, number])[]>> = {
  "json-1k": [["json-1k", 1]],
  "burst-64": [["burst-64", 1]],
  "streamed-event": [
    ["stream-272", 1 / (LONG_EVENTS - SHORT_EVENTS)],
    ["stream-16", -1 / (LONG_EVENTS - SHORT_EVENTS)],
  ],
};

interface Counts {
  readonly instructions: ReadonlyMap<CallKind, Tally>;
  readonly heap: HeapCounts;
  readonly outside: ReadonlyMap<CallKind, OutsideFigures>;
}

function figureBudget(figure: FigureName, { instructions, heap, outside }: Counts): FigureBudget {
  const tally = new Tally();
  const exact = { heapBytes: 0, bufferBytes: 0, blocks: 0, blockBytes: 0 };
  const sizes = new Map<number, number>();
  for (const [kind, times] of MADE_OF[figure]) {
    for (const part of [instructions.get(kind), heap.tallies.get(kind)])
      if (part !== undefined) tally.addAll(part, times);
    const windows = heap.figures.get(kind) ?? [];
    exact.heapBytes += times * middle(windows.map((window) => window.heapBytes));
    exact.bufferBytes += times * middle(windows.map((window) => window.bufferBytes));
    const blocks = outside.get(kind);
    exact.blocks += times * (blocks?.blocks ?? Number.NaN);
    exact.blockBytes += times * (blocks?.bytes ?? Number.NaN);
    for (const [size, count] of blocks?.sizes ?? []) sizes.set(size, (sizes.get(size) ?? 0) + times * count);
  }
  return { figure, tally, ...exact, blockSizes: [...sizes].sort(([a, n], [b, m]) => b * m - a * n) };
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
