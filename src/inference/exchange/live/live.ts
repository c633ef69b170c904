/**
 * A list of current calls. Not a Set: a Set whose items are added and removed all the time allocates a new table now and
 * then, and each old table keeps its calls alive until the next full garbage collection. Nearly every call then survived two
 * collections, which cost a quarter of the exchange's time.
 */
import { during } from "../../../base/turns/long-work.ts";

export interface Indexed {
  /** Index in the list; -1 while it is in none. */
  index: number;
}

export class Live<T extends Indexed> {
  readonly #items: T[] = [];

  add(item: T): void {
    item.index = this.#items.push(item) - 1;
  }

  /** Removes an item by moving the last item to its index. Does nothing if the item is not in the list. */
  remove(item: T): void {
    if (item.index < 0) return;
    const last = this.#items.pop() as T;
    if (last !== item) {
      this.#items[item.index] = last;
      last.index = item.index;
    }
    item.index = -1;
  }

  /**
   * Does something with each item that is in the list now: with so many at once, and with as many in each turn of the event loop that
   * follows. Items that are removed meanwhile are left out.
   * @param act does not throw
   */
  visit(most: number, act: (item: T) => void): void {
    const items = this.all();
    const from = (start: number) => {
      const end = start + most;
      for (const item of items.slice(start, end)) if (item.index >= 0) act(item);
      if (end < items.length) setImmediate(() => during("tick", () => from(end)));
    };
    from(0);
  }

  /** A copy of the list: items may be removed while it is iterated. */
  all(): readonly T[] {
    return [...this.#items];
  }
}
