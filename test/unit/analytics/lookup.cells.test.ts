/** The record of a call that is not found while another cell may have it. */
import { expect, test } from "vitest";
import { callRecord, type LookupDeps } from "../../../src/analytics/requests/lookup-operations.ts";
import type { OtherCells } from "../../../src/analytics/requests/other-cells.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";

const reader = { orgId: "org_a" } as Caller;
const depsOf = (isDone: boolean): LookupDeps => {
  const others: Pick<OtherCells, "flush"> = { flush: async () => ({ isDone, missingSinceMs: undefined }) };
  return {
    outbox: { recent: () => undefined },
    clickhouse: { bytes: async () => [] },
    others,
  } as unknown as LookupDeps;
};

test("is unknown for a moment where a cell did not answer, and 404 where all did", async () => {
  const id = "01M85W8NXP51P0V41XQVQNKC2B";
  await expect(callRecord(depsOf(false), reader, id)).rejects.toMatchObject({
    kind: "analytics_unavailable",
    retryAfterMs: 1000,
  });
  await expect(callRecord(depsOf(true), reader, id)).rejects.toMatchObject({ kind: "not_found" });
});
