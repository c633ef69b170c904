/**
 * Tables of policies, their versions and activations. A version never changes once written; each scope's active version
 * is one small row, so activation is one write and never half done. Methods named add, activate or deactivate write:
 * call them only in an act.
 */

import type { Store, Table } from "../../store/store.ts";
import { type MergedTable, openMergedTable } from "../../store/tables/merged-table.ts";
import { type CanaryResults, type CanaryRow, withResults } from "./canary/canary-row.ts";

/** Greater than any name or id; those are letters, digits, `_` and `-`. */
const PAST_NAMES = "~";
/** Scope name of the whole org; project ids begin with `prj_`. */
export const WHOLE_ORG = "org";

export interface PolicyRow {
  readonly name: string;
  /** Number of the newest version; the first is 1. */
  readonly versions: number;
  /** Bytes of all its texts. */
  readonly bytes: number;
}

export interface VersionRow {
  readonly name: string;
  readonly version: number;
  readonly createdAtMs: number;
  /** Id of the key that made it. */
  readonly createdBy: string;
  /** It has been active at some time. */
  readonly wasActive: boolean;
}

/** The active version of one scope. */
export interface Activation {
  /** A project id, or {@link WHOLE_ORG}. */
  readonly scope: string;
  readonly name: string;
  readonly version: number;
  readonly activatedAtMs: number;
  readonly activatedBy: string;
}

/** One version of one policy of one org. */
export interface VersionKey {
  readonly orgId: string;
  readonly policy: string;
  readonly version: number;
}

export class PolicyTables {
  readonly #store: Store;
  /** [org id, name] */
  readonly #policies: Table<PolicyRow>;
  /** [org id, name, version] */
  readonly #versions: Table<VersionRow>;
  /** [org id, name, version] → YAML. Apart from the rows, so that listing versions reads no texts. */
  readonly #texts: Table<string>;
  /** [org id, scope] */
  readonly #activations: Table<Activation>;
  /** [org id, name, version, endpoint id] */
  readonly #canaries: MergedTable<CanaryRow, CanaryResults>;
  /** The same key → the row by which it was judged, where several processes count. */
  readonly #reds: Table<CanaryRow>;

  constructor(store: Store) {
    this.#store = store;
    this.#policies = store.table("policies.policies");
    this.#versions = store.table("policies.versions");
    this.#texts = store.table("policies.texts");
    this.#activations = store.table("policies.activations");
    this.#canaries = openMergedTable(store, "policies.canaries", withResults);
    this.#reds = store.table("policies.canary_reds");
  }

  /** Atomic; what `act` checks still holds when its writes commit. */
  act<T>(act: () => T): Promise<T> {
    return this.#store.act(act);
  }

  policy(orgId: string, name: string): PolicyRow | undefined {
    return this.#policies.get([orgId, name]);
  }

  /** In order of name. */
  policiesOf(orgId: string): PolicyRow[] {
    const rows = this.#policies.range({ start: [orgId], end: [orgId, PAST_NAMES] });
    return Array.from(rows, ({ value }) => value);
  }

  version(orgId: string, name: string, version: number): VersionRow | undefined {
    return this.#versions.get([orgId, name, version]);
  }

  /** Versions from the given number downwards, at most `limit`. */
  versionsOf(orgId: string, name: string, newest: number, limit: number): VersionRow[] {
    const start = [orgId, name, newest];
    return Array.from(
      this.#versions.range({ start, end: [orgId, name], reverse: true, limit }),
      ({ value }) => value,
    );
  }

  /** The YAML of a version, byte for byte as received. */
  text({ orgId, policy, version }: VersionKey): string | undefined {
    return this.#texts.get([orgId, policy, version]);
  }

  /** Adds the next version of a policy; the first one creates the policy. */
  addVersion(orgId: string, row: VersionRow, yaml: string): void {
    const bytes = (this.policy(orgId, row.name)?.bytes ?? 0) + Buffer.byteLength(yaml);
    this.#policies.put([orgId, row.name], { name: row.name, versions: row.version, bytes });
    this.#versions.put([orgId, row.name, row.version], row);
    this.#texts.put([orgId, row.name, row.version], yaml);
  }

  /** Calls `changed` for each change of an activation: see `Table.watch`. */
  watchActivations(changed: (orgId: string) => void): void {
    this.#activations.watch((key) => changed((key as [string])[0]));
  }

