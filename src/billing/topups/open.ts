/** Opens top-ups: their rows, and the job that looks after each until its money has come or never will. */
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { TopupTables } from "./tables.ts";
import { type TopupWatchDeps, topupWatcher, watchTopup } from "./watch.ts";

export interface TopupPorts extends Omit<TopupWatchDeps, "topups" | "looks"> {
  readonly store: Store;
  readonly jobs: Pick<Jobs, "handle">;
}

export type OpenTopups = Pick<TopupWatchDeps, "topups" | "looks">;

/** Call before jobs start. */
export function openTopups(ports: TopupPorts): OpenTopups {
  const topups = new TopupTables(ports.store);
  const looks: TopupWatchDeps["looks"] = new Map();
  ports.jobs.handle(watchTopup, topupWatcher({ ...ports, topups, looks }));
  return { topups, looks };
}
