/** What `/metrics` says of jobs. */
import { greatest, measured, type RoomMetrics } from "../../base/metrics/sources.ts";
import type { Jobs } from "./jobs.ts";

export function jobMetrics(jobs: Pick<Jobs, "metrics">): RoomMetrics {
  const byKind = (help: string, count: "done" | "failed" | "gaveUp") => ({
    help,
    label: "kind",
    read: () =>
      Object.fromEntries(Array.from(jobs.metrics().byKind, ([kind, counts]) => [kind, counts[count]])),
  });
  return {
    gauges: {
      weir_jobs_running: measured("Jobs that run.", () => jobs.metrics().running),
      weir_jobs_lanes: greatest("Lanes with jobs that wait or run.", () => jobs.metrics().lanes),
      weir_jobs_stuck: greatest(
        "Jobs that failed too often: an operator decides.",
        () => jobs.metrics().givenUp,
      ),
    },
    counters: {
      weir_jobs_done_total: byKind("Runs of jobs that did not fail, by kind.", "done"),
      weir_jobs_failed_total: byKind("Runs of jobs that failed and are tried again, by kind.", "failed"),
      weir_jobs_given_up_total: byKind("Jobs that failed too often, by kind.", "gaveUp"),
    },
  };
}
