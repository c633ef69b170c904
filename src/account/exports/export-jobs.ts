/**
 * The jobs of exports: one writes the file, one removes it after seven days. Both may run twice: a file is written from the
 * beginning, and a file that is gone already is gone.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { type JobHandler, jobKind } from "../../store/jobs/job.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import { type ExportPart, writeArchive } from "./archive.ts";
import { EXPORT_KEPT_MS, type Exports } from "./export.ts";

const payload = z.object({ orgId: z.string(), id: z.string() });
type Payload = z.output<typeof payload>;

/** Tries that do not do without calls. Further ones are left for what else may fail. */
export const TRIES_FOR_WHOLE = 3;

export const writeExport = jobKind({
  name: "exports.write",
  payload,
  tries: 5,
  atOnce: 2,
  atOncePerLane: 1,
  leaseMs: 120_000,
  backoff: { firstMs: 10_000, mostMs: 600_000 },
});

export const removeExport = jobKind({
  name: "exports.remove",
  payload,
  tries: 50,
  atOnce: 2,
  atOncePerLane: 1,
  leaseMs: 60_000,
  backoff: { firstMs: 60_000, mostMs: 6 * 3_600_000 },
});

export interface ExportJobDeps {
  readonly exports: Exports;
  readonly clock: Clock;
  readonly jobs: Pick<JobQueue, "enqueue" | "drop">;
  readonly folder: string;
  /** Most bytes of an org's files together, so of one, too. */
  readonly mostBytes: number;
  /** The cell that writes; undefined where there is one gateway alone. */
  readonly cell?: string | undefined;
  /**
   * Port: what an org's rooms hold.
   * @param missing is told, as the parts are read, where calls that ended from then on (milliseconds since 1970) may be missing;
   *   what it throws ends the reading
   */
  readonly partsOf: (orgId: string, missing: (sinceMs: number) => void) => readonly ExportPart[];
}

export const exportPath = (folder: string, id: string): string => join(folder, `${id}.zip`);

export function exportWriter(deps: ExportJobDeps): JobHandler<Payload> {
  const { exports, clock, folder, jobs, cell } = deps;
  return {
    async run({ orgId, id }, { attempt, signal }) {
      const row = exports.get(orgId, id);
      if (row === undefined || row.status !== "pending") return undefined;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = exportPath(folder, id);
      const { mostBytes } = deps;
      const modifiedMs = clock.now();
      let incompleteSinceMs: number | undefined;
      const parts = deps.partsOf(orgId, (sinceMs) => {
        // An org may ask once a day only, so a file without calls of before is no answer while there may be a better one.
        if (sinceMs < row.createdAtMs && attempt <= TRIES_FOR_WHOLE) throw missingCalls(sinceMs);
        incompleteSinceMs = Math.min(incompleteSinceMs ?? sinceMs, sinceMs);
      });
      const bytes = await writeArchive({ path, parts, mostBytes, modifiedMs, signal });
      // The org was erased meanwhile: nothing tells of the file any more.
      if (exports.get(orgId, id) === undefined) await rm(path, { force: true });
      const expiresAtMs = clock.now() + EXPORT_KEPT_MS;
      return {
        act() {
          const now = exports.get(orgId, id);
          if (now === undefined) return;
          exports.put({
            ...now,
            status: "ready",
            bytes,
            expiresAtMs,
            ...(cell !== undefined && { cell }),
            ...(incompleteSinceMs !== undefined && { incompleteSinceMs }),
          });
          jobs.enqueue(removeExport, { key: id, orgId, dueMs: expiresAtMs, payload: { orgId, id } });
          endOldest(deps, orgId);
        },
      };
    },
    gaveUp({ orgId, id }) {
      const row = exports.get(orgId, id);
      if (row !== undefined) exports.put({ ...row, status: "failed" });
    },
  };
}

const missingCalls = (sinceMs: number) =>
  new Error(
    `calls that ended since ${isoTime(sinceMs)} may be missing: a gateway did not say that they are stored`,
  );

/** In an act. An org can always take its data along, so the new file stays, and the oldest ones end that have no room beside it. */
function endOldest({ exports, clock, jobs, mostBytes }: ExportJobDeps, orgId: string): void {
  let leftBytes = mostBytes;
  for (const row of exports.of(orgId)) {
    if (row.status !== "ready") continue;
    leftBytes -= row.bytes;
    const nowMs = clock.now();
    if (leftBytes >= 0 || (row.expiresAtMs ?? 0) <= nowMs) continue;
    const { id } = row;
    exports.put({ ...row, expiresAtMs: nowMs });
    jobs.drop(removeExport.name, id);
    jobs.enqueue(removeExport, { key: id, orgId, dueMs: nowMs, payload: { orgId, id } });
  }
}

export function exportRemover({ exports, folder }: ExportJobDeps): JobHandler<Payload> {
  return {
    async run({ orgId, id }) {
      await rm(exportPath(folder, id), { force: true });
      return {
        act() {
          const row = exports.get(orgId, id);
          if (row !== undefined) exports.put({ ...row, status: "expired" });
        },
      };
    },
  };
}

/** Removes an org's files. The rows go after them, so that a crash between leaves no file that nothing names. */
export async function removeFilesOf(
  { exports, folder }: Pick<ExportJobDeps, "exports" | "folder">,
  orgId: string,
): Promise<void> {
  for (const { id } of exports.of(orgId)) {
    for (const path of [exportPath(folder, id), `${exportPath(folder, id)}.unfinished`])
      await rm(path, { force: true });
  }
}

/** Other cells ask this one for the files that were written here before there were others. */
export async function nameOwnFiles({ exports, folder }: ExportJobDeps, cell: string): Promise<void> {
  const files = new Set(await readdir(folder).catch(() => []));
  if (files.size > 0) await exports.nameCell(cell, (id) => files.has(`${id}.zip`));
}

/** Removes the files of this folder whose exports another cell ended, also those that ended while this one was away. */
export async function removeWhatEnds(
  { exports, folder }: Pick<ExportJobDeps, "exports" | "folder">,
  onFailure: (error: unknown) => void,
): Promise<void> {
  exports.watchGone((id) => {
    rm(exportPath(folder, id), { force: true }).catch(onFailure);
  });
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".zip"));
  if (files.length === 0) return;
  const ids = new Set(exports.ids());
  for (const name of files)
    if (!ids.has(name.slice(0, -".zip".length))) await rm(join(folder, name), { force: true });
}

/** Removes what a killed process left half written; call it before the jobs start. */
export async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (name.endsWith(".unfinished")) await rm(join(folder, name), { force: true });
}
