/**
 * Ends the process without a deadlock. `process.exit` joins the threads of libuv's pool, and LMDB writes a transaction on such
 * a thread while it waits for this one to hand it the writes: an exit in the midst of a transaction would never return.
 */
import { inTime, systemClock } from "../clock.ts";

/** A thread that waits for this one has what it waits for within milliseconds; one that takes longer waits for a disk. */
const MOST_MS = 1000;

const unfinished = new Set<Promise<unknown>>();
let isEnding = false;

/** Runs an act that needs this thread until it is done: `endProcess` waits for it. Once the process ends, none begins any more. */
export async function beforeEnd<T>(act: () => Promise<T>): Promise<T> {
  if (isEnding) return await new Promise<never>(() => {});
  const running = act();
  unfinished.add(running);
  try {
    return await running;
  } finally {
    unfinished.delete(running);
  }
}

/**
 * Ends the process with this exit code as soon as no act of `beforeEnd` is under way, or after a second. The next start recovers
 * what was under way.
 */
export async function endProcess(code: number): Promise<never> {
  isEnding = true;
  const endMs = systemClock.monotonic() + MOST_MS;
  while (unfinished.size > 0 && systemClock.monotonic() < endMs) {
    await inTime(Promise.allSettled(unfinished), endMs - systemClock.monotonic(), () => {});
  }
  process.exit(code);
}
