/**
 * The calls under way. Not a Set: a Set that things come to and go from makes itself a new table now and then, and each
 * table left behind keeps the calls of its last moment alive until the next full collection: nearly every call then
 * outlived two collections, which cost a quarter of the exchange's time.
 */

export interface Placed {
  /** Where it stands; -1 while it does not. */
  place: number;
}

export class Live<T extends Placed> {
  readonly #items: T[] = [];

  add(item: T): void {
    item.place = this.#items.push(item) - 1;
  }

  /** The last takes its place. Nothing happens where it is not in here. */
  remove(item: T): void {
    if (item.place < 0) return;
    const last = this.#items.pop() as T;
    if (last !== item) {
      this.#items[item.place] = last;
      last.place = item.place;
    }
    item.place = -1;
  }

  /** All that are in here now; they may leave while they are gone through. */
  all(): readonly T[] {
    return [...this.#items];
  }
}