  activation(orgId: string, scope: string): Activation | undefined {
    return this.#activations.get([orgId, scope]);
  }

  /** Activations of an org: the whole org's first, then its projects'. */
  activationsOf(orgId: string): Activation[] {
    const rows = this.#activations.range({ start: [orgId], end: [orgId, PAST_NAMES] });
    return Array.from(rows, ({ value }) => value);
  }

  /** Only in an act: policies of an org are no more in force and their texts are gone. @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    for (const { scope } of this.activationsOf(orgId)) this.deactivate(orgId, scope);
    const all = { start: [orgId], end: [orgId, PAST_NAMES], limit: most + 1 };
    const versions = Array.from(this.#versions.range(all), ({ key }) => key);
    for (const key of versions.slice(0, most)) {
      this.#versions.remove(key);
      this.#texts.remove(key);
    }
    if (versions.length > most) return true;
    for (const { name } of this.policiesOf(orgId)) this.#policies.remove([orgId, name]);
    return false;
  }

  /** All active versions of all orgs, at most `limit`. */
  versionsInForce(limit: number): VersionKey[] {
    return Array.from(this.#activations.range({ limit }), ({ key, value }) => {
      const [orgId] = key as [string, string];
      return { orgId, policy: value.name, version: value.version };
    });
  }

  activate(orgId: string, activation: Activation, version: VersionRow): void {
    this.#activations.put([orgId, activation.scope], activation);
    if (!version.wasActive) {
      this.#versions.put([orgId, version.name, version.version], { ...version, wasActive: true });
    }
  }

  deactivate(orgId: string, scope: string): void {
    this.#activations.remove([orgId, scope]);
  }

  canary({ orgId, policy, version }: VersionKey, endpointId: string): CanaryRow | undefined {
    const key = [orgId, policy, version, endpointId];
    return this.#reds.get(key) ?? this.#canaries.get(key);
  }

  /** Canaries of a version that have a result, by endpoint id. */
  canariesOf({ orgId, policy, version }: VersionKey): CanaryRow[] {
    const rows = this.#canaries.range({
      start: [orgId, policy, version],
      end: [orgId, policy, version + 1],
    });
    return Array.from(rows, ({ key, value }) => this.#reds.get(key) ?? value);
  }

  /** Calls `turned` for each canary that is judged red, where several processes count. */
  watchReds(turned: (key: VersionKey, row: CanaryRow) => void): void {
    this.#reds.watch((key) => {
      const row = this.#reds.get(key);
      const [orgId, policy, version] = key as [string, string, number];
      if (row !== undefined) turned({ orgId, policy, version }, row);
    });
  }

  /**
   * Stores the results of all processes in place of those so far. Resolves with the row once it is committed.
   * @param turnedRed called in the act that stores the verdict, which only one process does
   */
  setCanary(
    { orgId, policy, version }: VersionKey,
    totals: CanaryResults,
    turnedRed: (row: CanaryRow) => void,
  ): Promise<CanaryRow> {
    const key = [orgId, policy, version, totals.endpointId];
    const act = () => {
      const judged = this.#reds.get(key);
      if (judged !== undefined) return judged;
      const before = this.#canaries.get(key);
      // A process that counted alone before may have more.
      const added = (now: number, then = 0) => Math.max(0, now - then);
      const samples = added(totals.samples, before?.samples);
      const failures = Math.min(samples, added(totals.failures, before?.failures));
      const row = this.#canaries.add(key, { ...totals, samples, failures });
      if (row.state !== "red") return row;
      this.#reds.put(key, row);
      turnedRed(row);
      return row;
    };
    return this.#store.act(act, { isOwed: true });
  }

  /**
   * Adds results to a canary's row. Resolves with the new row once it is committed.
   * @param turnedRed called in the act whose results turn the stored row red, which is final
   */
  addToCanary(
    { orgId, policy, version }: VersionKey,
    results: CanaryResults,
    turnedRed: (row: CanaryRow) => void,
  ): Promise<CanaryRow> {
    const key = [orgId, policy, version, results.endpointId];
    const act = () => {
      const before = this.#canaries.get(key);
      const row = this.#canaries.add(key, results);
      if (row.state === "red" && before?.state !== "red") turnedRed(row);
      return row;
    };
    return this.#store.act(act, { isOwed: true });
  }
}
