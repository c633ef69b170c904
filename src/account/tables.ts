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
