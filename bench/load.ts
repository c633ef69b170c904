/**
 * The load process: runs jobs received over its IPC channel, one at a time. A separate process, so that its CPU is not
 * counted for a target, and one for the whole run, so that it stays warm. Ends with its parent.
 */
import { runCalls } from "./load-calls.ts";
import type { LoadJob, LoadResult } from "./load-job.ts";
import { runRate } from "./load-rate.ts";
import { runStreams } from "./load-streams.ts";

process.on("disconnect", () => process.exit(0));
process.on("message", (job: LoadJob) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

function run(job: LoadJob): Promise<LoadResult> {
  if (job.kind === "calls") return runCalls(job);
  return job.kind === "streams" ? runStreams(job) : runRate(job);
}
