/**
 * The table of routes as a gateway has it, for what is written or tested once for each route: the rooms of a gateway are opened in a
 * folder that is removed, and nothing listens.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type Route, routeTable } from "../src/edge/routes.ts";
import { openHouse } from "../src/host/gateway/house.ts";
import { operationsOf } from "../src/host/gateway/operations.ts";
import { StopTime } from "../src/host/gateway/stop-time.ts";
import { readConfig } from "../src/host/settings/config.ts";

/** Neither engine nor simulator is started: no route is called. */
const NOWHERE = "http://127.0.0.1:1";
const STOP_MS = 10_000;

/** @throws what keeps a gateway from starting, or Error where two operations have one route */
export async function readRouteTable(): Promise<readonly Route[]> {
  const folder = mkdtempSync(join(tmpdir(), "weir-routes-"));
  try {
    const config = readConfig({
      DATA_DIR: folder,
      CONFIG_DIR: join(import.meta.dirname, "../config"),
      CLICKHOUSE_URL: NOWHERE,
      SIMULATOR_URL: NOWHERE,
    });
    const house = await openHouse(config, pino({ level: "silent" }), { shared: undefined, cell: undefined });
    try {
      return routeTable(operationsOf(house, config));
    } finally {
      await house.close(new StopTime(STOP_MS));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
