/** `POST /v1/orgs/{org}/export` and what reads it: an org's owner takes the org's data along, from a closed org too. */

import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import { download, file } from "../../base/operation/answer.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { type ExportRow, type Exports, exportShape, exportWire, newExport } from "./export.ts";
import { exportPath, writeExport } from "./export-jobs.ts";
import { type OtherFolders, streamOf } from "./other-folders.ts";

export interface ExportOperationDeps {
  readonly store: Pick<Store, "act">;
  readonly exports: Exports;
  readonly clock: Clock;
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly trail: Trail;
  readonly folder: string;
  /** Files of other cells; undefined where there is one gateway alone. */
  readonly others?: OtherFolders | undefined;
}

const orgPath = z.object({ org: z.string().describe("Id or slug") });
const exportPathShape = orgPath.extend({ id: z.string().max(100).describe("Id of the export.") });

export const exportOperations = (deps: ExportOperationDeps) => ({
  exportOrg: operation({
    summary: "Have all of the org's data written to a zip of JSON lines, at most once a day",
    method: "POST",
    path: "/v1/orgs/{org}/export",
    access: "no key / owner",
    group: "Organisations",
    isForClosed: true,
    params: orgPath,
    output: exportShape,
    status: 202,
    errors: ["not_found", "state"],
    run: (_input, caller) => askForExport(deps, caller),
  }),
  listExports: operation({
    summary: "Exports of the org, newest first. Not paged",
    method: "GET",
    path: "/v1/orgs/{org}/exports",
    access: "no key / owner",
    group: "Organisations",
    params: orgPath,
    output: listOf(exportShape),
    errors: ["not_found"],
    run: (_input, { orgId }) => listed(deps.exports.of(orgId).map(exportWire)),
  }),
  getExport: operation({
    summary: "One export: whether it is ready, and where",
    method: "GET",
    path: "/v1/orgs/{org}/exports/{id}",
    access: "no key / owner",
    group: "Organisations",
    params: exportPathShape,
    output: exportShape,
    errors: ["not_found"],
    run: ({ params }, caller) => exportWire(found(deps, caller, params.id)),
  }),
  downloadExport: operation({
    summary: "The zip of an export, for seven days",
    method: "GET",
    path: "/v1/orgs/{org}/exports/{id}/download",
    access: "no key / owner",
    group: "Organisations",
    params: exportPathShape,
    output: z.undefined(),
    otherTypes: ["application/zip"],
    errors: ["not_found", "state", "gateway_unavailable"],
    async run({ params }, caller) {
      const { id, status, cell, bytes } = found(deps, caller, params.id);
      if (status !== "ready") throw fail("state", `The export is ${status}.`);
      const { others } = deps;
      if (others !== undefined && cell !== undefined && cell !== others.cell) {
        const stream = await streamOf(others, { cell, name: `${id}.zip`, bytes });
        return download({ type: "application/zip", ...stream }, { name: `${id}.zip` });
      }
      return file("application/zip", exportPath(deps.folder, id), { name: `${id}.zip` });
    },
  }),
});

const found = ({ exports }: ExportOperationDeps, { orgId }: Caller, id: string): ExportRow =>
  mustExist(exports.get(orgId, id), "export");

/** Asked again while one is being written: that one. */
async function askForExport({ store, exports, clock, jobs, trail }: ExportOperationDeps, caller: Caller) {
  const { orgId } = caller;
  return await store.act(() => {
    const nowMs = clock.now();
    const [newest] = exports.of(orgId);
    if (newest?.status === "pending") return exportWire(newest);
    if (newest !== undefined && newest.status !== "failed" && nowMs - newest.createdAtMs < DAY_MS) {
      throw fail("state", "There is an export of the last 24 hours; download that one, or ask again later.");
    }
    const row = newExport(orgId, nowMs);
    exports.put(row);
    jobs.enqueue(writeExport, { key: row.id, orgId, payload: { orgId, id: row.id } });
    trail.audit.note(caller, { act: "org.export", target: row.id });
    return exportWire(row);
  });
}
