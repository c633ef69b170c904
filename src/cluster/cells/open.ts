/** A gateway as one cell of several: joins the installation that its Redis holds. */
import type { KeyObject } from "node:crypto";
import type { Logger } from "pino";
import { AccountTables } from "../../account/tables.ts";
import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { type Cell, openCell } from "./cell.ts";
import { assertProven } from "./credit/proof.ts";
import { LONGEST_CALL_MS } from "./limits/key-state.ts";
import { datasetToJoin } from "./membership/join.ts";
import { ownName } from "./membership/own-name.ts";
import { onRedis } from "./redis/redis.ts";
import { assertReplicas } from "./redis/trust.ts";
import { isSharedTable } from "./replica/table-classes.ts";

const CONNECT_MS = 10_000;

/** What the cells of an installation share. */
export interface SharedInstallation {
  /** `redis://…`, `rediss://…`, `redis-sentinel://…`, or the path of a socket. */
  readonly redisUrl: string;
  /** Replicas that must have a write before it counts. */
  readonly redisReplicas: number;
}

export interface JoinPorts {
  /** Names of settings are those of `weir.yaml`. */
  readonly config: {
    readonly cell: string;
    readonly secretsKey: KeyObject | undefined;
    readonly settings: {
      readonly cells: { readonly stale_ms: number };
      readonly timeouts: Readonly<Record<"total_ms" | "drain_ms" | "commit_ms", number>>;
    };
  };
  readonly local: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The copy that the folder was last restored from; undefined where it never was. */
  readonly lastRestore: (local: Store) => { readonly copyId: string } | undefined;
  /** This process may not go on. */
  readonly onEnd: () => void;
  /** It should stop in good order. */
  readonly onOutdated: () => void;
}

/** Joins the other cells. @throws Error with a line for the operator */
export async function joinCells(
  { redisUrl, redisReplicas: replicas }: SharedInstallation,
  { config, local, clock, log, lastRestore, onEnd, onOutdated }: JoinPorts,
): Promise<Cell> {
  if (config.secretsKey === undefined)
    throw new Error("WEIR_SECRETS_KEY: all cells of an installation need the same one");
  assertCallsEnd(config);
  const { datasetId, name } = await onRedis({ url: redisUrl, log }, CONNECT_MS, async (link) => {
    await assertReplicas(link, replicas);
    const isNew = new AccountTables(local).oldestOrg() === undefined;
    const datasetId = await datasetToJoin(local, link, isNew);
    return { datasetId, name: await ownName(local, link, config.cell) };
  });
  const cell = await openCell({
    cell: name,
    datasetId,
    redisUrl,
    replicas,
    local,
    isShared: isSharedTable,
    clock,
    log,
    staleMs: config.settings.cells.stale_ms,
    onEnd(reason) {
      log.fatal({ err: reason }, "this cell may not go on");
      onEnd();
    },
    onOutdated(reason) {
      log.fatal({ err: reason }, "this cell stops: its release is older than that of the others");
      onOutdated();
    },
  });
  const restore = lastRestore(local);
  if (restore !== undefined) await assertProven({ cell, local, redisUrl, copyId: restore.copyId, log });
  return cell;
}

/** What a cell that says nothing has set aside for its calls is free for others after that time. @throws Error for the operator */
function assertCallsEnd({ settings: { timeouts } }: JoinPorts["config"]): void {
  const callMs = timeouts.total_ms + timeouts.drain_ms + timeouts.commit_ms;
  if (callMs > LONGEST_CALL_MS)
    throw new Error(
      `timeouts: total_ms, drain_ms and commit_ms are ${callMs} ms together, with several cells at most ${LONGEST_CALL_MS}`,
    );
}
