/**
 * What an org's directory asked for and what it was answered: one row for each call, those that failed included. Kept 30 days,
 * for whoever sets up or mends the provisioning.
 */

import { localDay } from "../../base/clock.ts";
import type { WeirError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { Quotas } from "../../base/quota.ts";
import {
  type ExpiringTable,
  type ExpiryPorts,
  openExpiringTable,
} from "../../store/tables/expiring-table.ts";
import type { ScimTokens } from "./token.ts";

export const LOG_DAYS = 30;
const MAX_PATH = 500;

export interface LogRow {
  readonly id: string;
  readonly orgId: string;
  readonly createdAtMs: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The name of the user that the call was about; empty for none. */
  readonly userName: string;
  /** Id of the token. */
  readonly actor: string;
  /** Empty if the call succeeded. */
  readonly error: string;
}

export type LogEntry = Pick<LogRow, "method" | "path" | "status" | "userName" | "error">;

interface ScimLogOptions extends ExpiryPorts {
  readonly tokens: ScimTokens;
  readonly quotas: Quotas;
}

export class ScimLog {
  readonly #options: ScimLogOptions;
  /** [org id, day] → rows of that day. */
  readonly #counts: ExpiringTable<number>;
  /** [org id, row id]; ids sort by time. */
  readonly #rows: ExpiringTable<LogRow>;
  /** Calls that reached their operation, which writes their row. */
  readonly #begun = new WeakSet<Caller>();

  constructor(options: ScimLogOptions) {
    this.#options = options;
    this.#rows = openExpiringTable({
      ...options,
      rows: "scim.log",
      periods: "scim.log_days",
      keepPeriods: LOG_DAYS,
    });
    this.#counts = openExpiringTable({
      ...options,
      rows: "scim.log_counts",
      periods: "scim.log_count_days",
    });
  }

  /** The operation runs and will add the row itself. */
  begin(caller: Caller): void {
    this.#begun.add(caller);
  }

  /** Resolves once the row is stored; beyond the quota of a day there is none. */
  add({ orgId, actor }: Caller, { path, ...entry }: LogEntry): Promise<void> {
    const { store, clock, quotas, tokens } = this.#options;
    return store.act(() => {
      const createdAtMs = clock.now();
      const day = [orgId, localDay(createdAtMs, "UTC")];
      const logged = this.#counts.get(day) ?? 0;
      if (logged >= quotas.directory_log_per_day) return;
      this.#counts.put(day, logged + 1, createdAtMs);
      const id = newId("scl", createdAtMs);
      const row = { id, orgId, createdAtMs, actor: actor.id, path: path.slice(0, MAX_PATH), ...entry };
      this.#rows.put([orgId, id], row, createdAtMs);
      tokens.noteUse(orgId);
    });
  }

  /** A call was refused; adds its row unless the operation did: a body that is no JSON never reaches it. */
  noteRefused(caller: Caller, method: string, path: string, { status, message }: WeirError): void {
    if (this.#begun.has(caller)) return;
    this.add(caller, { method, path, status, userName: "", error: message }).catch(this.#options.onFailure);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  of(orgId: string, before?: string): Iterable<LogRow> {
    return this.#rows.members([orgId], before);
  }

  /** Only in an act: the rows hold names. @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    return this.#rows.removeMembers([orgId], most);
  }

  close(): void {
    this.#rows.close();
    this.#counts.close();
  }
}
