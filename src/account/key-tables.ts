/**
 * Tables of keys and the indexes that must match their rows. Methods named add, put, replace, save, note, remove or prune write: call them
 * only in an act. What a request does here takes as long in an org of 380,000 keys as in one of ten, but for what says otherwise.
 */
import { merged } from "../base/lists.ts";
import type { KeyKinds } from "../base/operation/key-filter.ts";
import type { Table } from "../store/store.ts";
import { PAST_IDS } from "../store/tables/key-order.ts";
import { StoreTables } from "../store/tables/store-tables.ts";
import { type KeyRow, keyWorks } from "./key.ts";
import type { Environment } from "./secret.ts";

const PRUNE_AFTER_MS = 30 * 86_400_000;
/** Rows that one prune looks at. */
const PRUNED_AT_ONCE = 64;
/** Orgs of which it is remembered how far the last prune came. */
const MOST_PRUNED = 1000;

/** Where a key stands among those of its org, by age. */
export type KeyPosition = readonly [createdAtMs: number, id: string];

/** Whose playground key it is; each person has one of a project and environment. */
export interface PlaygroundOwner {
  readonly orgId: string;
  readonly personId: string;
  readonly projectId: string;
  readonly environment: Environment;
}

const placeOf = ({ orgId, personId, projectId, environment }: PlaygroundOwner): string[] => [
  orgId,
  personId,
  projectId,
  environment,
];

export const isOfPlayground = ({ kind }: Pick<KeyRow, "kind">): boolean => kind === "playground";

export abstract class KeyTables extends StoreTables {
  readonly #keys = this.store.table<KeyRow>("account.keys");
  /** Hash of the secret → key id. */
  readonly #keyByHash = this.store.table<string>("account.key_by_hash");
  /** [org id, created at, key id], every key ever created but those of the playground. */
  readonly #keysByAge = this.store.table<true>("account.keys_by_age");
  /** [org id, key id] of keys that may still work: few, however many have ended. */
  readonly #workingKeys = this.store.table<true>("account.working_keys");
  /** [org id, person id, project id, environment] → key id. */
  readonly #playgroundKeys = this.store.table<string>("account.playground_keys");
  /** [org id, created at, key id] of playground keys. */
  readonly #playgroundByAge = this.store.table<true>("account.playground_by_age");
  /** Key id → milliseconds. A table of its own, so that a use never rewrites the key's row. */
  readonly #lastUsed = this.store.table<number>("account.key_last_used");
  /** [org id, when it expires, key id] of keys of which the daily look found that they expire soon. */
  readonly #expiring = this.store.table<true>("account.keys_expiring");
  /** One row: milliseconds of the last report of a secret. */
  readonly #keyReports = this.store.table<number>("account.key_reports");
  /** [org id, what] → how many the org ever made. A row is missing where none was made since there is this table. */
  protected readonly made = this.store.table<number>("account.made");
  /** Table and org → where the next prune begins. Only in memory: which rows are looked at first does not matter. */
  readonly #prunedTo = new Map<string, string>();

  protected watchKeys(changed: (id: string, row: KeyRow | undefined) => void): void {
    this.#keys.watch((id, row) => changed(id as string, row));
  }

  key(id: string): KeyRow | undefined {
    return this.#keys.get(id);
  }

  keyByHash(hash: string): KeyRow | undefined {
    const id = this.#keyByHash.get(hash);
    return id === undefined ? undefined : this.#keys.get(id);
  }

  /**
   * Id of the first key of the chain of rotations that a key is in: its own where it replaced none. Spend, budgets and
   * limits are the lineage's. Rows of earlier releases tell it by the keys that they replaced.
   */
  lineageOf(key: KeyRow): string {
    let first = key;
    while (first.lineageId === undefined && first.rotatedFrom !== null) {
      const before = this.#keys.get(first.rotatedFrom);
      if (before === undefined) break;
      first = before;
    }
    return first.lineageId ?? first.rotatedFrom ?? first.id;
  }

  /** As `lineageOf`, also of a key that is not there. */
  readonly lineageOfId = (keyId: string): string => {
    const key = this.#keys.get(keyId);
    return key === undefined ? keyId : this.lineageOf(key);
  };

