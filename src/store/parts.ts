/** What the running store is made of, each part opened and checked before. */
import type { Journal } from "./journal.ts";
import type { Lmdb } from "./lmdb.ts";
import type { Logs } from "./logs.ts";
import type { Rewriting } from "./rewrite.ts";
import type { JournalProgress } from "./survey.ts";

export interface JournaledStoreParts {
  readonly lmdb: Lmdb;
  readonly journal: Journal;
  readonly logs: Logs;
  /** LMDB's progress: equal to the journal's. */
  readonly reached: JournalProgress;
  /** Releases the claim on the folder. */
  readonly release: () => void;
  readonly onFailure: (error: unknown) => void;
  /** See `StoreOptions`. */
  readonly actsTwice: boolean;
  readonly rewrite: Rewriting;
}
