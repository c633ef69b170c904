/** Turns errors of ClickHouse into those that clients are told: the database is away or busy, or the question takes too much. */
import { ClickHouseError } from "@clickhouse/client";
import { fail, WeirError } from "../../base/errors.ts";

/** Error codes of a server that runs but cannot serve now. Any other code is a fault of the gateway. */
const BUSY: ReadonlySet<number> = new Set([
  159, 160, 202, 203, 209, 210, 216, 241, 242, 243, 252, 319, 394, 516,
]);

/** Error codes for rows, time, memory and bytes. Memory of the whole server (`total`) is not the statement's. */
const LIMIT_CODES: ReadonlySet<number> = new Set([158, 159, 160, 241, 307]);

/** @returns undefined for an error that is no limit's of the statement */
export function tooLarge(error: unknown): WeirError | undefined {
  if (!(error instanceof ClickHouseError) || !LIMIT_CODES.has(Number(error.code))) return undefined;
  if (error.code === "241" && /\(total\)|memory limit exceeded: .*server/i.test(error.message))
    return undefined;
  return fail("query_too_large", "This needs more memory or time than one question may take: narrow it.", {
    cause: error,
  });
}

/** @returns undefined for an error that is a fault of the gateway */
export function unavailable(error: unknown): WeirError | undefined {
  if (error instanceof WeirError) return error;
  if (error instanceof ClickHouseError && !BUSY.has(Number(error.code))) return undefined;
  return fail("analytics_unavailable", "Usage records cannot be read now; calls are not affected.", {
    cause: error,
    retryAfterMs: 1000,
  });
}
