/** The stored apps, with an index of each org's and one of those that are public. Methods that write must be called in an act. */

import type { Store, Table } from "../../store/store.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import type { AppRow } from "./app.ts";

export class AppTables {
  readonly #store: Store;
  /** By slug. */
  readonly #apps: Table<AppRow>;
  /** [org id, slug]. */
  readonly #byOrg: Table<true>;
  /** Slug, of those that are public. */
  readonly #public: Table<true>;

  constructor(store: Store) {
    this.#store = store;
    this.#apps = store.table("apps.apps");
    this.#byOrg = store.table("apps.by_org");
    this.#public = store.table("apps.public");
  }

  act<T>(act: () => T): Promise<T> {
    return this.#store.act(act);
  }

  /** Calls `changed` with the slug of each app that is added, changed or removed. */
  watch(changed: (slug: string) => void): void {
    this.#apps.watch((slug) => changed(slug as string));
  }

  app(slug: string): AppRow | undefined {
    return this.#apps.get(slug);
  }

  /** All of an org, by slug. */
  of(orgId: string): AppRow[] {
    const range = { start: [orgId], end: [orgId, PAST_IDS] };
    return Array.from(this.#byOrg.range(range), ({ key }) => this.app((key as [string, string])[1])).filter(
      (row) => row !== undefined,
    );
  }

  /** Public ones of all orgs, by slug, strictly after one. */
  published(after: string, limit: number): AppRow[] {
    // No slug lies between one and the same with a space behind it.
    const range = { start: `${after} `, limit };
    return Array.from(this.#public.range(range), ({ key }) => this.app(key as string)).filter(
      (row) => row !== undefined,
    );
  }

  /** Adds or replaces; slug and org must not change. */
  put(row: AppRow): void {
    this.#apps.put(row.slug, row);
    this.#byOrg.put([row.orgId, row.slug], true);
    if (row.isPublic) this.#public.put(row.slug, true);
    else this.#public.remove(row.slug);
  }

  remove({ orgId, slug }: AppRow): void {
    this.#apps.remove(slug);
    this.#byOrg.remove([orgId, slug]);
    this.#public.remove(slug);
  }

  /** Removes at most `most` of an org's. @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    const rows = this.of(orgId);
    for (const row of rows.slice(0, most)) this.remove(row);
    return rows.length > most;
  }
}
