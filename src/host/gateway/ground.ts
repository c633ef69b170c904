/** Opens what all other rooms stand on: clock, store with its events and jobs, installation and catalog. */
import type { Logger } from "pino";
import type { Simulator } from "../../../simulator/simulator.ts";
import { type Clock, systemClock, systemRandom, systemTimers } from "../../base/clock.ts";
import { Listeners } from "../../base/network/listeners.ts";
import { type Cursors, cursors as openCursors } from "../../base/operation/cursor.ts";
import { endProcess } from "../../base/process/exit.ts";
import { keepPrivate } from "../../base/process/private-folder.ts";
import type { Quotas } from "../../base/quota.ts";
import { turnWatch } from "../../base/turns/turn-watch.ts";
import { type OpenCatalog, openCatalogRoom } from "../../catalog/models/open.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import { assertAlone } from "../../cluster/cells/membership/membership.ts";
import type { SharedInstallation } from "../../cluster/cells/open.ts";
import type { KnownServices, RunningServices } from "../../cluster/supervisor/services.ts";
import { MONEY_TABLES } from "../../credits/ledger/audit.ts";
import { Audit } from "../../store/events/audit.ts";
import { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import { type Installation, openInstallation } from "../../store/installation/installation.ts";
import { Jobs } from "../../store/jobs/jobs.ts";
import { openStore, type Store } from "../../store/store.ts";
import { lastRestore } from "../backup/marker.ts";
import { servicesOf } from "../services/services.ts";
import type { Config } from "../settings/config.ts";
import type { CellPorts } from "./cell-ports.ts";

/** What the gateway is told of the processes around it. */
export interface GroundPorts {
  /** Rows are shared with other cells. */
  readonly shared: SharedInstallation | undefined;
  /** Other gateways listen on the port too. */
  readonly cell: CellPorts | undefined;
  /** Its data folder is removed when it stops; another gateway of this process tells how the process fares. */
  readonly isThrowAway?: boolean | undefined;
}

export interface Ground extends OpenCatalog {
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  /** Undefined in a gateway alone. */
  readonly cell: Cell | undefined;
  readonly installation: Installation;
  readonly cursors: Cursors;
  /** What every act may put beside its change. */
  readonly events: Events;
  readonly audit: Audit;
  readonly trail: Trail;
  readonly jobs: Jobs;
  /** The embedded provider; undefined where the settings name another. */
  readonly simulator: Simulator | undefined;
  /** Ports of this process and its children. */
  readonly listeners: Listeners;
  /** Ports of the machine on which its supervisor and that one's children listen. */
  readonly portsOfMachine: () => readonly number[];
  readonly services: KnownServices;
  /** Those that this process runs itself: undefined in a cell. */
  readonly ownServices: RunningServices | undefined;
  readonly quotas: Quotas;
  /** Folder of mails that are sent nowhere. */
  readonly mailDir: string;
}

export async function openGround(
  config: Config,
  log: Logger,
  { shared, cell: ports, isThrowAway }: GroundPorts,
): Promise<Ground> {
  closeFolder(config, log);
  const local = openStore(config.dataDir, {
    onFailure: (err) => log.error({ err }, "the store cannot commit; calls wait"),
    onNotice: (line) => log.warn(line),
    checkFirst: MONEY_TABLES,
    isThrowAway,
  });
  const { store, cell } = await openShared(config, { local, clock: systemClock, log }, shared);
  const clock = turnWatch().watched(cell?.clock ?? systemClock);
  const installation = openInstallation({ dataDir: config.dataDir, masterKey: config.secretsKey });
  const cursors = openCursors(installation.secret("cursors"));
  const listeners = new Listeners((listener, port) => log.debug({ listener, port }, "listens"));
  const simulator = config.simulatorUrl === undefined ? await startOwnSimulator(listeners) : undefined;
  const { configDir, settings } = config;
  const { quotas } = settings;
  const isCell = cell !== undefined;
  const simulatorUrl = config.simulatorUrl ?? simulator?.url ?? "";
  const known = await openCatalogRoom({ configDir, log, store, clock, simulatorUrl, isCell });
  return {
    log,
    clock,
    store,
    cell,
    installation,
    cursors,
    simulator,
    listeners,
    quotas,
    ...known,
    ...openTrail({ store, clock, cell, quotas, log }),
    portsOfMachine: ports?.portsOfMachine ?? (() => []),
    ...servicesOf(config, { clock, log, listeners }, { isCell, ofMachine: ports?.services }),
    mailDir: ports?.machineDir ?? config.dataDir,
  };
}

/** At each start, because files may have been copied there. */
function closeFolder({ dataDir }: Config, log: Logger): void {
  const open = keepPrivate(dataDir);
  if (open.length > 0)
    log.warn({ paths: open }, "others may read the data folder: it belongs to another user");
}

/** Jobs, events and the audit. */
function openTrail({
  store,
  clock,
  cell,
  quotas,
  log,
}: Pick<Ground, "store" | "clock" | "cell" | "quotas" | "log">) {
  const onFailure = (err: unknown, what: string) => log.error({ err }, what);
  const events = new Events({ store, clock, onFailure });
  const audit = new Audit({ store, clock, quotas, onFailure });
  const jobs = new Jobs({
    store,
    clock,
    timers: systemTimers,
    random: systemRandom,
    holder: cell === undefined ? "local" : `${cell.name}:${cell.entered.life}`,
    isShared: cell !== undefined,
    onFailure: (err, what) => log.warn({ err }, what),
  });
  return { events, audit, jobs, trail: { events, audit } };
}

async function startOwnSimulator(listeners: Listeners): Promise<Simulator> {
  const { startSimulator } = await import("../../../simulator/simulator.ts");
  const onListening = (port: number) => listeners.add("simulator", port);
  return await startSimulator({ keepBodyBytes: 0, keepCalls: 0, onListening });
}

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
    const { joinCells } = await import("../../cluster/cells/open.ts");
    const cell = await joinCells(shared, { config, local, clock, log, lastRestore, onEnd, onOutdated });
    return { store: cell.store, cell };
  } catch (error) {
    await local.close();
    throw error;
  }
}
