/**
 * What keys and projects have spent today and this month, in memory and on disk.
 * One row a key, written in the transaction of the settle that it counts; a project's spend is the sum of its keys'
 * rows, so it costs no put of its own and cannot drift from them.
 */
import type { Store } from "../store/store.ts";
import { monthOf } from "./periods.ts";

/** [day `YYYY-MM-DD`, micro-USD of that day, micro-USD of its month] */
type SpendRow = readonly [day: string, dayMicroUsd: number, monthMicroUsd: number];

/** Spend of one key or project in its newest period. Periods only move forward, whatever the wall clock does. */
export class Spend {
  day: string;
  dayMicroUsd: number;
  monthMicroUsd: number;
  /** Sum of the open budget holds, whatever period they began in. */
  heldMicroUsd = 0;
  /** The period (day or month) in which a refusal was reported last. */
  reported = "";

  constructor(day: string, dayMicroUsd = 0, monthMicroUsd = 0) {
    this.day = day;
    this.dayMicroUsd = dayMicroUsd;
    this.monthMicroUsd = monthMicroUsd;
  }

  moveTo(day: string): void {
    if (day <= this.day) return;
    if (monthOf(day) !== monthOf(this.day)) this.monthMicroUsd = 0;
    this.dayMicroUsd = 0;
    this.day = day;
  }

  add(microUsd: number): void {
    this.dayMicroUsd += microUsd;
    this.monthMicroUsd += microUsd;
  }
}

export interface SpendTable {
  /** Both as of `day`, or of a later day they have already reached. */
  of(projectId: string, keyId: string, day: string): { readonly key: Spend; readonly project: Spend };
  ofProject(projectId: string, day: string): Spend;
  /** The key's row as it stands at this call, to be put in a store write later: rows reach the disk in call order. */
  put(projectId: string, keyId: string, key: Spend): () => void;
}

export function openSpendTable(store: Store): SpendTable {
  const rows = store.table<SpendRow>("spend");
  const keys = new Map<string, Spend>();
  const projects = new Map<string, Spend>();

  function ofProject(projectId: string, day: string): Spend {
    const known = projects.get(projectId);
    if (known !== undefined) {
      known.moveTo(day);
      return known;
    }
    const stored = [...rows.range({ start: [projectId, ""], end: [projectId, "\uffff"] })];
    // A row may be ahead of the clock (it was set back, or the org's zone moved west): its period stands.
    const newest = [day, ...stored.map(({ value }) => value[0])].sort().at(-1) ?? day;
    const project = new Spend(newest);
    for (const { value } of stored) {
      const ofKey = new Spend(...value);
      ofKey.moveTo(newest);
      project.dayMicroUsd += ofKey.dayMicroUsd;
      project.monthMicroUsd += ofKey.monthMicroUsd;
    }
    projects.set(projectId, project);
    return project;
  }

  return {
    ofProject,
    of(projectId, keyId, day) {
      const project = ofProject(projectId, day);
      let key = keys.get(keyId);
      if (key === undefined) {
        const row = rows.get([projectId, keyId]);
        key = row === undefined ? new Spend(project.day) : new Spend(...row);
        keys.set(keyId, key);
      }
      // Never behind its project, so that the project's sum is the same when it is loaded again.
      key.moveTo(project.day);
      return { key, project };
    },
    put(projectId, keyId, { day, dayMicroUsd, monthMicroUsd }) {
      return () => rows.put([projectId, keyId], [day, dayMicroUsd, monthMicroUsd]);
    },
  };
}
