/**
 * What a turn of the event loop did, in time: places of the code that work long at once name themselves. A turn belongs to one thread, so
 * this is the thread's own.
 */
import { systemClock } from "../clock.ts";

/** Kinds of work that may take a turn for itself. `other`: nothing named, mostly many calls at once. */
export const LONG_WORK = ["other", "collection", "commit", "follow", "insertion", "body", "tick"] as const;
export type LongWork = (typeof LONG_WORK)[number];

/** Milliseconds of each kind in the turn under way, by place in the list. */
const spentMs = new Float64Array(LONG_WORK.length);
let isAnySpent = false;
let onLong: ((ms: number) => void) | undefined;

/** Work that takes less is not told of by itself. */
const LONG_MS = 1;

/**
 * Runs `act`, and notes the time that it takes. Costs two readings of the clock: for what is done once for many calls, or seldom.
 * @throws what `act` throws
 */
export function during<T>(what: LongWork, act: () => T): T {
  const fromMs = systemClock.monotonic();
  try {
    return act();
  } finally {
    const ms = systemClock.monotonic() - fromMs;
    const at = LONG_WORK.indexOf(what);
    spentMs[at] = (spentMs[at] as number) + ms;
    isAnySpent = true;
    if (ms >= LONG_MS) onLong?.(ms);
  }
}

/** @param told of each piece of work of a millisecond or more, at its end, with its time */
export function onLongWork(told: (ms: number) => void): void {
  onLong = told;
}

/** The kind that took most since the last question, and its milliseconds. */
export function takeLongest(): { readonly what: LongWork; readonly ms: number } {
  if (!isAnySpent) return NOTHING;
  let at = 0;
  for (let i = 1; i < spentMs.length; i++) if ((spentMs[i] as number) > (spentMs[at] as number)) at = i;
  const longest = { what: LONG_WORK[at] as LongWork, ms: spentMs[at] as number };
  spentMs.fill(0);
  isAnySpent = false;
  return longest;
}

const NOTHING = { what: "other", ms: 0 } as const;
