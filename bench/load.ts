/**
 * The load process: runs jobs received over its IPC channel, one at a time. A separate process, so that its CPU is not
 * counted for a target, and one for the whole run, so that it stays warm. Ends with its parent.
 */
import { runCalls } from "./load-calls.ts";
import type { LoadJob } from "./load-job.ts";
import { runStreams } from "./load-streams.ts";

process.on("disconnect", () => process.exit(0));
process.on("message", (job: LoadJob) => {
  const running = job.kind === "calls" ? runCalls(job) : runStreams(job);
  running.then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
