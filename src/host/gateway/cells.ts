/** A gateway as one cell of several: joins the installation that its Redis holds. */
import type { Logger } from "pino";
import { AccountTables } from "../../account/tables.ts";
import type { Clock } from "../../base/clock.ts";
import { type Cell, openCell } from "../../cluster/cells/cell.ts";
import { assertProven } from "../../cluster/cells/credit/proof.ts";
import { LONGEST_CALL_MS } from "../../cluster/cells/limits/key-state.ts";
import { datasetToJoin } from "../../cluster/cells/membership/join.ts";
import { ownName } from "../../cluster/cells/membership/own-name.ts";
import { connectRedis } from "../../cluster/cells/redis/redis.ts";
import { assertReplicas } from "../../cluster/cells/redis/trust.ts";
import type { Store } from "../../store/store.ts";
import { lastRestore } from "../backup/marker.ts";
import type { Config } from "../settings/config.ts";
import type { SharedInstallation } from "./cell-settings.ts";
import { tableClass } from "./table-classes.ts";

const CONNECT_MS = 10_000;

export const isSharedTable = (table: string): boolean => tableClass(table) === "shared";

/**
 * Joins the other cells. @param onEnd this process may not go on @param onOutdated it should stop in good order
 * @throws Error with a line for the operator
 */
export async function joinCells(
  { redisUrl, redisReplicas: replicas }: SharedInstallation,
  {
    config,
    local,
    clock,
    log,
    onEnd,
    onOutdated,
  }: { config: Config; local: Store; clock: Clock; log: Logger; onEnd: () => void; onOutdated: () => void },
): Promise<Cell> {
  if (config.secretsKey === undefined)
    throw new Error("WEIR_SECRETS_KEY: all cells of an installation need the same one");
  assertCallsEnd(config);
  const link = connectRedis({ url: redisUrl, log });
  let datasetId: string;
  let name: string;
  try {
    await link.ready(CONNECT_MS);
    await assertReplicas(link, replicas);
    datasetId = await datasetToJoin(local, link, new AccountTables(local).oldestOrg() === undefined);
    name = await ownName(local, link, config.cell);
  } finally {
    link.close();
  }
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
function assertCallsEnd({ settings: { timeouts } }: Config): void {
  const callMs = timeouts.total_ms + timeouts.drain_ms + timeouts.commit_ms;
  if (callMs > LONGEST_CALL_MS)
    throw new Error(
      `timeouts: total_ms, drain_ms and commit_ms are ${callMs} ms together, with several cells at most ${LONGEST_CALL_MS}`,
    );
}
