/** Opens what all other rooms stand on: clock, store, installation and catalog. */
import type { Logger } from "pino";
import { startSimulator } from "../../../simulator/simulator.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { Listeners } from "../../base/listeners.ts";
import { cursors as openCursors } from "../../base/operation/cursor.ts";
import { endProcess } from "../../base/process/exit.ts";
import { openCatalogRoom } from "../../catalog/models/open.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import { assertAlone } from "../../cluster/cells/membership/membership.ts";
import { MONEY_TABLES } from "../../credits/ledger/audit.ts";
import { openInstallation } from "../../store/installation/installation.ts";
import { openStore, type Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";
import type { CellPorts, SharedInstallation } from "./cell-settings.ts";
import { servicesOf } from "./services.ts";

export interface RoomPorts {
  /** Rows are shared with other cells. */
  readonly shared: SharedInstallation | undefined;
  readonly cell: CellPorts | undefined;
}

export type Ground = Awaited<ReturnType<typeof openGround>>;

/** Clock, store, installation and catalog, which all other rooms need. */
export async function openGround(config: Config, log: Logger, { shared, cell: ports }: RoomPorts) {
  const local = openStore(config.dataDir, {
    onFailure: (err) => log.error({ err }, "the store cannot commit; calls wait"),
    onNotice: (line) => log.warn(line),
    checkFirst: MONEY_TABLES,
  });
  const { store, cell } = await openShared(config, { local, clock: systemClock, log }, shared);
  const clock = cell?.clock ?? systemClock;
  const installation = openInstallation({ dataDir: config.dataDir, masterKey: config.secretsKey });
  const cursors = openCursors(installation.secret("cursors"));
  const listeners = new Listeners((listener, port) => log.debug({ listener, port }, "listens"));
  const simulator = config.simulatorUrl === undefined ? await startOwnSimulator(listeners) : undefined;
  const isCell = cell !== undefined;
  const simulatorUrl = config.simulatorUrl ?? simulator?.url ?? "";
  const known = await openCatalogRoom({
    configDir: config.configDir,
    log,
    store,
    clock,
    simulatorUrl,
    isCell,
  });
  return {
    clock,
    store,
    cell,
    installation,
    cursors,
    simulator,
    listeners,
    ...known,
    portsOfMachine: ports?.portsOfMachine ?? (() => []),
    ...servicesOf(config, { clock, log, listeners }, { isCell, ofMachine: ports?.services }),
    quotas: config.settings.quotas,
    /** Folder of mails that are sent nowhere. */
    mailDir: ports?.machineDir ?? config.dataDir,
  };
}

const startOwnSimulator = (listeners: Listeners) =>
  startSimulator({ keepBodyBytes: 0, keepCalls: 0, onListening: (port) => listeners.add("simulator", port) });

/** The store of one gateway alone, or of a cell among others. */
async function openShared(
  config: Config,
  { local, clock, log }: { readonly local: Store; readonly clock: Clock; readonly log: Logger },
  shared: SharedInstallation | undefined,
): Promise<{ readonly store: Store; readonly cell: Cell | undefined }> {
  try {
    if (shared === undefined) {
      assertAlone(local);
      return { store: local, cell: undefined };
    }
    const onEnd = () => void endProcess(1);
    // As an operator stops it: calls under way may end.
    const onOutdated = () => void process.kill(process.pid, "SIGTERM");
    // A gateway alone loads nothing of Redis.
    const { joinCells } = await import("./cells.ts");
    const cell = await joinCells(shared, { config, local, clock, log, onEnd, onOutdated });
    return { store: cell.store, cell };
  } catch (error) {
    await local.close();
    throw error;
  }
}
