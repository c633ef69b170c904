/**
 * Tables of orgs, projects and provider keys, and the indexes that must match their rows; those of keys are in key-tables.ts. Methods
 * named add, replace, retire, remove or prune write: call them only in an act.
 */

import { fail, mustExist } from "../base/errors.ts";
import type { Table } from "../store/store.ts";
import { PAST_IDS } from "../store/tables/key-order.ts";
import type { KeyRow } from "./key.ts";
import { KeyTables } from "./key-tables.ts";
import type { OrgRow } from "./org.ts";
import { People } from "./people.ts";
import type { ProjectRow } from "./project.ts";
import type { ProviderKeyRow } from "./provider-keys/provider-key.ts";

/** A slug that nobody chose, from the last characters of an id. */
export const nameless = (id: string): string => `erased-${id.slice(-12).toLowerCase()}`;

export interface AccountWatch {
  readonly org?: (id: string) => void;
  readonly project?: (id: string) => void;
  readonly key?: (id: string, row: KeyRow | undefined) => void;
  readonly providerKey?: (orgId: string) => void;
}

export class AccountTables extends KeyTables {
  readonly people = new People(this.store);
  readonly #orgs = this.store.table<OrgRow>("account.orgs");
  /** Slug → org id. The first org of a folder of release 0.1.0 is not in it. */
  readonly #orgBySlug = this.store.table<string>("account.org_by_slug");
  readonly #projects = this.store.table<ProjectRow>("account.projects");
  /** [org id, project id], without deleted projects. */
  readonly #projectsByOrg = this.store.table<true>("account.projects_by_org");
  /** [org id, slug] → project id, without deleted projects. */
  readonly #projectBySlug = this.store.table<string>("account.project_by_slug");
  readonly #keys = this.store.table<KeyRow>("account.keys");
  /** Hash of the secret → key id. */
  readonly #keyByHash = this.store.table<string>("account.key_by_hash");
  /** [org id, created at, key id], every key ever created. */
  readonly #keysByAge = this.store.table<true>("account.keys_by_age");
  /** [org id, key id] of keys that may still work: few, however many have ended. */
  readonly #workingKeys = this.store.table<true>("account.working_keys");
  /** Key id → milliseconds. A table of its own, so that a use never rewrites the key's row. */
  readonly #lastUsed = this.store.table<number>("account.key_last_used");
  /** [org id, when it expires, key id] of keys of which the daily look found that they expire soon. */
  readonly #expiring = this.store.table<true>("account.keys_expiring");
  /** One row: milliseconds of the last report of a secret. */
  readonly #keyReports = this.store.table<number>("account.key_reports");
  /** [org id, what] → how many the org ever made. A row is missing where none was made since there is this table. */
  readonly #made = this.store.table<number>("account.made");
  /** [org id, provider key id], ids in the order they were made. */
  readonly #providerKeys = this.store.table<ProviderKeyRow>("account.provider_keys");

  /** Atomic; what `act` checks still holds when its writes commit. */
  act<T>(act: () => T): Promise<T> {
    return this.store.act(act);
  }

  /** Calls the watchers for changed rows: see `Table.watch`. */
  watch({ org, project, key, providerKey }: AccountWatch): void {
    if (org !== undefined) this.#orgs.watch((id) => org(id as string));
    if (project !== undefined) this.#projects.watch((id) => project(id as string));
    if (key !== undefined) this.watchKeys(key);
    if (providerKey !== undefined) this.#providerKeys.watch((at) => providerKey((at as [string])[0]));
  }

  org(id: string): OrgRow | undefined {
    return this.#orgs.get(id);
  }

  /** @throws WeirError `not_found` */
  mustOrg(id: string): OrgRow {
    return mustExist(this.org(id), "organisation");
  }

  /** An org in which something may be made. @throws WeirError `not_found`, `org_closed` */
  mustOpenOrg(id: string): OrgRow {
    const org = this.mustOrg(id);
    if (org.status === "closed") throw fail("org_closed", "The organisation is closed.");
    return org;
  }