  /** Keys of all orgs that replaced another, also ended ones, with their lineages. Read lazily. */
  *successors(): Generator<{ readonly key: KeyRow; readonly lineageId: string }> {
    for (const { value: key } of this.#keys.range()) {
      const lineageId = this.lineageOf(key);
      if (lineageId !== key.id) yield { key, lineageId };
    }
  }

  /**
   * The other keys of its lineage that work now: the one that it replaced, in its grace, or the one that replaces it. A key that an
   * earlier release rotated does not name its successor: then, while its grace lasts, all keys that may work are looked at.
   */
  relativesOf(key: KeyRow, nowMs: number): KeyRow[] {
    if (key.revokedAtMs !== null && key.replacedBy === undefined && !key.isRevoked) {
      const lineageId = this.lineageOf(key);
      return this.workingKeys(key.orgId, nowMs).filter(
        (other) => other.id !== key.id && this.lineageOf(other) === lineageId,
      );
    }
    const neighbours = [key.replacedBy, key.rotatedFrom].map((id) =>
      id === undefined || id === null ? undefined : this.#keys.get(id),
    );
    return neighbours.filter((other) => other !== undefined).filter((other) => keyWorks(other, nowMs));
  }

  /**
   * The key whose limits and budget count for the calls of a key: the newest of its lineage that works. Only keys that an earlier
   * release changed one by one differ.
   */
  rulerOf(key: KeyRow, nowMs: number): KeyRow {
    if (key.revokedAtMs === null) return key;
    return this.relativesOf(key, nowMs).find(({ revokedAtMs }) => revokedAtMs === null) ?? key;
  }

  /** In the act of every report of a secret, also of one that is no key's, so that each waits for the same commit. */
  noteKeyReport(nowMs: number): void {
    this.#keyReports.put("last", nowMs);
  }

  /** Keys that work now (active or rotating), newest first. Reads all keys that may work. */
  workingKeys(orgId: string, nowMs: number): KeyRow[] {
    return Array.from(this.eachWorkingKey(orgId, nowMs));
  }

  /** The same, read lazily, strictly older than the key `after`. */
  *eachWorkingKey(orgId: string, nowMs: number, after?: string): Generator<KeyRow> {
    for (const row of this.eachListedKey(orgId, after)) if (keyWorks(row, nowMs)) yield row;
  }

  /** Keys that may work, newest first, also those that have just ended, read lazily: a walk can count what it looks at. */
  *eachListedKey(orgId: string, after?: string): Generator<KeyRow> {
    const start = [orgId, after ?? PAST_IDS];
    for (const { key } of this.#workingKeys.range({ start, end: [orgId], reverse: true })) {
      const id = (key as [string, string])[1];
      const row = id === after ? undefined : this.#keys.get(id);
      if (row !== undefined) yield row;
    }
  }

  /** As {@link workingKeys}; undefined where more than `most` may work, of which so many are read. */
  keysIfFew(orgId: string, most: number, nowMs: number): KeyRow[] | undefined {
    const rows: KeyRow[] = [];
    let seen = 0;
    for (const row of this.eachListedKey(orgId)) {
      if (++seen > most) return undefined;
      if (keyWorks(row, nowMs)) rows.push(row);
    }
    return rows;
  }

