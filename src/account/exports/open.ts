/** Opens exports: their rows, and the files in this process's folder. */
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { Exports } from "./export.ts";
import {
  type ExportJobDeps,
  exportRemover,
  exportWriter,
  nameOwnFiles,
  removeExport,
  removeFilesOf,
  removeUnfinished,
  removeWhatEnds,
  writeExport,
} from "./export-jobs.ts";
import { type OtherFolders, partOf } from "./other-folders.ts";

/** The folders of other cells, and of this one for them. */
interface FoldersOfCells {
  readonly name: string;
  readonly peers: Pick<OtherFolders, "part"> & {
    serve(prefix: string, part: (name: string, offset: number) => Promise<Uint8Array | undefined>): void;
  };
}

export interface ExportPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: Jobs;
  /** It has a folder for the files. */
  readonly dataDir: string;
  readonly mostBytes: number;
  /** This cell and the others; undefined in a gateway alone. */
  readonly cell: FoldersOfCells | undefined;
  readonly log: { error(fields: object, message: string): void };
}

export interface ExportRoom {
  readonly rows: Exports;
  readonly folder: string;
  /** The folders of other cells; undefined in a gateway alone. */
  readonly others: OtherFolders | undefined;
  /** Before the jobs start. */
  handleJobs(partsOf: ExportJobDeps["partsOf"]): Promise<void>;
  removeFilesOf(orgId: string): Promise<void>;
  close(): void;
}

export function openExports({ store, clock, jobs, dataDir, mostBytes, cell, log }: ExportPorts): ExportRoom {
  const folder = join(dataDir, "exports");
  const exports = new Exports({
    store,
    clock,
    onFailure: (err) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  });
  return {
    rows: exports,
    folder,
    others: cell && { cell: cell.name, part: (of, name, offset) => cell.peers.part(of, name, offset) },
    async handleJobs(partsOf) {
      const deps = { exports, clock, jobs, folder, mostBytes, partsOf, cell: cell?.name };
      await removeUnfinished(folder);
      if (cell !== undefined) {
        cell.peers.serve("exp_", (name, offset) => partOf(folder, name, offset));
        await nameOwnFiles(deps, cell.name);
        await removeWhatEnds(deps, (err) => log.error({ err }, "the file of an export could not be removed"));
      }
      jobs.handle(writeExport, exportWriter(deps));
      jobs.handle(removeExport, exportRemover(deps));
    },
    removeFilesOf: (orgId) => removeFilesOf({ exports, folder }, orgId),
    close: () => exports.close(),
  };
}
