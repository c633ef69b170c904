/**
 * The main thread's side of a replay thread: sends it one task at a time, and turns its end, however it comes, into a
 * rejection of the pending task.
 */
import { Worker } from "node:worker_threads";
import { fail, type WeirError } from "../../../base/errors.ts";
import type { ReplayAnswer, ReplayTask } from "./replay-thread.ts";

/** Megabytes of heap; the rows, outside the heap, do not count. */
const MAX_HEAP_MB = 512;

export class ReplayThread {
  /** Rejects when the thread ends before `end` was called. Never resolves. */
  readonly failure: Promise<never>;
  readonly #worker: Worker;
  readonly #fail: (error: Error) => void;
  /** Resolves the pending task. */
  #answered: ((answer: ReplayAnswer) => void) | undefined;
  #ended: Promise<unknown> | undefined;

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.failure = promise;
    this.#fail = reject;
    // Nobody may be waiting any more: no unhandled rejection.
    this.failure.catch(() => {});
    this.#worker = new Worker(new URL("./replay-thread.ts", import.meta.url), {
      // The thread gets no environment: it holds credentials.
      env: {},
      // Nor the flags of this process (a debugger, a test runner's loader).
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    this.#worker.on("message", (answer: ReplayAnswer) => this.#answered?.(answer));
    this.#worker.on("error", (error) => this.#died(error));
    this.#worker.on("messageerror", (error) => this.#died(error));
    this.#worker.on("exit", (code) => this.#died(new Error(`the thread ended with ${code}`)));
  }

  get threadId(): number {
    return this.#worker.threadId;
  }

  /** One task at a time; `transfer` is no longer readable here afterwards. Rejects as `failure` does. */
  ask(task: ReplayTask, transfer: readonly ArrayBuffer[] = []): Promise<ReplayAnswer> {
    const answer = new Promise<ReplayAnswer>((resolve) => {
      this.#answered = resolve;
      this.#worker.postMessage(task, [...transfer]);
    });
    return Promise.race([answer, this.failure]);
  }

  /** Ends the thread, even during a task. @param reason what `failure` rejects with. */
  async end(reason?: WeirError): Promise<void> {
    if (reason !== undefined) this.#fail(reason);
    this.#ended ??= this.#worker.terminate();
    await this.#ended;
  }

  #died(cause: Error): void {
    this.#fail(fail("internal", "The replay failed on our side. Nothing else is affected.", { cause }));
  }
}
