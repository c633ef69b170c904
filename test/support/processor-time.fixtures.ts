/** How long code takes a processor: unlike the clock, this says the same on a machine that does other work. */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { cpuTime, tickUs } from "../../bench/measure.ts";

/** Milliseconds of processor time of this thread. Its resolution is that of the system, often 1 ms or better. */
export function processorMs(act: () => unknown): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The least of several tries, on an ordinary machine: the first ones compile, and some collect what others left. */
export const leastProcessorMs = (act: () => unknown, tries = 5): number =>
  onOrdinaryMachine(Math.min(...Array.from({ length: tries }, () => processorMs(act))));

/** So often is the work done that says how fast a machine is. */
const TIMES = 100;
/** What it takes where the bench's pipe takes 33 µs a call, as in most lines of `docs/testing.md`, milliseconds. */
const ORDINARY_MS = 125;
const BODY = JSON.stringify(
  Array.from({ length: 400 }, (_, i) => ({
    id: `call_${i}`,
    text: "word ".repeat(i % 40),
    at: [i, i / 7, null],
  })),
);

let slowness: number | undefined;

/**
 * Milliseconds of an ordinary machine's processor for those of this one's: machines of one kind differ by a factor of two from day to
 * day, and a bound is stated for one of them. A faster one is taken for ordinary.
 */
export function onOrdinaryMachine(ms: number): number {
  slowness ??= Math.max(1, processorMs(work) / ORDINARY_MS);
  return Math.round((10 * ms) / slowness) / 10;
}

/** What a gateway does much: JSON is read, looked through and written. */
function work(): void {
  for (let i = 0; i < TIMES; i++) {
    const read = JSON.parse(BODY) as { text: string }[];
    const words = read.flatMap(({ text }) => text.split(" "));
    Buffer.from(JSON.stringify({ read, long: words.filter(({ length }) => length > i) }));
  }
}

/**
 * Milliseconds of an ordinary machine's processor that the longest turn of this thread's event loop took while `act` ran: other threads
 * and processes do not count.
 */
export async function longestTurnMs(act: () => Promise<unknown>): Promise<number> {
  let longestUs = 0;
  let last = threadUs();
  const look = () => {
    const now = threadUs();
    longestUs = Math.max(longestUs, now - last);
    last = now;
  };
  const timer = setInterval(look, 2);
  try {
    await act();
  } finally {
    clearInterval(timer);
  }
  look();
  return onOrdinaryMachine(longestUs / 1000);
}

function threadUs(): number {
  // Linux adds the running slice to a thread's time at each tick, every 4 ms, and when the whole process is asked for.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

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

/** How long all processors of the machine were busy since it started. */
const busyMs = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);

/** So many processors kept busy by others make a measurement worth another try. */
const CROWDED = 0.8;

/**
 * Whether `act` came out true: at once, or in a further try where others had the machine during each one before. On a machine that
 * does nothing else the first try decides.
 * @param tries at most
 */
export async function holdsUnlessCrowded(act: () => Promise<boolean>, tries = 4): Promise<boolean> {
  for (let left = tries; left > 0; left--) {
    const [startMs, before] = [performance.now(), othersMs()];
    if (await act()) return true;
    if ((othersMs() - before) / (performance.now() - startMs) < CROWDED) return false;
  }
  return false;
}

/** Processor time that went to others than this process and those below it, what the host took included (proc_stat(5): steal). */
function othersMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync(
    "/proc/stat",
    "utf8",
  )
    .slice("cpu".length, 500)
    .trim()
    .split(/\s+/)
    .map(Number);
  const { ownUs, childrenUs } = cpuTime(process.pid);
  return ((user + nice + system + irq + softirq + steal) * tickUs() - ownUs - childrenUs) / 1000;
}
