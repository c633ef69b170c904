/** Exports of an org's data: the row, its wire shape, the table. Methods that write must be called in an act. */

import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import * as field from "../../base/operation/fields.ts";
import { INCOMPLETE_SINCE, incompleteSince } from "../../base/operation/incomplete-since.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Store } from "../../store/store.ts";
import {
  type ExpiringTable,
  type ExpiryPorts,
  openExpiringTable,
} from "../../store/tables/expiring-table.ts";

const EXPORT_STATUSES = ["pending", "ready", "failed", "expired"] as const;

export interface ExportRow {
  readonly id: string;
  readonly orgId: string;
  readonly status: (typeof EXPORT_STATUSES)[number];
  readonly createdAtMs: number;
  /** Size of a file that is, or was, there. */
  readonly bytes: number;
  /** The cell whose folder has the file; absent until it is there, and where there is one gateway alone. */
  readonly cell?: string;
  /** When the file goes; `null` until it is there. */
  readonly expiresAtMs: number | null;
  /** As in `MayLackCalls`, of the calls in the file; absent where no call is missing. */
  readonly incompleteSinceMs?: number;
}

/** A file can be downloaded for so long. */
export const EXPORT_KEPT_MS = 7 * DAY_MS;
/** Rows tell of exports for so many days. */
const ROWS_KEPT_DAYS = 90;

export const newExport = (orgId: string, nowMs: number): ExportRow => ({
  id: newId("exp", nowMs),
  orgId,
  status: "pending",
  createdAtMs: nowMs,
  bytes: 0,
  expiresAtMs: null,
});

const ROWS = "exports.rows";

export class Exports {
  readonly #store: Store;
  /** [org id, export id]; ids sort by time. */
  readonly #rows: ExpiringTable<ExportRow>;

  constructor(options: ExpiryPorts) {
    this.#store = options.store;
    this.#rows = openExpiringTable({
      ...options,
      rows: ROWS,
      periods: "exports.days",
      keepPeriods: ROWS_KEPT_DAYS,
    });
  }

  get(orgId: string, id: string): ExportRow | undefined {
    return this.#rows.get([orgId, id]);
  }

  /** Newest first. */
  of(orgId: string): ExportRow[] {
    return [...this.#rows.members([orgId])];
  }

  /** Bytes of the org's files that are there. */
  bytesOf(orgId: string): number {
    return this.of(orgId).reduce((sum, { status, bytes }) => (status === "ready" ? sum + bytes : sum), 0);
  }

  /** Ids of all orgs' exports that are pending or ready. */
  *ids(): Generator<string> {
    for (const { value } of this.#store.table<ExportRow>(ROWS).range())
      if (value.status === "pending" || value.status === "ready") yield value.id;
  }

  /** Says of exports of a gateway that was alone that this cell has the files. @param has whether its folder has that of an export */
  async nameCell(cell: string, has: (id: string) => boolean): Promise<void> {
    const isMine = ({ status, cell: known, id }: ExportRow) =>
      status === "ready" && known === undefined && has(id);
    const mine: ExportRow[] = [];
    for (const { value } of this.#store.table<ExportRow>(ROWS).range()) if (isMine(value)) mine.push(value);
    if (mine.length === 0) return;
    const act = () => {
      for (const { orgId, id } of mine) {
        const row = this.get(orgId, id);
        if (row !== undefined && isMine(row)) this.put({ ...row, cell });
      }
    };
    await this.#store.act(act, { isOwed: true });
  }

  /** Tells of each export whose file has to go, whichever process decided it. */
  watchGone(gone: (id: string) => void): void {
    this.#store.table<ExportRow>(ROWS).watch((key, row) => {
      if (row === undefined || row.status === "expired") gone((key as string[])[1] as string);
    });
  }

  put(row: ExportRow): void {
    this.#rows.put([row.orgId, row.id], row, row.createdAtMs);
  }

  /** @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    return this.#rows.removeMembers([orgId], most);
  }

  close(): void {
    this.#rows.close();
  }
}

export const exportShape = z.object({
  id: z.string().describe("Id of the export."),
  org_id: z.string().describe("The org whose data it holds."),
  status: z.enum(EXPORT_STATUSES).describe("`pending`, `ready`, `failed`, or `expired`: the file is gone."),
  created_at: field.createdAt,
  bytes: z.int().optional().describe("Size of the file, once it is ready"),
  expires_at: z.string().optional().describe("Until then it can be downloaded"),
  url: z.string().optional().describe("Path of the download, while it is ready"),
  ...INCOMPLETE_SINCE,
});

export const exportWire = (row: ExportRow): z.input<typeof exportShape> => ({
  id: row.id,
  org_id: row.orgId,
  status: row.status,
  created_at: isoTime(row.createdAtMs),
  ...(row.expiresAtMs !== null && { bytes: row.bytes, expires_at: isoTime(row.expiresAtMs) }),
  ...(row.status === "ready" && { url: `/v1/orgs/${row.orgId}/exports/${row.id}/download` }),
  ...incompleteSince(row.incompleteSinceMs),
});
