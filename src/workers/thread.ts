/**
 * A worker thread for the functions of one module, which the caller names: `workers` must not import rooms above it. The
 * thread starts with the first task and ends after a minute without one. A task may take at most `boundMs`: then its caller
 * gets an Error with its name, and the thread, which may be in an endless loop, is replaced for the tasks that wait.
 */
import { Piscina } from "piscina";

export interface TaskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Buffers that are transferred to the thread. */
  readonly transferList?: readonly ArrayBuffer[];
}

export interface WorkerThread {
  /**
   * Runs the module's export `name`. Input and result are cloned; shared memory is shared.
   * @throws what the function throws, and Error with its name if it took too long, including the time it waited
   */
  run(name: string, input: unknown, options?: TaskOptions): Promise<unknown>;
  close(): Promise<void>;
}

const IDLE_MS = 60_000;
/** Far more than the largest body takes (seconds). */
const MAX_TASK_MS = 60_000;

/** @param boundMs the longest time of a task; default: a minute */
export function openThread(module: URL, boundMs: number = MAX_TASK_MS): WorkerThread {
  let thread: Piscina | undefined;
  return {
    async run(name, input, { signal, transferList = [] } = {}) {
      thread ??= new Piscina({
        filename: module.href,
        minThreads: 0,
        maxThreads: 1,
        idleTimeout: IDLE_MS,
        // Flags of this process (a debugger, a test runner's loader) are not passed to the worker.
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
