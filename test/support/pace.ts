/**
 * What takes time by design, beside what is tested: how fast a load comes, and when a fault strikes. No test waits for something in
 * this way, and none is right or wrong by how long it took: that is what `wait.ts` is for.
 */
import { setTimeout as later } from "node:timers/promises";
import type { Random } from "../../src/base/clock.ts";

/**
 * A client's rest between two calls, because it was told to wait or because load would leave no processor to what is tested; and how
 * long something that a test makes up takes.
 * @throws AbortError once the signal is aborted
 */
export const rest = (ms: number, signal?: AbortSignal): Promise<void> =>
  later(ms, undefined, signal === undefined ? {} : { signal });

/** Until a fault strikes: at any instant of so many milliseconds, whatever happens then. */
export const anyMoment = (random: Random, withinMs: number): Promise<void> => later(random() * withinMs);

/** Does something again and again beside the test, as another process would, until the returned function is called. */
export function again(act: () => unknown, everyMs: number): () => void {
  const timer = setInterval(act, everyMs);
  return () => clearInterval(timer);
}

/** The processor is this thread's for so long, as an act or a turn takes that does very much. */
export function keepBusy(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

/** What came first: the promise, or a rest of so many milliseconds that began behind it. A late machine is late with both. */
export const sooner = (promise: Promise<unknown>, ms: number): Promise<"the promise" | "the rest"> =>
  Promise.race([promise.then(() => "the promise" as const), rest(ms).then(() => "the rest" as const)]);
