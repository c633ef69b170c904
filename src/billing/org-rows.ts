/** Rows that belong to an org, and are found by their id alone too. Methods that write must be called in an act. */
import type { Store, Table } from "../store/store.ts";
import { PAST_IDS } from "../store/tables/key-order.ts";
import { StoreTables } from "../store/tables/store-tables.ts";

export abstract class OrgRows<R extends { readonly id: string; readonly orgId: string }> extends StoreTables {
  /** [org id, id]. */
  protected readonly rows: Table<R>;
  /** [id] → org id. */
  readonly #orgOf: Table<string>;

  /** @param names of the two tables */
  constructor(store: Store, names: { readonly rows: string; readonly orgOf: string }) {
    super(store);
    this.rows = store.table(names.rows);
    this.#orgOf = store.table(names.orgOf);
  }

  get(orgId: string, id: string): R | undefined {
    return this.rows.get([orgId, id]);
  }

  /** A row of any org. */
  find(id: string): R | undefined {
    const orgId = this.#orgOf.get([id]);
    return orgId === undefined ? undefined : this.get(orgId, id);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  *of(orgId: string, before = PAST_IDS): Generator<R, undefined> {
    for (const { value } of this.rows.range({ start: [orgId, before], end: [orgId], reverse: true }))
      if (value.id !== before) yield value;
  }

  /** Rows of an index [first part, id] → org id, strictly after an id, in the order of ids. Read lazily. */
  protected *indexed(index: Table<string>, part: string, after = ""): Generator<R> {
    for (const { key, value } of index.range({ start: [part, after], end: [part, PAST_IDS] })) {
      const id = (key as [string, string])[1];
      const row = id === after ? undefined : this.get(value, id);
      if (row !== undefined) yield row;
    }
  }

  put(row: R): void {
    this.rows.put([row.orgId, row.id], row);
    this.#orgOf.put([row.id], row.orgId);
  }
}
