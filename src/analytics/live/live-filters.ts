/** The filters of `GET /v1/live`: those of the tail that a page needs. */
import { z } from "zod";
import { FILTERS, type RequestFilters } from "../requests/request-filters.ts";
import type { RunningCall } from "./running-call.ts";

const { project_id, key_id, model, provider, status, errors_only } = FILTERS;

/** Members of a query. */
export const LIVE_FILTERS = { project_id, key_id, model, provider, status, errors_only };

/** What is known of a call that runs. */
export const runningFilters = z.object({ project_id, key_id, model });
export type RunningFilters = z.output<typeof runningFilters>;

/** Undefined where only a call that has ended can be told to pass: no call that runs is shown then. */
export function filtersOfRunning(filters: RequestFilters): RunningFilters | undefined {
  if (filters.provider !== undefined || filters.status !== undefined || filters.errors_only === true)
    return undefined;
  const { project_id, key_id, model } = filters;
  return { project_id, key_id, model };
}

/** Whether a running call passes. @param environment of the reader: one of `test` sees calls of test keys alone */
export const passes = (
  call: RunningCall,
  { project_id, key_id, model }: RunningFilters,
  environment: RunningCall["environment"],
): boolean =>
  (project_id === undefined || call.projectId === project_id) &&
  (key_id === undefined || call.keyId === key_id) &&
  (model === undefined || call.model === model) &&
  (environment === "live" || call.environment === "test");
