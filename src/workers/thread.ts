/**
 * A worker thread for the functions of one module. Whoever opens it names the module, so that this room knows none that
 * lies above it. Started with the first task, gone after a minute without one.
 */
import { Piscina } from "piscina";
import { LONGEST_TASK_MS, runBounded } from "./bounded-task.ts";

export interface WorkerThread {
  /**
   * Runs the module's export `name`. Input and result are cloned; shared memory is shared.
   * @throws what it throws, and Error when it took longer than a minute or `boundMs`
   */
  run(name: string, input: unknown): Promise<unknown>;
  close(): Promise<void>;
}

const IDLE_MS = 60_000;

export function openThread(module: URL, boundMs: number = LONGEST_TASK_MS): WorkerThread {
  let thread: Piscina | undefined;
  return {
    run(name, input) {
      thread ??= new Piscina({
        filename: module.href,
        minThreads: 0,
        maxThreads: 1,
        idleTimeout: IDLE_MS,
        // Whatever flags this process runs under (a debugger, a test runner's loader) are not the worker's.
        execArgv: ["--disable-warning=ExperimentalWarning"],
      });
      return runBounded(thread, input, { name, boundMs });
    },
    async close() {
      await thread?.destroy();
      thread = undefined;
    },
  };
}
