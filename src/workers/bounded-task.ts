/**
 * A task of a worker thread takes no longer than it may: what waits for it learns its name, and the thread, which may be
 * in an endless loop, is ended and started anew for the tasks behind it.
 */
import type { Piscina } from "piscina";

/** Far above what the largest body takes (seconds); beyond it something is wrong. */
export const LONGEST_TASK_MS = 60_000;

interface TaskOptions {
  /** The function to run: an export of the thread's module. */
  readonly name: string;
  readonly boundMs?: number | undefined;
  /** Gives the task up sooner. */
  readonly signal?: AbortSignal | undefined;
  readonly transferList?: readonly ArrayBuffer[];
}

/** @throws what the task throws, and Error with the task's name when it took too long, waiting for the thread included */
export async function runBounded(pool: Piscina, input: unknown, options: TaskOptions): Promise<unknown> {
  const { name, boundMs = LONGEST_TASK_MS, signal, transferList } = options;
  const late = AbortSignal.timeout(boundMs);
  try {
    return await pool.run(input, {
      name,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      ...(transferList && { transferList: [...transferList] }),
    });
  } catch (error) {
    if (!late.aborted || signal?.aborted === true) throw error;
    throw new Error(`the thread's task "${name}" took longer than ${boundMs} ms`);
  }
}
