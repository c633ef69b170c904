/**
 * Decides which records and payloads a key may read. Records belong to the org; a test key sees those of test calls only.
 * Payloads belong to a project: keys of other projects need the scope `read:payloads`.
 */
import type { Caller } from "../../base/operation/operation.ts";
import type { CallRecord } from "../../record/record.ts";

type Reader = Pick<Caller, "orgId" | "projectId" | "environment" | "scopes">;

/** Whether the reader may see the record. If not, the record must be answered as not found. */
export const maySeeRecord = (
  { orgId, environment }: Reader,
  record: Pick<CallRecord, "orgId" | "environment">,
): boolean => record.orgId === orgId && (environment === "live" || record.environment === "test");

/** Whether the reader may see request and answer of a record that it may see. */
export const mayReadPayload = (
  { projectId, scopes }: Reader,
  record: Pick<CallRecord, "projectId">,
): boolean => record.projectId === projectId || scopes.has("read:payloads");

/** {@link maySeeRecord} as a condition over `requests` and `usage_hourly`; empty if it excludes nothing. */
export const environmentCondition = ({ environment }: Pick<Caller, "environment">): string =>
  environment === "test" ? " AND environment = 'test'" : "";
