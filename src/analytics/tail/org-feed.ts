/**
 * Who watches an org at this cell, and what they are handed. Other cells are told of it by a relay: they pass on what they have for
 * the org, and are passed what this cell has.
 */

/** What belongs to an org, such as a settled call. */
export interface OfOrg {
  readonly orgId: string;
}

export interface Watcher<Row> {
  /** In the order in which the cell got them. */
  take(row: Row): void;
  /** Rows that were too many to be kept for the watchers of an org, or were lost between cells. */
  miss(count: number): void;
}

/** Port: the cells among which an org's rows arise. */
export interface Relay<Row> {
  isWatched(orgId: string): boolean;
  watch(orgId: string): Promise<void>;
  leave(orgId: string): void;
  pass(rows: readonly Row[]): void;
  miss(orgId: string, count: number): void;
}

export class OrgFeed<Row extends OfOrg> {
  protected relay: Relay<Row> | undefined;
  readonly #watchers = new Map<string, Set<Watcher<Row>>>();

  /** Rows of other cells are shown too, and they are passed those of this one. */
  connect(relay: Relay<Row>): void {
    this.relay = relay;
  }

  /** Resolves once rows of other cells are shown too, or after a second; at once where nobody watches the org any more. */
  async reachOthers(orgId: string): Promise<void> {
    if (this.#watchers.has(orgId)) await this.relay?.watch(orgId);
  }

  /** Whether somebody watches the org, here or at another cell. This is asked for each call. */
  isWatched(orgId: string): boolean {
    return this.#watchers.has(orgId) || this.relay?.isWatched(orgId) === true;
  }

  /** Hands on the rows that come from now on. @returns ends it */
  watch(orgId: string, watcher: Watcher<Row>): () => void {
    const watchers = this.#watchers.get(orgId) ?? new Set();
    this.#watchers.set(orgId, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size > 0 || this.#watchers.get(orgId) !== watchers) return;
      this.#watchers.delete(orgId);
      this.relay?.leave(orgId);
    };
  }

  /** A row of this cell or another. */
  receive(row: Row): void {
    for (const watcher of this.#watchers.get(row.orgId) ?? []) watcher.take(row);
  }

  miss(orgId: string, count: number): void {
    for (const watcher of this.#watchers.get(orgId) ?? []) watcher.miss(count);
  }
}
