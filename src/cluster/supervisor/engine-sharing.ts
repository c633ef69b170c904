/**
 * Shares one embedded engine among the cells. A cell is told the engine's address only when no other cell migrates the
 * database: two would fill a new roll-up twice. Calls do not wait for this; records wait in the cell's outbox.
 */
import type { EngineAddress, EngineUserRow } from "./messages.ts";

/** Port: the engine, which the supervisor runs. */
export interface OwnEngine {
  /** Resolves once the address is known; rejects after this time. */
  address(withinMs: number): Promise<EngineAddress>;
  pid(): number | undefined;
  setAnalysts(users: readonly EngineUserRow[]): void;
  stop(): Promise<void>;
}

const LOOK_MS = 500;
/** An engine that is started is asked for its address again and again: it may have another after a restart. */
const ADDRESS_MS = 60_000;

export class EngineSharing {
  readonly #engine: OwnEngine;
  readonly #tell: (cell: number, address: EngineAddress) => void;
  readonly #analysts = new Map<number, readonly EngineUserRow[]>();
  readonly #migrated = new Set<number>();
  readonly #waiting = new Set<number>();
  readonly #timer: NodeJS.Timeout;
  #migrating: number | undefined;
  #address: EngineAddress | undefined;
  #pid: number | undefined;
  #asking = false;

  /** @param tell sends the address to a cell */
  constructor(engine: OwnEngine, tell: (cell: number, address: EngineAddress) => void) {
    this.#engine = engine;
    this.#tell = tell;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
    this.#look();
  }

  /** A cell has been started. */
  started(cell: number): void {
    this.#waiting.add(cell);
    this.#next();
  }

  /** A cell has used the database, so it is migrated to its release. */
  migrated(cell: number): void {
    if (this.#migrating === cell) this.#migrating = undefined;
    this.#migrated.add(cell);
    this.#next();
  }

  /** A cell has ended. Its analysts stay: they are the installation's. */
  ended(cell: number): void {
    if (this.#migrating === cell) this.#migrating = undefined;
    this.#migrated.delete(cell);
    this.#waiting.delete(cell);
    this.#next();
  }

  /** The engine lets in whom any cell has named. */
  setAnalysts(cell: number, users: readonly EngineUserRow[]): void {
    this.#analysts.set(cell, users);
    const all = new Map([...this.#analysts.values()].flat().map((user) => [user.username, user]));
    this.#engine.setAnalysts([...all.values()]);
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    return this.#engine.stop();
  }

  #next(): void {
    if (this.#address === undefined || this.#migrating !== undefined) return;
    const [cell] = this.#waiting;
    if (cell === undefined) return;
    this.#waiting.delete(cell);
    this.#migrating = cell;
    this.#tell(cell, this.#address);
  }

  #look(): void {
    const pid = this.#engine.pid();
    if (pid === this.#pid || pid === undefined || this.#asking) return;
    this.#asking = true;
    this.#engine.address(ADDRESS_MS).then(
      (address) => {
        this.#asking = false;
        this.#pid = pid;
        const isNew = address.url !== this.#address?.url;
        this.#address = address;
        const told = [...this.#migrated, ...(this.#migrating === undefined ? [] : [this.#migrating])];
        if (isNew) for (const cell of told) this.#tell(cell, address);
        this.#next();
      },
      () => {
        this.#asking = false;
      },
    );
  }
}
