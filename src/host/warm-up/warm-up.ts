/**
 * Calls that a gateway makes before it listens, so that its code is compiled when the first client comes. They go through throw-away
 * gateways in this process: the same functions run, and nothing of the real gateway knows of them.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type Clock, inTime, systemClock } from "../../base/clock.ts";
import { makeFolder } from "../../base/process/make-folder.ts";
import { type Answerer, openAnswerer } from "./answerer.ts";
import { CALLS } from "./calls.ts";
import { collectGarbage } from "./collection.ts";
import { openThrowAway, type ThrowAway } from "./throw-away.ts";
import { optimiseEarlier } from "./tiering.ts";

export interface WarmUpOptions {
  /** Its throw-away gateways keep their data in a folder there, which is this process's alone. */
  readonly dataDir: string;
  /**
   * What it takes at most, its gateways' start and stop included, where this thread and V8's compiler have a processor each, in
   * milliseconds; 0: there is none.
   */
  readonly ms: number;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Processor time that the process has had, in milliseconds. */
  readonly spentMs?: () => number;
}

/**
 * Code that was compiled for one gateway holds its objects for the only ones: it is of no use to the next gateway. Code that knows two
 * holds for a third.
 */
const GATEWAYS = 2;
/** At each gateway. */
const CALLERS = 8;
/** More calls compile little of what is left. */
const MOST_CALLS = 480;
/** Share of the time behind which no call begins: in the rest the gateways stop, and V8 compiles what the calls made hot. */
const CALLING = 0.8;
/**
 * What the process has had of processors by a moment of a machine that is idle, as a multiple of the time until then: this thread all
 * of it, and the compiler's about half.
 */
const SHARE = 1.5;
/** On a machine with other work it may take so many times as long until it has had that, and until all is compiled. */
const BUSY_CALLING = 3;
const BUSY = 5;
/** The process is idle when it has had less than `IDLE_MS` of a processor in `LOOK_MS`. */
const LOOK_MS = 20;
const IDLE_MS = 4;
/** Beyond that, for what hangs: a disk, a call. It is left behind then, and the real gateway starts. */
const GRACE_MS = 1500;

/** Its folder in the data folder; also that of an earlier warm-up, which a kill ended. */
export const warmUpFolder = (dataDir: string): string => join(dataDir, "warm-up");

/** Resolves when it is over, or has hung for `GRACE_MS`, and leaves nothing. A failure is logged: no start fails for it. */
export async function warmUp(options: WarmUpOptions): Promise<void> {
  const { ms, log, clock = systemClock, spentMs = processorMs, dataDir, signal } = options;
  const folder = warmUpFolder(dataDir);
  const beganMs = clock.monotonic();
  const spentBeforeMs = spentMs();
  const isAfter = (idleMs: number, busyMs: number) => {
    if (signal?.aborted === true) return true;
    const pastMs = clock.monotonic() - beganMs;
    return pastMs >= busyMs || (pastMs >= idleMs && spentMs() - spentBeforeMs >= idleMs * SHARE);
  };
  const isOver = () => isAfter(ms * CALLING, ms * BUSY_CALLING);
  const isLate = () => isAfter(ms, ms * BUSY);
  const failed = (err: unknown) =>
    log.warn({ err }, "the gateway was not warmed up: its first calls take longer");
  let asBefore = () => {};
  try {
    rmSync(folder, { recursive: true, force: true });
    if (ms === 0) return;
    // Not behind the calls: it would take optimised code with it that knows objects of the throw-away gateways.
    collectGarbage();
    asBefore = optimiseEarlier();
    makeFolder(folder);
    const made = makeCalls(folder, isOver, failed).finally(() => untilCompiled(spentMs, isLate));
    const withinMs = ms * BUSY + GRACE_MS;
    const calls = await inTime(made, withinMs, () => {
      throw new Error(`the warm-up did not end within ${withinMs} ms`);
    });
    log.info({ calls, ms: Math.round(clock.monotonic() - beganMs) }, "warmed up");
  } catch (error) {
    failed(error);
  } finally {
    asBefore();
    removeFolder(folder, failed);
  }
}

/** V8 compiles in a thread of its own, and is behind: until the process does nothing more. */
async function untilCompiled(spentMs: () => number, isLate: () => boolean): Promise<void> {
  for (let beforeMs = Number.NEGATIVE_INFINITY; !isLate(); ) {
    const nowMs = spentMs();
    if (nowMs - beforeMs < IDLE_MS) return;
    beforeMs = nowMs;
    await sleep(LOOK_MS);
  }
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** @returns the number of calls. @throws Error of what did not work; what was opened is closed */
async function makeCalls(
  folder: string,
  isOver: () => boolean,
  failed: (error: unknown) => void,
): Promise<number> {
  let answerer: Answerer | undefined;
  const gateways: ThrowAway[] = [];
  try {
    answerer = await openAnswerer();
    for (let at = 0; at < GATEWAYS; at++) {
      const own = join(folder, String(at));
      makeFolder(own);
      gateways.push(await openThrowAway(own, answerer.url));
    }
    let calls = 0;
    const next = () => (calls < MOST_CALLS && !isOver() ? CALLS[calls++ % CALLS.length] : undefined);
    await Promise.all(gateways.map((gateway) => gateway.call(CALLERS, next)));
    return calls;
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop().catch(failed)));
    answerer?.close();
  }
}

function removeFolder(folder: string, failed: (error: unknown) => void): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    failed(error);
  }
}
