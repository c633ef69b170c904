/**
 * A gateway as one cell of several. Not reachable by a setting yet: credit and limits are still each cell's own, so the cap would
 * not be hard. Tests pass it to `startGateway`.
 */
import type { Logger } from "pino";
import { AccountTables } from "../account/tables.ts";
import { type Cell, openCell } from "../cells/cell.ts";
import { datasetToJoin } from "../cells/dataset.ts";
import { connectRedis } from "../cells/redis.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Store } from "../store/store.ts";
import { tableClass } from "./table-classes.ts";

/** What the cells of an installation share. */
export interface SharedInstallation {
  /** `redis://…`, `rediss://…`, or the path of a socket. */
  readonly redisUrl: string;
}

const CONNECT_MS = 10_000;

export const isSharedTable = (table: string): boolean => tableClass(table) === "shared";

/**
 * Joins the other cells. @param onEnd this process may not go on
 * @throws Error with a line for the operator
 */
export async function joinCells(
  { redisUrl }: SharedInstallation,
  {
    config,
    local,
    clock,
    log,
    onEnd,
  }: { config: Config; local: Store; clock: Clock; log: Logger; onEnd: () => void },
): Promise<Cell> {
  if (config.secretsKey === undefined)
    throw new Error("WEIR_SECRETS_KEY: all cells of an installation need the same one");
  const link = connectRedis({ url: redisUrl, log });
  let datasetId: string;
  try {
    await link.ready(CONNECT_MS);
    datasetId = await datasetToJoin(local, link, new AccountTables(local).oldestOrg() === undefined);
  } finally {
    link.close();
  }
  return await openCell({
    ...{ cell: config.cell, datasetId, redisUrl, local, isShared: isSharedTable, clock, log },
    onEnd(reason) {
      log.fatal({ err: reason }, "this cell may not go on");
      onEnd();
    },
  });
}
