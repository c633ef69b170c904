/** What the tests of credits and limits stand on: a real store in a folder of its own, a clock set by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../src/clock.ts";
import type { Credits } from "../src/credits/credits.ts";
import type { LedgerEntry } from "../src/credits/entry.ts";
import { openStore, type Store } from "../src/store/store.ts";

export class ManualClock implements Clock {
  #nowMs: number;
  #monotonicMs = 5_000;

  constructor(at: string) {
    this.#nowMs = Date.parse(at);
  }

  now = () => this.#nowMs;
  monotonic = () => this.#monotonicMs;

  advance(ms: number): void {
    this.#nowMs += ms;
    this.#monotonicMs += ms;
  }

  /** Wall time only, as a correction of the clock does. */
  set(at: string | number): void {
    this.#nowMs = typeof at === "number" ? at : Date.parse(at);
  }
}

export const tempFolder = (): string => mkdtempSync(join(tmpdir(), "weir-credits-"));

/** A store in a folder of its own; `reopen` closes it and opens the folder again, as a restart does. */
export function tempStore() {
  const folder = tempFolder();
  let store = openStore(folder);
  return {
    get store(): Store {
      return store;
    },
    async reopen(): Promise<Store> {
      await store.close();
      store = openStore(folder);
      return store;
    },
    async dispose(): Promise<void> {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The real store, but its next `failures` group commits do all their writes and then roll back, as on a full disk. */
export function failingStore(inner: Store, failures: number): Store & { readonly failed: () => number } {
  let queue: { write: () => void; done: () => void }[] = [];
  let running = false;
  let failed = 0;
  async function run(): Promise<void> {
    running = true;
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      const writeAll = () => {
        for (const { write } of batch) write();
      };
      if (failed < failures) {
        failed += 1;
        const dies = inner.act(() => {
          writeAll();
          throw new Error("disk full");
        });
        await dies.catch(() => {});
        queue = [...batch, ...queue];
        continue;
      }
      await inner.act(writeAll);
      for (const { done } of batch) done();
    }
    running = false;
  }
  return {
    table: (name) => inner.table(name),
    bytes: (name) => inner.bytes(name),
    log: (name) => inner.log(name),
    unsaved: () => inner.unsaved(),
    healthy: () => inner.healthy(),
    caughtUp: () => inner.caughtUp(),
    close: () => inner.close(),
    failed: () => failed,
    act: <T>(act: () => T) =>
      new Promise<T>((resolve) => {
        let value: T;
        const write = () => {
          value = act();
        };
        queue.push({ write, done: () => resolve(value) });
        if (!running) void run();
      }),
  };
}

/** The whole ledger, oldest first, read in pages as a client would. */
export function wholeLedger(credits: Credits, orgId: string): LedgerEntry[] {
  const all: LedgerEntry[] = [];
  for (;;) {
    const page = credits.entries(orgId, { limit: 100, before: all.at(-1)?.seq });
    all.push(...page);
    if (page.length < 100) return all.reverse();
  }
}

/** What a bookkeeper checks: numbered 1, 2, 3 … and every balance the one before plus the amount. Returns the last. */
export function audit(entries: readonly LedgerEntry[]): number {
  let balance = 0;
  for (const [i, entry] of entries.entries()) {
    balance += entry.amountMicroUsd;
    if (entry.seq !== i + 1) throw new Error(`entry ${i + 1} has seq ${entry.seq}`);
    if (entry.balanceMicroUsd !== balance) throw new Error(`entry ${entry.seq} breaks the running balance`);
  }
  return balance;
}
