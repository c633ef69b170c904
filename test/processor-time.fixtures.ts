/** How long code takes a processor: unlike the clock, this says the same on a machine that does other work. */
import { cpus } from "node:os";

/** Milliseconds of processor time of this thread. Its resolution is that of the system, often 1 ms or better. */
export function processorMs(act: () => unknown): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The least of several tries: the first ones compile, and some collect what others left. */
export const leastProcessorMs = (act: () => unknown, tries = 5): number =>
  Math.min(...Array.from({ length: tries }, () => processorMs(act)));

export interface Spent {
  readonly tookMs: number;
  /** Processor time of this process, with all its threads. */
  readonly ownMs: number;
  /** How many processors other processes kept busy meanwhile. */
  readonly others: number;
}

/** What an act of this process took, and what others did beside it. */
export async function spent(act: () => Promise<unknown>): Promise<Spent> {
  const [startMs, own, busy] = [performance.now(), process.cpuUsage(), busyMs()];
  await act();
  const tookMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(own);
  const ownMs = (user + system) / 1000;
  return { tookMs, ownMs, others: (busyMs() - busy - ownMs) / tookMs };
}

/** Of all processors of the machine, since it started. */
const busyMs = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
