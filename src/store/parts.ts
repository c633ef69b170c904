/** What the running store is made of, each part opened and checked before. */

import type { Rewriting } from "./copying/rewrite.ts";
import type { Journal } from "./journal/journal.ts";
import type { Logs } from "./journal/logs.ts";
import type { JournalProgress } from "./journal/survey.ts";
import type { Lmdb } from "./lmdb/lmdb.ts";

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
