/** The tables of a room: a subclass opens each where it declares it, so that name, key and row of a table stand together. */
import type { Store } from "../store.ts";

export abstract class StoreTables {
  protected readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }
}
