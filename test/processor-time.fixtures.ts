/** How long code takes a processor: unlike the clock, this says the same on a machine that does other work. */

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
