/**
 * The calls under way. Not a Set: a Set that things come to and go from makes itself a new table now and then, and each
 * table left behind keeps the calls of its last moment alive until the next full collection: nearly every call then
 * outlived two collections, which cost a quarter of the exchange's time.
 */

export interface Indexed {
  /** Index in the list; -1 while it is in none. */
  index: number;
}

export class Live<T extends Indexed> {
  readonly #items: T[] = [];

  add(item: T): void {
    item.index = this.#items.push(item) - 1;
  }

  /** Moves the last item to its index. Does nothing where the item is not in the list. */
  remove(item: T): void {
    if (item.index < 0) return;
    const last = this.#items.pop() as T;
    if (last !== item) {
      this.#items[item.index] = last;
      last.index = item.index;
    }
    item.index = -1;
  }

  /** A copy of the list: items may be removed while it is gone through. */
  all(): readonly T[] {
    return [...this.#items];
  }
}
