/** What `weir check` says of the place where balances and limits are: a folder, or a Redis that cells share. */

import { hasOwnRedis, hasSupervisedCells } from "../../cluster/supervisor/cell-folders.ts";
import { findRedisServer } from "../../cluster/supervisor/redis-server.ts";
import { sharedInstallation } from "../gateway/cell-ports.ts";
import type { Config } from "../settings/config.ts";
import { type Fault, told } from "./check-settings.ts";

/** As `weir start` decides it, without `--cells`. @param path where programs are looked for */
export function sharedState(config: Config, path: string | undefined, fault: Fault): string {
  const { cells, dataDir, redisUrl } = config;
  if (redisUrl !== undefined) {
    return told(fault, () => {
      sharedInstallation(config);
      const which = cells > 1 ? `${cells} cells here` : `this one is cell ${config.cell}`;
      return `in the Redis of REDIS_URL, which is not asked; ${which}`;
    });
  }
  if (!hasOwnRedis(dataDir)) {
    if (hasSupervisedCells(dataDir))
      return fault(`${dataDir} holds the data of several cells: set the REDIS_URL that they had`);
    if (cells === 1) return "in the data folder, of one process; no Redis";
  }
  try {
    const program = findRedisServer(path);
    return `in a Redis of the data folder, which ${program} serves; ${cells} ${cells === 1 ? "cell" : "cells"} here`;
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error));
  }
}
