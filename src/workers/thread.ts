/**
 * A worker thread for the functions of one module. Whoever opens it names the module, so that this room knows none that
 * lies above it. Started with the first task, gone after a minute without one. A task takes no longer than it may: what
 * waits for it learns its name, and the thread, which may be in an endless loop, is ended and started anew for those behind.
 */
import { Piscina } from "piscina";

export interface TaskOptions {
  /** Gives the task up sooner. */
  readonly signal?: AbortSignal | undefined;
  /** Memory that the thread takes over. */
  readonly transferList?: readonly ArrayBuffer[];
}

export interface WorkerThread {
  /**
   * Runs the module's export `name`. Input and result are cloned; shared memory is shared.
   * @throws what it throws, and Error with its name when it took too long, waiting for the thread included
   */
  run(name: string, input: unknown, options?: TaskOptions): Promise<unknown>;
  close(): Promise<void>;
}

const IDLE_MS = 60_000;
/** Far above what the largest body takes (seconds); beyond it something is wrong. */
const MAX_TASK_MS = 60_000;

/** @param boundMs how long a task may take; a minute unless given */
export function openThread(module: URL, boundMs: number = MAX_TASK_MS): WorkerThread {
  let thread: Piscina | undefined;
  return {
    async run(name, input, { signal, transferList = [] } = {}) {
      thread ??= new Piscina({
        filename: module.href,
        minThreads: 0,
        maxThreads: 1,
        idleTimeout: IDLE_MS,
        // Whatever flags this process runs under (a debugger, a test runner's loader) are not the worker's.
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      const timeout = AbortSignal.timeout(boundMs);
      const ended = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      try {
        return await thread.run(input, { name, signal: ended, transferList: [...transferList] });
      } catch (error) {
        if (!timeout.aborted || signal?.aborted === true) throw error;
        throw new Error(`the thread's task "${name}" took longer than ${boundMs} ms`);
      }
    },
    async close() {
      await thread?.destroy();
      thread = undefined;
    },
  };
}
