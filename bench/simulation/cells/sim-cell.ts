/** One cell of the simulation: a folder, and the process that runs the product's parts on it, which may end and be started again. */
import { LeasedBudgets } from "../../../src/cluster/cells/budgets/leased-budgets.ts";
import { SharedSpend } from "../../../src/cluster/cells/budgets/shared-spend.ts";
import { type Cell, openCell } from "../../../src/cluster/cells/cell.ts";
import { openSharedCredits } from "../../../src/cluster/cells/credit/shared-credits.ts";
import type { NumberedCharge } from "../../../src/cluster/cells/leases/charges.ts";
import { SharedLimits } from "../../../src/cluster/cells/limits/shared-limits.ts";
import type { UnchargedCall } from "../../../src/credits/ledger/uncharged.ts";
import type { VirtualTime } from "../virtual-time.ts";
import { Folder, MemoryStore } from "./memory-store.ts";
import type { Network } from "./network.ts";
import type { Plan } from "./plan.ts";
import { SimProcess } from "./process.ts";

export const DATASET_ID = "5e11".repeat(6);
/** Tables whose names begin so are of one cell alone. */
export const isShared = (table: string): boolean => !/^(?:local\.|cells\.)/.test(table);

export interface CellParts {
  readonly process: SimProcess;
  readonly cell: Cell;
  readonly purse: Awaited<ReturnType<typeof openSharedCredits>>["purse"];
  readonly book: Awaited<ReturnType<typeof openSharedCredits>>["book"];
  readonly limits: SharedLimits;
  readonly budgets: LeasedBudgets;
}

export interface SimCellDeps {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly plan: Plan;
  readonly say: (line: string) => void;
  readonly isDiskFull: (cell: string) => boolean;
  readonly onNumbered: (cell: string, charges: readonly NumberedCharge[]) => void;
  readonly onUncharged: (cell: string, calls: readonly UnchargedCall[]) => void;
  readonly onStarted: (cell: SimCell, parts: CellParts) => void;
  /** A process ended by itself, or could not start. */
  readonly onEnded: (cell: SimCell, process: SimProcess, reason: Error) => void;
}

export class SimCell {
  readonly name: string;
  readonly #deps: SimCellDeps;
  folder = new Folder();
  process: SimProcess | undefined;
  /** Once the process serves. */
  parts: CellParts | undefined;
  /** At some time. */
  wasRetired = false;
  /** A copy of its folder was started, and may have gone further than the folder. */
  wasCopied = false;
  starts = 0;

  constructor(name: string, deps: SimCellDeps) {
    this.name = name;
    this.#deps = deps;
  }

  /** Starts a process. */
  start(folder = this.folder): void {
    const { time, say } = this.#deps;
    const process = new SimProcess(this.name, time);
    process.wallAheadMs = this.process?.wallAheadMs ?? 0;
    this.process = process;
    this.parts = undefined;
    this.starts++;
    say(`${this.name} starts`);
    process.run(() => {
      this.#open(process, folder).catch((error: unknown) => this.#ended(process, error as Error));
    });
  }

  kill(): void {
    this.process?.kill();
    this.parts = undefined;
  }

  /** Whether a process runs, be it that it is starting. */
  get isRunning(): boolean {
    return this.process !== undefined && !this.process.isDead;
  }

  #ended(process: SimProcess, reason: Error): void {
    if (process.isDead) return;
    process.kill();
    this.#deps.say(`${this.name} ends: ${reason.message}`);
    this.#deps.onEnded(this, process, reason);
    if (this.process === process) this.parts = undefined;
  }

  async #open(process: SimProcess, folder: Folder): Promise<void> {
    const { network, plan, isDiskFull, onStarted } = this.#deps;
    const { name } = this;
    const onEnd = (reason: Error) => this.#ended(process, reason);
    const cell = await openCell({
      cell: name,
      datasetId: DATASET_ID,
      redisUrl: "",
      isShared,
      clock: process,
      onEnd,
      onOutdated: onEnd,
      local: new MemoryStore(folder, () => isDiskFull(name)),
      redis: network.clientOf(process),
      replicas: plan.replicas,
      log: { warn: (fields, message) => this.#deps.say(`${name}: ${message} ${JSON.stringify(fields)}`) },
    });
    const { purse, book } = await this.#openCredits(cell, onEnd);
    const { machine } = cell.clock;
    const limits = new SharedLimits({ lane: cell.lane("limits"), clock: machine, staleMs: cell.staleMs });
    const spend = new SharedSpend({ lane: cell.lane("spend"), scopes: purse.lane.scopes });
    const budgets = new LeasedBudgets({ store: cell.store, clock: cell.clock, credit: purse.lane, spend });
    await cell.opened();
    const parts = { process, cell, purse, book, limits, budgets };
    if (this.process === process) this.parts = parts;
    this.#deps.say(`${name} serves`);
    onStarted(this, parts);
  }

  async #openCredits(cell: Cell, onEnd: (reason: Error) => void) {
    const { plan, onNumbered, onUncharged } = this.#deps;
    return await openSharedCredits({
      cell,
      clock: cell.clock,
      onEnd,
      bounds: { lowCredit: () => undefined, watchedBelow: () => undefined },
      onFall() {},
      onPosted() {},
      charges: async () => [],
      holes: async () => [],
      isFormerOver: async () => true,
      allListed: async () => ({ isDone: true, missingSinceMs: undefined }),
      async allCharged() {},
      onNumbered: async (charges) => onNumbered(this.name, charges),
      onUncharged: (calls) => onUncharged(this.name, calls),
      onCrossed: undefined,
      scopeOf: (keyId) => plan.keys.find((key) => key.keyId === keyId)?.scope,
    });
  }
}