  /** The first org made here; undefined on an empty folder. */
  oldestOrg(): OrgRow | undefined {
    for (const { value } of this.#orgs.range({ limit: 1 })) return value;
    return undefined;
  }

  /** The IANA zone whose midnight resets a project's budgets. */
  timeZoneOf(projectId: string): string {
    return this.org(this.project(projectId)?.orgId ?? "")?.timeZone ?? "UTC";
  }

  /** Days for which an org keeps payloads now. */
  retentionDays(orgId: string): number {
    return this.org(orgId)?.dataPolicy.retentionDays ?? 0;
  }

  orgBySlug(slug: string): OrgRow | undefined {
    const id = this.#orgBySlug.get(slug);
    if (id !== undefined) return this.#orgs.get(id);
    const oldest = this.oldestOrg();
    return oldest?.slug === slug ? oldest : undefined;
  }

  orgByIdOrSlug(idOrSlug: string): OrgRow | undefined {
    return this.org(idOrSlug) ?? this.orgBySlug(idOrSlug);
  }

  /** Strictly older than `before`. Read lazily. */
  *orgsNewestFirst(before = PAST_IDS): Generator<OrgRow> {
    for (const { key, value } of this.#orgs.range({ start: before, reverse: true }))
      if (key !== before) yield value;
  }

  addOrg(row: OrgRow): void {
    this.#orgs.put(row.id, row);
    this.#orgBySlug.put(row.slug, row.id);
  }

  /** Only the id must not change. */
  replaceOrg(row: OrgRow): void {
    const before = this.#orgs.get(row.id);
    if (before !== undefined && before.slug !== row.slug) this.#orgBySlug.remove(before.slug);
    this.#orgs.put(row.id, row);
    this.#orgBySlug.put(row.slug, row.id);
  }

  /** Also finds deleted projects. */
  project(id: string): ProjectRow | undefined {
    return this.#projects.get(id);
  }

  projectIdBySlug(orgId: string, slug: string): string | undefined {
    return this.#projectBySlug.get([orgId, slug]);
  }

  /** Newest first, without deleted ones. */
  projectsOf(orgId: string): ProjectRow[] {
    return this.#members(this.#projectsByOrg, orgId, (id) => this.#projects.get(id));
  }

  /** As {@link projectsOf}; undefined where they are more than `most`, of which so many are read. */
  projectsIfFew(orgId: string, most: number): ProjectRow[] | undefined {
    const rows = this.#members(this.#projectsByOrg, orgId, (id) => this.#projects.get(id), most + 1);
    return rows.length > most ? undefined : rows;
  }

  /** Projects of all orgs, deleted ones included, in the order in which they were made, strictly after `after`. Read lazily. */
  *allProjects(after = ""): Generator<ProjectRow> {
    for (const { value } of this.#projects.range({ start: after })) if (value.id !== after) yield value;
  }

  /** Deleted ones included; of those that an earlier release deleted, none. */
  projectsEver(orgId: string): number {
    return this.made.get([orgId, "projects"]) ?? this.projectsOf(orgId).length;
  }

  addProject(row: ProjectRow): void {
    this.made.put([row.orgId, "projects"], this.projectsEver(row.orgId) + 1);
    this.#projects.put(row.id, row);
    this.#projectsByOrg.put([row.orgId, row.id], true);
    this.#projectBySlug.put([row.orgId, row.slug], row.id);
  }

  /** Slug and org must not change. */
  replaceProject(row: ProjectRow): void {
    this.#projects.put(row.id, row);
  }

  retireProject(row: ProjectRow): void {
    this.#projects.put(row.id, { ...row, status: "deleted" });
    this.#projectsByOrg.remove([row.orgId, row.id]);
    this.#projectBySlug.remove([row.orgId, row.slug]);
  }

  /** The row stays, because records name it; name and slug go. */
  eraseProject(row: ProjectRow): void {
    this.retireProject(row);
    this.#projects.put(row.id, { ...row, name: "", slug: nameless(row.id), status: "deleted" });
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

  /** The other keys of its lineage that work now: the one that it replaced, in its grace, or the one that replaces it. */
  relativesOf(key: KeyRow, nowMs: number): KeyRow[] {
    const lineageId = this.lineageOf(key);
    return this.workingKeys(key.orgId, nowMs).filter(
      (other) => other.id !== key.id && this.lineageOf(other) === lineageId,
    );
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

  /** Keys that work now (active or rotating), newest first. */
  workingKeys(orgId: string, nowMs: number): KeyRow[] {
    const rows = this.#members(this.#workingKeys, orgId, (id) => this.#keys.get(id));
    return rows.filter((row) => keyWorks(row, nowMs));
  }

  /** As {@link workingKeys}; undefined where more than `most` may work, of which so many are read. */
  keysIfFew(orgId: string, most: number, nowMs: number): KeyRow[] | undefined {
    const rows = this.#members(this.#workingKeys, orgId, (id) => this.#keys.get(id), most + 1);
    return rows.length > most ? undefined : rows.filter((row) => keyWorks(row, nowMs));
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

  /**
   * Removes revoked keys, and those that ended a month ago, from the index of keys that may work. Not sooner: a key
   * that expired by a clock that runs ahead works again once the clock is corrected, and must then be listed and
   * revocable.
   */
  pruneWorkingKeys(orgId: string, nowMs: number): void {
    for (const row of this.#members(this.#workingKeys, orgId, (id) => this.#keys.get(id))) {
      if (row.isRevoked || !keyWorks(row, nowMs - PRUNE_AFTER_MS)) this.#workingKeys.remove([orgId, row.id]);
    }
  }

  /** Every key of an org, newest first, strictly after the given position. Read lazily. */
  *keysByAge(orgId: string, after?: KeyPosition): Generator<KeyRow> {
    const start = [orgId, ...(after ?? [Number.MAX_SAFE_INTEGER])];
    for (const { key } of this.#keysByAge.range({ start, end: [orgId], reverse: true })) {
      const id = (key as [string, number, string])[2];
      const row = id === after?.[1] ? undefined : this.#keys.get(id);
      if (row !== undefined) yield row;
    }
  }

  /** Revoked and expired ones included. */
  keysEver(orgId: string): number {
    return (
      this.#made.get([orgId, "keys"]) ??
      Array.from(this.#keysByAge.range({ start: [orgId], end: [orgId, Number.MAX_SAFE_INTEGER] })).length
    );
  }

  addKey(row: KeyRow): void {
    this.#made.put([row.orgId, "keys"], this.keysEver(row.orgId) + 1);
    this.#keys.put(row.id, row);
    this.#keyByHash.put(row.hash, row.id);
    this.#keysByAge.put([row.orgId, row.createdAtMs, row.id], true);
    this.#workingKeys.put([row.orgId, row.id], true);
  }

  /** Org, hash and creation time must not change. */
  replaceKey(row: KeyRow): void {
    this.#keys.put(row.id, row);
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

  providerKey(orgId: string, id: string): ProviderKeyRow | undefined {
    return this.#providerKeys.get([orgId, id]);
  }

  /** Keys of an org, newest first. */
  providerKeysOf(orgId: string): ProviderKeyRow[] {
    const range = this.#providerKeys.range({ start: [orgId, PAST_IDS], end: [orgId], reverse: true });
    return Array.from(range, ({ value }) => value);
  }

  /** Keys of all orgs, each org's newest first. */
  allProviderKeys(): ProviderKeyRow[] {
    return Array.from(this.#providerKeys.range({ reverse: true }), ({ value }) => value);
  }

  addProviderKey(row: ProviderKeyRow): void {
    this.#providerKeys.put([row.orgId, row.id], row);
  }

  removeProviderKey(orgId: string, id: string): void {
    this.#providerKeys.remove([orgId, id]);
  }

  /** The rows of an org in an index, newest id first. @param limit so many at most; all unless given */
  #members<V>(index: Table<true>, orgId: string, read: (id: string) => V | undefined, limit?: number): V[] {
    const rows: V[] = [];
    const range = { start: [orgId, PAST_IDS], end: [orgId], reverse: true, ...(limit && { limit }) };
    for (const { key } of index.range(range)) {
      const row = read((key as [string, string])[1]);
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }
}
