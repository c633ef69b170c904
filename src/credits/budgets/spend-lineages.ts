/**
 * Joins the rows of spend that earlier releases kept for each key of a lineage into one row of the lineage, once. It runs before the
 * first call, so nothing is charged meanwhile; if it is interrupted, the next start does the rest.
 */
import type { BuildDeps } from "./org-spend-build.ts";
import { type Detail, oldestFirst, type PartsRow, partsIn, shortened } from "./spend-parts.ts";
import { partsOf, type SpendRow } from "./spend-row.ts";

export interface JoinDeps extends Omit<BuildDeps, "book"> {
  /** The first key of a key's lineage. */
  readonly lineageOf: (keyId: string) => string;
  readonly detail: Detail;
}

/** Rows that were just joined and may not be committed yet: project → key → its row, undefined where it is in another one now. */
export type JoinedRows = ReadonlyMap<string, ReadonlyMap<string, PartsRow | undefined>>;

/** @returns none if that was done before */
export function joinLineages(deps: JoinDeps): JoinedRows {
  const { store } = deps;
  const done = store.table<true>("spend.lineages_joined");
  if (done.get("keys") !== undefined) return new Map();
  const rows = store.table<SpendRow>("spend");
  const joined = new Map<string, Map<string, PartsRow | undefined>>();
  for (const [projectId, lineages] of lineagesWithRows(deps)) {
    const keys = new Map<string, PartsRow | undefined>();
    joined.set(projectId, keys);
    for (const [lineageId, keyIds] of lineages) {
      const of = [lineageId, ...keyIds].map((keyId) => rows.get([projectId, keyId]) ?? []);
      const row = rowOfAll(deps, projectId, of);
      for (const keyId of keyIds) keys.set(keyId, undefined);
      keys.set(lineageId, row);
      const act = () => {
        for (const keyId of keyIds) rows.remove([projectId, keyId]);
        rows.put([projectId, lineageId], row);
      };
      void store.act(act, { isOwed: true });
    }
  }
  void store.act(() => done.put("keys", true), { isOwed: true });
  return joined;
}

/** Project → first key of a lineage → its other keys that have rows. */
function lineagesWithRows({ store, lineageOf }: JoinDeps): Map<string, Map<string, string[]>> {
  const found = new Map<string, Map<string, string[]>>();
  for (const { key } of store.table<SpendRow>("spend").range()) {
    const [projectId, keyId] = key as [string, string];
    const lineageId = lineageOf(keyId);
    if (lineageId === keyId) continue;
    const lineages = found.get(projectId) ?? new Map<string, string[]>();
    found.set(projectId, lineages.set(lineageId, [...(lineages.get(lineageId) ?? []), keyId]));
  }
  return found;
}

function rowOfAll(
  { wall, periodOf, orgOf, detail }: JoinDeps,
  projectId: string,
  rows: SpendRow[],
): PartsRow {
  const period = periodOf(orgOf(projectId)?.timeZone ?? "UTC", wall.now());
  const parts = rows.flatMap((row) => partsIn(partsOf(row, period)));
  return shortened(oldestFirst(parts, wall), period, wall, detail);
}
