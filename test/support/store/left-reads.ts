/**
 * Ranges of LMDB that somebody began and had not ended when the turn of the event loop was over. Each keeps one of 126 places for reads
 * until the process stops, and without a place no row can be read. A loop ends its range, also one that is left early; `next()` alone
 * does not (`firstOf` and `merged` of `src/base/lists.ts` do).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";

type Rows = Iterator<unknown> & Iterable<unknown>;
/** What the package makes all its ranges of. */
interface Ranges {
  [Symbol.iterator](): Rows;
}

/** Frames of a stack that are kept: a range is begun deep in generators. */
const FRAMES = 40;
// Tests put others in its place.
const afterTurn = setImmediate;

/** Ranges that are read now, each by the stack of who began it. */
const begun = new Set<Error>();
const left: Error[] = [];
let isAsked = false;
let isWatching = false;

/** Watches all ranges of this process from now on; once. Costs each of them its stack. */
export async function watchReads(): Promise<void> {
  if (isWatching) return;
  isWatching = true;
  const ranges = await prototypeOfRanges();
  const begin = ranges[Symbol.iterator];
  ranges[Symbol.iterator] = function () {
    return watched(begin.call(this));
  };
}

/** The stacks of who began what was left since the last question. Answers once the turn under way is over. */
export async function takeLeftReads(): Promise<readonly Error[]> {
  await new Promise<void>((resolve) => afterTurn(resolve));
  return left.splice(0);
}

function watched(rows: Rows): Rows {
  const stack = stackOfNow();
  begun.add(stack);
  if (!isAsked) afterTurn(look);
  isAsked = true;
  const end = () => void begun.delete(stack);
  return {
    next() {
      const step = rows.next();
      if (step.done === true) end();
      return step;
    },
    return(value) {
      end();
      return rows.return?.(value) ?? { done: true, value };
    },
    throw(error) {
      end();
      return rows.throw?.(error) ?? { done: true, value: undefined };
    },
    [Symbol.iterator]() {
      return this;
    },
  };
}

function look(): void {
  isAsked = false;
  left.push(...begun);
  begun.clear();
}

function stackOfNow(): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const error = new Error("a range of the store was begun and not ended in its turn of the event loop");
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

async function prototypeOfRanges(): Promise<Ranges> {
  const folder = mkdtempSync(join(tmpdir(), "weir-ranges-"));
  const root = open({ path: join(folder, "ranges.mdb"), noSync: true });
  const ranges: Ranges = Object.getPrototypeOf(root.getRange());
  await root.close();
  rmSync(folder, { recursive: true, force: true });
  return ranges;
}