  /** Keys that expire within a span, the soonest first, as far as {@link noteExpiring} was told of them. */
  expiringKeys(orgId: string, fromMs: number, toMs: number, most: number): KeyRow[] {
    const range = { start: [orgId, fromMs], end: [orgId, toMs], limit: most };
    const ids = Array.from(this.#expiring.range(range), ({ key }) => (key as [string, number, string])[2]);
    return ids.map((id) => this.#keys.get(id)).filter((row) => row !== undefined);
  }

  /** Notes that a key expires soon; forgets some of the org's that have. */
  noteExpiring({ orgId, id, expiresAtMs }: KeyRow, nowMs: number): void {
    if (expiresAtMs === null) return;
    const over = this.#expiring.range({ start: [orgId], end: [orgId, nowMs], limit: 20 });
    for (const { key } of Array.from(over)) this.#expiring.remove(key);
    this.#expiring.put([orgId, expiresAtMs, id], true);
  }

  /** Keys that work now, oldest first, read lazily: the keys that make others are the oldest as a rule. */
  *workingKeysOldestFirst(orgId: string, nowMs: number): Generator<KeyRow> {
    for (const { key } of this.#workingKeys.range({ start: [orgId], end: [orgId, PAST_IDS] })) {
      const row = this.#keys.get((key as [string, string])[1]);
      if (row !== undefined && keyWorks(row, nowMs)) yield row;
    }
  }

  /** Whether fewer than `most` keys of an org work now, those of the playground apart. Reads no key of an org that never made so many. */
  hasFewerKeysThan(most: number, orgId: string, nowMs: number): boolean {
    if (this.keysEver(orgId) < most) return true;
    let working = 0;
    for (const row of this.eachWorkingKey(orgId, nowMs))
      if (!isOfPlayground(row) && ++working >= most) return false;
    return true;
  }

  /**
   * Keys of all orgs that may still work, slice by slice: for work that goes through all of them.
   * @param after `next` of the slice before
   * @returns `next` is undefined at the end
   */
  keysThatMayWork(
    limit: number,
    after?: readonly [orgId: string, keyId: string],
  ): { readonly keys: KeyRow[]; readonly next: readonly [string, string] | undefined } {
    // No id lies between one and the same with a space behind it.
    const start = after === undefined ? {} : { start: [after[0], `${after[1]} `] };
    const listed = Array.from(
      this.#workingKeys.range({ ...start, limit }),
      ({ key }) => key as [string, string],
    );
    const keys = listed.map(([, id]) => this.#keys.get(id)).filter((row) => row !== undefined);
    return { keys, next: listed.length < limit ? undefined : listed.at(-1) };
  }

  /**
   * Removes some of the keys that ended a month ago from the index of keys that may work; with each call it looks at the next ones. Not
   * sooner: a key that expired by a clock that runs ahead works again once the clock is corrected, and must then be listed and revocable.
   */
  pruneWorkingKeys(orgId: string, nowMs: number): void {
    const place = `working ${orgId}`;
    const start = [orgId, this.#prunedTo.get(place) ?? ""];
    const range = { start, end: [orgId, PAST_IDS], limit: PRUNED_AT_ONCE };
    const ids = Array.from(this.#workingKeys.range(range), ({ key }) => (key as [string, string])[1]);
    for (const id of ids) {
      const row = this.#keys.get(id);
      if (row === undefined || row.isRevoked || !keyWorks(row, nowMs - PRUNE_AFTER_MS))
        this.#workingKeys.remove([orgId, id]);
    }
    this.#prunedUpTo(place, ids.length < PRUNED_AT_ONCE ? undefined : `${ids.at(-1)} `);
  }

  #prunedUpTo(place: string, next: string | undefined): void {
    if (this.#prunedTo.size >= MOST_PRUNED) this.#prunedTo.clear();
    if (next === undefined) this.#prunedTo.delete(place);
    else this.#prunedTo.set(place, next);
  }

  /** Every key of an org of a kind, newest first, strictly after the given position. Read lazily. */
  *keysByAge(orgId: string, after?: KeyPosition, kinds: KeyKinds = "key"): Generator<KeyRow> {
    const made = this.#byAge(this.#keysByAge, orgId, after);
    const ofPlayground = this.#byAge(this.#playgroundByAge, orgId, after);
    const some = kinds === "key" ? made : ofPlayground;
    for (const [, id] of kinds === "any" ? merged(made, ofPlayground, isNewer) : some) {
      const row = this.#keys.get(id);
      if (row !== undefined) yield row;
    }
  }

  *#byAge(index: Table<true>, orgId: string, after: KeyPosition | undefined): Generator<KeyPosition> {
    const start = [orgId, ...(after ?? [Number.MAX_SAFE_INTEGER])];
    for (const { key } of index.range({ start, end: [orgId], reverse: true })) {
      const [, createdAtMs, id] = key as [string, number, string];
      if (id !== after?.[1]) yield [createdAtMs, id];
    }
  }

  /** Revoked and expired ones included, those of the playground apart. */
  keysEver(orgId: string): number {
    return (
      this.made.get([orgId, "keys"]) ??
      Array.from(this.#keysByAge.range({ start: [orgId], end: [orgId, Number.MAX_SAFE_INTEGER] })).length
    );
  }

  addKey(row: KeyRow): void {
    this.made.put([row.orgId, "keys"], this.keysEver(row.orgId) + 1);
    this.#keys.put(row.id, row);
    this.#keyByHash.put(row.hash, row.id);
    this.#keysByAge.put([row.orgId, row.createdAtMs, row.id], true);
    this.#workingKeys.put([row.orgId, row.id], true);
  }

  /** Org, hash and creation time must not change. A revoked key leaves the index of keys that may work. */
  replaceKey(row: KeyRow): void {
    this.#keys.put(row.id, row);
    if (row.isRevoked) this.#workingKeys.remove([row.orgId, row.id]);
  }

  playgroundKey(owner: PlaygroundOwner): KeyRow | undefined {
    const id = this.#playgroundKeys.get(placeOf(owner));
    return id === undefined ? undefined : this.#keys.get(id);
  }

  /** Playground keys of a person in an org, ended ones included. */
  playgroundKeysOf({ orgId, personId }: Pick<PlaygroundOwner, "orgId" | "personId">): KeyRow[] {
    const range = { start: [orgId, personId], end: [orgId, personId, PAST_IDS] };
    const rows = Array.from(this.#playgroundKeys.range(range), ({ value }) => this.#keys.get(value));
    return rows.filter((row) => row !== undefined);
  }

  /** Adds a playground key, or puts it in the place of its earlier row, whose secret opens nothing any more. */
  putPlaygroundKey(owner: PlaygroundOwner, row: KeyRow): void {
    const before = this.#keys.get(row.id);
    if (before !== undefined) this.#keyByHash.remove(before.hash);
    this.#keys.put(row.id, row);
    this.#keyByHash.put(row.hash, row.id);
    this.#playgroundKeys.put(placeOf(owner), row.id);
    this.#playgroundByAge.put([row.orgId, row.createdAtMs, row.id], true);
    this.#workingKeys.put([row.orgId, row.id], true);
  }

  /** Forgets whose key of the playground this is; its row stays. */
  removePlaygroundOwner({ orgId, personId = "", projectId, environment }: KeyRow): void {
    this.#playgroundKeys.remove(placeOf({ orgId, personId, projectId, environment }));
  }

  /**
   * Removes some of the playground keys that ended a month ago; with each call it looks at the next ones. When they were last used stays:
   * each cell counts that for itself, and no act may depend on it.
   */
  prunePlaygroundKeys(orgId: string, nowMs: number): void {
    const place = `playground ${orgId}`;
    const start = [orgId, ...(this.#prunedTo.get(place)?.split(" ") ?? [])];
    const range = { start, end: [orgId, PAST_IDS], limit: PRUNED_AT_ONCE };
    const listed = Array.from(this.#playgroundKeys.range(range));
    for (const { key, value: id } of listed) {
      const row = this.#keys.get(id);
      if (row !== undefined && !hadEnded(row, nowMs - PRUNE_AFTER_MS)) continue;
      this.#playgroundKeys.remove(key);
      if (row !== undefined) this.#removePlaygroundKey(row);
    }
    const [, ...last] = (listed.at(-1)?.key ?? []) as string[];
    this.#prunedUpTo(place, listed.length < PRUNED_AT_ONCE ? undefined : last.join(" "));
  }

  #removePlaygroundKey({ id, orgId, hash, createdAtMs }: KeyRow): void {
    this.#keys.remove(id);
    this.#keyByHash.remove(hash);
    this.#playgroundByAge.remove([orgId, createdAtMs, id]);
    this.#workingKeys.remove([orgId, id]);
  }

  keyLastUsedMs(keyId: string): number | undefined {
    return this.#lastUsed.get(keyId);
  }

  /** Writes the last use of many keys at once. */
  saveLastUsed(uses: readonly (readonly [keyId: string, atMs: number])[]): Promise<void> {
    const act = () => {
      for (const [keyId, atMs] of uses) this.#lastUsed.put(keyId, atMs);
    };
    return this.store.act(act, { isOwed: true });
  }
}

const isNewer = ([aMs, aId]: KeyPosition, [bMs, bId]: KeyPosition): boolean =>
  aMs > bMs || (aMs === bMs && aId > bId);

/** Whether a key had ended by then, whatever the clock said meanwhile. */
const hadEnded = (row: KeyRow, atMs: number): boolean =>
  row.isRevoked ? (row.revokedAtMs ?? 0) <= atMs : !keyWorks(row, atMs);
