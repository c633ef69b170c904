/** The two requests of `weir backup` to the running gateway (moment.ts). */
import { z } from "zod";
import { operation } from "../../base/operation/operation.ts";
import type { BackupMoment } from "./moment.ts";

export interface BackupDeps {
  readonly moment: BackupMoment;
  readonly version: string;
  /** Whether records are in this gateway's own ClickHouse. */
  readonly isEmbedded: boolean;
}

/** Holds the files still. @throws WeirError of `BackupMoment.begin` */
export async function beginBackup({ moment, version: release, isEmbedded }: BackupDeps, records: boolean) {
  const withRecords = records && isEmbedded;
  const { id, frame } = await moment.begin(withRecords);
  const found = withRecords ? "embedded" : isEmbedded ? "none" : "server";
  return { id, frame, release, records: found } as const;
}

export const backupOperations = (deps: BackupDeps) => ({
  operatorBeginBackup: operation({
    summary: "Hold the files still for the command `weir backup`, for some seconds at most",
    method: "POST",
    path: "/v1/operator/backups",
    access: "operator",
    group: "Operator",
    body: z.object({
      records: z.boolean().describe("With the records of the embedded ClickHouse"),
    }),
    output: z.object({
      id: z.string().describe("For the next request"),
      frame: z.int().describe("The frame of the journal that the copy must end with"),
      release: z.string().describe("The gateway's release"),
      records: z
        .enum(["embedded", "server", "none"])
        .describe("Where the records are that are copied with it"),
    }),
    errors: ["state", "analytics_unavailable", "storage_unavailable"],
    run: ({ body }) => beginBackup(deps, body.records),
  }),
  operatorFreezeBackup: operation({
    summary: "Say that the copy of the store has begun; the records are frozen now",
    method: "POST",
    path: "/v1/operator/backups/{id}/freeze",
    access: "operator",
    group: "Operator",
    params: z.object({
      id: z
        .string()
        .regex(/^[0-9a-f]{24}$/, "an id of a backup")
        .describe("The backup's id."),
    }),
    output: z.object({
      id: z.string().describe("The backup's id"),
      frozen: z
        .string()
        .nullable()
        .describe("Name of the folder under `clickhouse/shadow`; null without records"),
    }),
    errors: ["not_found", "analytics_unavailable"],
    run: async ({ params: { id } }) => ({ id, frozen: (await deps.moment.freeze(id)) ?? null }),
  }),
});
