/** What the tests of credits and limits stand on: a real store in a folder of its own, a clock set by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../src/base/clock.ts";
import type { Charge, LocalBook } from "../../../src/credits/ledger/book.ts";
import { type CreditsDeps, openCredits as openPurseAndBook } from "../../../src/credits/ledger/credits.ts";
import type { LedgerEntry } from "../../../src/credits/ledger/entry.ts";
import type { LedgerPage } from "../../../src/credits/ledger/ledger.ts";
import type { Posting } from "../../../src/credits/ledger/posting.ts";
import type { Hold } from "../../../src/credits/ledger/purse.ts";
import { openStore, type Store } from "../../../src/store/store.ts";

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

/**
 * A store in a folder of its own, where each act runs twice and the first run is dropped; `reopen` closes it and opens the folder
 * again, as a restart does.
 */
export function tempStore() {
  const folder = tempFolder();
  let store = openStore(folder, { actsTwice: true });
  return {
    folder,
    get store(): Store {
      return store;
    },
    async reopen(): Promise<Store> {
      await store.close();
      store = openStore(folder, { actsTwice: true });
      return store;
    },
    async dispose(): Promise<void> {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Purse and book as the gateway uses them: each change in an act of its own, with what is put besides. */
export function openCredits(deps: CreditsDeps) {
  const { purse, book } = openPurseAndBook(deps);
  return {
    purse,
    book,
    hold: (orgId: string, microUsd: number) => purse.hold(orgId, microUsd),
    extend: (hold: Hold, moreMicroUsd: number) => purse.extend(hold, moreMicroUsd),
    release: (hold: Hold) => purse.release(hold),
    open: () => purse.open(),
    entries: (orgId: string, page: LedgerPage) => book.entries(orgId, page),
    balance: (orgId: string) => ({ ...book.balance(orgId), ...purse.funds(orgId) }),
    settle: (hold: Hold, { also, ...charge }: Charge & Also) =>
      deps.store.act(
        () => {
          const settled = purse.settle(hold, charge);
          also?.(settled.entry?.seq);
          return settled;
        },
        { isOwed: true },
      ),
    /** `also` is not run for a replay. */
    post: (orgId: string, { also, ...posting }: Posting & Also) =>
      deps.store.act(
        () => {
          const posted = book.post(orgId, posting);
          if (posted.outcome === "posted" && !posted.replay) also?.();
          return posted;
        },
        { isOwed: true },
      ),
  };
}

export type TestCredits = ReturnType<typeof openCredits>;

interface Also {
  /** Gets the number of the charge's entry, undefined where it has none. */
  readonly also?: ((entrySeq?: number) => void) | undefined;
}

/** The whole ledger, oldest first, read in pages as a client would. */
export function wholeLedger(credits: Pick<LocalBook, "entries">, orgId: string): LedgerEntry[] {
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
