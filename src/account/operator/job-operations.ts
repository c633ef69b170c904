/** Jobs that were given up after their tries: an operator sees them, tries them again, or drops them. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageOf, pageQuery, shownPage } from "../../base/operation/page.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { JobRow } from "../../store/jobs/job.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";

export interface OperatorJobDeps {
  readonly store: Pick<Store, "act">;
  readonly jobs: Jobs;
  readonly cursors: Cursors;
  readonly trail: Trail;
}

const jobKind = z.string().describe("Room and verb, such as `mail.send`.");
const jobKey = z.string().describe("Identifies the job among those of its kind; the same over all tries.");
const jobShape = z.object({
  kind: jobKind,
  key: jobKey,
  org_id: z.string().describe("Empty for work of the installation"),
  tries: z.int().describe("How often it was tried before it was given up."),
  error: z.string().describe("Why the last try failed"),
  created_at: field.createdAt,
  given_up_at: field.time("When its last try had failed"),
});

const jobPath = z.object({ kind: jobKind.max(100), key: jobKey.max(300) });

export function operatorJobOperations(deps: OperatorJobDeps) {
  const { jobs, cursors } = deps;
  return {
    operatorListJobs: operation({
      summary: "Jobs that were given up, newest first",
      method: "GET",
      path: "/v1/operator/jobs",
      access: "operator",
      group: "Operator",
      query: z.object({ kind: jobKind.max(100).optional(), ...pageQuery(50, 200) }),
      output: pageOf(jobShape),
      run({ query: { kind, limit, cursor } }) {
        return shownPage({
          cursors,
          asked: { limit, cursor },
          list: "operator:jobs",
          rows: (after) => jobs.givenUp(after as [number, string, string] | undefined),
          positionOf: (row) => [row.dueMs, row.kind, row.key],
          matches: (row) => kind === undefined || row.kind === kind,
          show: jobWire,
        });
      },
    }),
    operatorRetryJob: operation({
      summary: "Try a given-up job again, with all its tries",
      method: "POST",
      path: "/v1/operator/jobs/{kind}/{key}/retry",
      access: "operator",
      group: "Operator",
      params: jobPath,
      output: z.object({
        kind: jobKind,
        key: jobKey,
        status: z.literal("waiting").describe("The job waits for its next try, which is due now."),
      }),
      errors: ["not_found"],
      run: async ({ params }, caller) => {
        await change(deps, caller, params, "job.retry", () => jobs.retry(params.kind, params.key));
        return { ...params, status: "waiting" as const };
      },
    }),
    operatorDropJob: operation({
      summary: "Forget a given-up job",
      method: "DELETE",
      path: "/v1/operator/jobs/{kind}/{key}",
      access: "operator",
      group: "Operator",
      params: jobPath,
      output: z.undefined(),
      status: 204,
      errors: ["not_found"],
      run: async ({ params }, caller) => {
        await change(deps, caller, params, "job.drop", () => jobs.drop(params.kind, params.key));
        return undefined;
      },
    }),
  };
}

/** The org whose job it is sees the act in its audit. */
async function change(
  { store, jobs, trail }: OperatorJobDeps,
  caller: Caller,
  { kind, key }: z.output<typeof jobPath>,
  act: string,
  apply: () => boolean,
): Promise<void> {
  await store.act(() => {
    const row = jobs.row(kind, key);
    if (row?.state !== "given_up" || !apply()) throw fail("not_found", "There is no such given-up job.");
    if (row.orgId !== "") trail.audit.note(caller, { act, target: `${kind} ${key}`, orgId: row.orgId });
  });
}

const jobWire = (row: JobRow): z.input<typeof jobShape> => ({
  kind: row.kind,
  key: row.key,
  org_id: row.orgId,
  tries: row.tries,
  error: row.error,
  created_at: isoTime(row.createdAtMs),
  given_up_at: isoTime(row.dueMs),
});
