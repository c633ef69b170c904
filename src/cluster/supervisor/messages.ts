/**
 * What the supervisor and its cells say to each other over their IPC channel. The port is shared, so a probe by HTTP would reach
 * any cell: each says itself what it is.
 */
import type { GatewayFigures } from "../../base/metrics/family.ts";
import type { Answer } from "./questions.ts";
import type { ServiceCall, ServicesState } from "./services.ts";

/** How to reach the engine that the cells share. */
export interface EngineAddress {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** A user of the engine besides the cells; the supervisor only looks at its name. */
export interface EngineUserRow {
  readonly username: string;
}

/**
 * `stop`: everything stops, so nobody else takes calls: drain at once. `end`: end at once, as a second signal would.
 * A cell that shall leave while others serve gets SIGTERM.
 */
export type CellOrder = "stop" | "end";

/** What a cell does for a backup of its folder: see `BackupMoment`. */
export type BackupCall =
  | { readonly name: "begin"; readonly records: boolean }
  | { readonly name: "freeze"; readonly id: string };

export type ToCell =
  | { readonly order: CellOrder }
  /** Answered by `backedUp` with this number. */
  | { readonly backup: number; readonly call: BackupCall }
  /** Answered by `measured` with this number. */
  | { readonly metrics: number }
  | { readonly engine: EngineAddress }
  | { readonly services: ServicesState }
  /** The answer to the cell's call with this number; `error` where it failed. */
  | ({ readonly answered: number } & Answer);

export type FromCell =
  /** It serves. */
  | { readonly ready: { readonly url: string } }
  /** Its analytics have answered once: the database is migrated to this cell's release. */
  | { readonly migrated: true }
  /** The users that the engine shall let in, as this cell knows them. */
  | { readonly analysts: readonly EngineUserRow[] }
  /** The answer to the backup's call with this number; `error` where it failed. */
  | ({ readonly backedUp: number } & Answer)
  /** The answer to the question for metrics with this number; `error` where it failed. */
  | ({ readonly measured: number } & Answer<GatewayFigures>)
  /** A call of a service that the supervisor runs. */
  | { readonly asked: number; readonly call: ServiceCall };
