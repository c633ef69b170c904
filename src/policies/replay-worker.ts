/**
 * The near side of a replay's thread: asks it one thing at a time, and turns its end, however it comes, into a failure of
 * whoever waits.
 */
import { Worker } from "node:worker_threads";
import { fail, type WeirError } from "../errors.ts";
import type { ReplayAnswer, ReplayTask } from "./replay-thread.ts";

/** Megabytes of objects; the rows are not among them. */
const MAX_HEAP_MB = 512;

export class ReplayThread {
  /** Rejects when the thread ends before it was told to. Never resolves. */
  readonly failure: Promise<never>;
  readonly #worker: Worker;
  #fail: (error: Error) => void = () => {};
  /** Of the question under way. */
  #answered: ((answer: ReplayAnswer) => void) | undefined;
  #ended: Promise<unknown> | undefined;

  constructor() {
    this.failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // Whoever waits may have left already.
    this.failure.catch(() => {});
    this.#worker = new Worker(new URL("./replay-thread.ts", import.meta.url), {
      // Nothing of the environment is the thread's: it holds credentials.
      env: {},
      // Nor are the flags of this process (a debugger, a test runner's loader).
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

  /** One question at a time; `transfer` is not readable here afterwards. Rejects as `failure` does. */
  ask(task: ReplayTask, transfer: readonly ArrayBuffer[] = []): Promise<ReplayAnswer> {
    const answer = new Promise<ReplayAnswer>((resolve) => {
      this.#answered = resolve;
      this.#worker.postMessage(task, [...transfer]);
    });
    return Promise.race([answer, this.failure]);
  }

  /** Ends the thread, also in the middle of its work. @param reason what `failure` then says. */
  async end(reason?: WeirError): Promise<void> {
    if (reason !== undefined) this.#fail(reason);
    this.#ended ??= this.#worker.terminate();
    await this.#ended;
  }

  #died(cause: Error): void {
    this.#fail(fail("internal", "The replay failed on our side. Nothing else is affected.", { cause }));
  }
}
