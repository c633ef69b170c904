/**
 * The cost of a process and its children, from the kernel's accounting in /proc (Linux): CPU of all threads, including
 * ended ones, and resident memory. CPU has a resolution of 10 ms, so measure over seconds.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

export const MEASURABLE = process.platform === "linux";

let ticksPerSecond = 0;

/** Microseconds in one clock tick of the kernel's CPU accounting. */
export function tickUs(): number {
  if (ticksPerSecond === 0)
    ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return 1_000_000 / ticksPerSecond;
}

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** Ticks, user and system, of all threads. */
  readonly cpu: number;
  /** Ticks of children that ended and were waited for. */
  readonly endedChildren: number;
  /** Ticks since boot; with the pid it identifies a process uniquely. */
  readonly startedAt: number;
}

/** Undefined when there is no such process. Fields as in proc_pid_stat(5). */
export function processStat(pid: number): ProcessStat | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name is in parentheses and may contain anything; the numbers follow the last one. Index 0 is field 3, `state`.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    pid,
    parent: field(4),
    cpu: field(14) + field(15),
    endedChildren: field(16) + field(17),
    startedAt: field(22),
  };
}

/** With its arguments; empty where there is no such process. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** All running descendants of `pid`, nearest first. */
export function descendants(pid: number): ProcessStat[] {
  const children = new Map<number, ProcessStat[]>();
  for (const entry of readdirSync("/proc")) {
    const stat = /^\d+$/.test(entry) ? processStat(Number(entry)) : undefined;
    if (stat === undefined) continue;
    const siblings = children.get(stat.parent);
    if (siblings === undefined) children.set(stat.parent, [stat]);
    else siblings.push(stat);
  }
  const found: ProcessStat[] = [];
  for (let queue = children.get(pid) ?? []; queue.length > 0; ) {
    found.push(...queue);
    queue = queue.flatMap((stat) => children.get(stat.pid) ?? []);
  }
  return found;
}

/** The process has ended: a dead target must not look cheap. */
export class ProcessGone extends Error {
  constructor(pid: number) {
    super(`process ${pid} has ended`);
  }
}

export interface CpuTime {
  /** Microseconds since the process began. */
  readonly ownUs: number;
  /** The same for all its descendants, running and ended. */
  readonly childrenUs: number;
}

/** @throws ProcessGone */
export function cpuTime(pid: number): CpuTime {
  const own = processStat(pid);
  if (own === undefined) throw new ProcessGone(pid);
  let children = own.endedChildren;
  for (const child of descendants(pid)) children += child.cpu + child.endedChildren;
  return { ownUs: own.cpu * tickUs(), childrenUs: children * tickUs() };
}

export interface Memory {
  readonly residentKb: number;
  /** Highest since the process began, or since `forgetPeak`. */
  readonly peakKb: number;
}

/** Memory of the process without its children. @throws ProcessGone */
export function memory(pid: number): Memory {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    throw new ProcessGone(pid);
  }
  const kb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
  const residentKb = kb("VmRSS");
  // The kernel brings its peak up to date only now and then.
  return { residentKb, peakKb: Math.max(kb("VmHWM"), residentKb) };
}

/** Resets the peak (clear_refs 5). Where the kernel forbids it, the peak stays that of the whole run. */
export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Not permitted here.
  }
}

/**
 * Waits until the process and its children have been idle for a quarter of a second (after calls they still write
 * records and collect garbage), at most `limitMs`.
 */
export async function settle(pid: number, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  let before = cpuTime(pid);
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    const now = cpuTime(pid);
    const spentUs = now.ownUs - before.ownUs + now.childrenUs - before.childrenUs;
    if (spentUs <= tickUs()) return;
    before = now;
  }
}
