/** The bench's side of the load process: one job at a time, its result as a promise. */
import { join } from "node:path";
import type { LoadJob, LoadResult } from "./load-job.ts";
import type { Processes, Started } from "./processes.ts";

type Reply = { readonly result: LoadResult } | { readonly error: string };

export class LoadClient {
  readonly #started: Started;

  private constructor(started: Started) {
    this.#started = started;
  }

  static async start(processes: Processes, repoDir: string): Promise<LoadClient> {
    const script = join(repoDir, "bench/load.ts");
    return new LoadClient(await processes.start("load", process.execPath, [script], { ipc: true }));
  }

  get pid(): number {
    return this.#started.pid;
  }

  /** @throws Error when the load process fails or ends; a failing target is reported in the result. */
  run(job: LoadJob): Promise<LoadResult> {
    const { child } = this.#started;
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error(`the load process ended: ${this.#started.log()}`));
      child.once("exit", onExit);
      child.once("message", (reply: Reply) => {
        child.off("exit", onExit);
        if ("result" in reply) resolve(reply.result);
        else reject(new Error(`the load process failed: ${reply.error}`));
      });
      child.send(job);
    });
  }
}
