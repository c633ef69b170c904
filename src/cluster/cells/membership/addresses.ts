/**
 * Where the cells of an installation listen, as each tells the others by a shared row: no tenant's URL may reach any of them, whichever
 * cell makes the call. What stands in front of them, such as a load balancer, no cell can know: its name is `PUBLIC_URL`'s.
 */
import type { Clock, Timers } from "../../../base/clock.ts";
import type { Address } from "../../../outbound/address.ts";
import type { Store } from "../../../store/store.ts";

interface CellAddressRow {
  /** Canonical addresses of its machine; empty where it listens on loopback only. */
  readonly addresses: readonly string[];
  /** On which it listens, or a service beside it. */
  readonly ports: readonly number[];
  readonly atMs: number;
}

export interface CellAddressOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Its name among the cells. */
  readonly cell: string;
  /** What this cell tells of itself, asked for again and again. */
  readonly own: () => Pick<CellAddressRow, "addresses" | "ports">;
  /** It could not be told, and is told later. Not called again until it was. */
  readonly onFailure: (error: unknown) => void;
}

/** A change of the machine's addresses or ports is told after this time. */
const LOOK_MS = 10_000;
/** A row is written anew after a day, and counts for a week: a cell that is gone for good takes no address for ever. */
const RENEW_MS = 24 * 3_600_000;
const COUNTS_MS = 7 * RENEW_MS;
const MOST_ADDRESSES = 256;
const MOST_PORTS = 256;

export class CellAddresses {
  readonly #options: CellAddressOptions;
  readonly #table;
  #known: readonly CellAddressRow[] | undefined;
  #cancel: () => void = () => {};
  #isClosed = false;
  #hasStarted = false;
  #hasFailed = false;

  constructor(options: CellAddressOptions) {
    this.#options = options;
    this.#table = options.store.table<CellAddressRow>("cell_addresses");
    this.#table.watch(() => {
      this.#known = undefined;
    });
  }

  /** Tells the others where this cell listens, and tells them again when that changes. */
  start(): void {
    this.#hasStarted = true;
    const told = (error?: unknown) => {
      if (this.#isClosed) return;
      if (error !== undefined && !this.#hasFailed) this.#options.onFailure(error);
      this.#hasFailed = error !== undefined;
      this.#cancel = this.#options.timers.after(LOOK_MS, () => this.start());
    };
    this.#tell().then(() => told(), told);
  }

  /** What this cell tells of itself has changed: it is told at once, if it was told before. */
  changed(): void {
    if (!this.#hasStarted || this.#isClosed) return;
    this.#cancel();
    this.start();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Whether any cell listens there. Loopback may be that of its machine, for any cell may make the call. */
  has({ text, class: kind }: Address, port: number): boolean {
    this.#known ??= [...this.#table.range()].map(({ value }) => value);
    const isLoopback = kind === "loopback" || kind === "unspecified";
    return this.#known.some(
      ({ addresses, ports, atMs }) =>
        ports.includes(port) && (isLoopback || addresses.includes(text)) && this.#counts(atMs),
    );
  }

  #counts(atMs: number): boolean {
    return this.#options.clock.now() - atMs < COUNTS_MS;
  }

  async #tell(): Promise<void> {
    const { store, clock, cell, own } = this.#options;
    const addresses = own().addresses.slice(0, MOST_ADDRESSES).toSorted();
    const ports = own().ports.slice(0, MOST_PORTS);
    const told = this.#table.get(cell);
    const isSame = told?.ports.join() === ports.join() && told.addresses.join() === addresses.join();
    if (isSame && clock.now() - told.atMs < RENEW_MS) return;
    await store.act(() => {
      this.#table.put(cell, { addresses, ports, atMs: clock.now() });
      for (const { key, value } of [...this.#table.range()])
        if (key !== cell && !this.#counts(value.atMs)) this.#table.remove(key);
    });
  }
}
