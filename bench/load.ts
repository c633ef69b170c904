/**
 * The load process: takes jobs over its IPC channel, one at a time, and answers each. A process of its own, so that
 * its CPU is on nobody's account, and one for the whole run, so that it is warm. Ends with its parent.
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
