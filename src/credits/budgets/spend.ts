/**
 * Spend of keys, projects and orgs today and this month, in memory and on disk. One row per lineage of keys, named by its first
 * key, written in the transaction of the settle that it counts; a project's spend is the sum of these rows, so it costs no put of
 * its own and cannot diverge from them. An org's is in org-spend.ts.
 */

import type { Store } from "../../store/store.ts";
import { openMergedTable } from "../../store/tables/merged-table.ts";
import { lastingKey, type StoreKey } from "../../store/tables/table.ts";
import type { CallOwners } from "./budget.ts";
import { type OrgSpend, type OrgSpendDeps, openOrgSpends } from "./org-spend.ts";
import type { Period } from "./periods.ts";
import type { JoinedRows } from "./spend-lineages.ts";
import {
  type Detail,
  type Increment,
  LATER_MS,
  lastChargeMs,
  type PartsRow,
  Sums,
  withCharge,
} from "./spend-parts.ts";
import { partsOf, type SpendRow } from "./spend-row.ts";
import type { WallClock } from "./wall-clock.ts";

/** Past days of this month are merged into one part. */
export const KEY_DETAIL: Detail = { days: 1, mostParts: 12 };

export type Spend = Sums;

export class KeySpend extends Sums {
  /** The row after all acts, committed or not. */
  row: PartsRow;
  /** The row's, once it was written. */
  storeKey: StoreKey | undefined;

  constructor(row: PartsRow = []) {
    super();
    this.row = row;
  }

  count(period: Period, wall: WallClock): void {
    if (this.isStale(period, wall)) this.countParts(this.row, period, wall);
  }
}

class ProjectSpend extends Sums {
  readonly keys = new Map<string, KeySpend>();

  count(period: Period, wall: WallClock): void {
    if (!this.isStale(period, wall)) return;
    this.dayMicroUsd = 0;
    this.monthMicroUsd = 0;
    for (const key of this.keys.values()) {
      key.count(period, wall);
      this.dayMicroUsd += key.dayMicroUsd;
      this.monthMicroUsd += key.monthMicroUsd;
    }
  }
}

/** Spend of a key, its project and its org; always the same objects. */
interface ScopeSpend {
  readonly key: Spend;
  readonly project: Spend;
  readonly org: OrgSpend;
}

export interface SpendTable {
  /** The spend of key, project and org in the period. */
  of(scope: CallOwners, period: Period): ScopeSpend;
  ofProject(projectId: string, period: Period): Spend;
  ofOrg(orgId: string, period: Period): OrgSpend;
  /**
   * In an act: adds a charge to the lineage's row, and to the `Spend` objects that `of` returned for this moment.
   * @param entrySeq number of the ledger's entry for it; undefined where there is none
   */
  charge(scope: CallOwners, microUsd: number, now: Now, entrySeq: number | undefined): void;
}

/** What `of` returned, and for which moment. */
export interface Now extends ScopeSpend {
  readonly nowMs: number;
  readonly period: Period;
}

function giveBack(key: KeySpend, row: PartsRow, project: Spend, microUsd: number): void {
  key.row = row;
  key.add(-microUsd);
  project.add(-microUsd);
}

export function openSpendTable(
  store: Store,
  wall: WallClock,
  { joined, ...ofOrgs }: Pick<OrgSpendDeps, "book" | "built"> & { readonly joined: JoinedRows },
): SpendTable {
  const rows = openMergedTable(store, "spend", (row: SpendRow | undefined, charge: Increment) =>
    withCharge(partsOf(row ?? [], charge.period), charge, KEY_DETAIL),
  );
  const projects = new Map<string, ProjectSpend>();
  const orgs = openOrgSpends({ store, wall, ...ofOrgs });

  /** Loads all keys of a project: its spend is their sum. */
  function load(projectId: string, period: Period): ProjectSpend {
    const project = new ProjectSpend();
    for (const { key, value } of rows.range({ start: [projectId, ""], end: [projectId, "\uffff"] })) {
      project.keys.set((key as [string, string])[1], new KeySpend(partsOf(value, period)));
    }
    for (const [keyId, row] of joined.get(projectId) ?? []) {
      if (row === undefined) project.keys.delete(keyId);
      else project.keys.set(keyId, new KeySpend(row));
    }
    const nowMs = wall.now();
    for (const { row } of project.keys.values())
      if (lastChargeMs(row, wall) > nowMs + LATER_MS) wall.setBack();
    projects.set(projectId, project);
    return project;
  }

  function find({ orgId, projectId, keyId, lineageId = keyId }: CallOwners, period: Period) {
    const project = projects.get(projectId) ?? load(projectId, period);
    const org = orgs.of(orgId);
    let key = project.keys.get(lineageId);
    if (key === undefined) {
      key = new KeySpend();
      project.keys.set(lineageId, key);
    }
    key.count(period, wall);
    project.count(period, wall);
    org.count(period, wall);
    return { key, project, org };
  }

  return {
    of: find,
    ofProject(projectId, period) {
      const project = projects.get(projectId) ?? load(projectId, period);
      project.count(period, wall);
      return project;
    },
    ofOrg(orgId, period) {
      const org = orgs.of(orgId);
      org.count(period, wall);
      return org;
    },
    charge(scope, microUsd, { key, project, org, nowMs, period }, entrySeq) {
      const { orgId, projectId, keyId, lineageId = keyId } = scope;
      if (!(key instanceof KeySpend)) throw new Error(`not the spend of ${keyId}`);
      const { row } = key;
      const increment = { microUsd, nowMs, period, wall };
      key.storeKey ??= lastingKey([projectId, lineageId]);
      key.row = partsOf(rows.add(key.storeKey, increment), period);
      key.add(microUsd);
      project.add(microUsd);
      orgs.charge(orgId, org, increment, entrySeq);
      store.ifDropped(giveBack, key, row, project, microUsd);
    },
  };
}
