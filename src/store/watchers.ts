/** Notifies caches of each row that an act has changed, after its commit. */
import type { Write } from "./journal/frame.ts";

type Watcher = (write: Write) => void;

export class Watchers {
  readonly #byTable = new Map<string, Watcher[]>();
  readonly #onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  add(table: string, watcher: Watcher): void {
    const watchers = this.#byTable.get(table);
    if (watchers === undefined) this.#byTable.set(table, [watcher]);
    else watchers.push(watcher);
  }

  /** A watcher that throws does not stop the others: the rows are committed. */
  tell(writes: readonly Write[]): void {
    for (const write of writes) {
      const watchers = this.#byTable.get(write.table);
      if (watchers === undefined) continue;
      for (const watcher of watchers) {
        try {
          watcher(write);
        } catch (error) {
          this.#onFailure(error);
        }
      }
    }
  }
}
