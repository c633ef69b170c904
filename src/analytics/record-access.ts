/**
 * Which records and payloads a key may read. Records are the org's; a test key sees those of test calls only, as if there
 * were no others. Payloads are a project's: keys of others need `read:payloads`.
 */
import type { Caller } from "../operation.ts";
import type { CallRecord } from "../record.ts";

type Reader = Pick<Caller, "orgId" | "projectId" | "environment" | "scopes">;

/** Whether the record exists for the reader. */
export const maySeeRecord = (
  { orgId, environment }: Reader,
  record: Pick<CallRecord, "orgId" | "environment">,
): boolean => record.orgId === orgId && (environment === "live" || record.environment === "test");

/** Whether the reader may see request and answer of a record that it may see. */
export const mayReadPayload = (
  { projectId, scopes }: Reader,
  record: Pick<CallRecord, "projectId">,
): boolean => record.projectId === projectId || scopes.has("read:payloads");

/** What {@link maySeeRecord} says, as a condition over `requests` and `usage_hourly`; empty where it excludes nothing. */
export const environmentCondition = ({ environment }: Pick<Caller, "environment">): string =>
  environment === "test" ? " AND environment = 'test'" : "";
