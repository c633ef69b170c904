/**
 * Makes the orgs' rows of spend out of their keys' rows, once, in a folder of a release that had no rows of orgs. It runs before
 * the first call, so nothing is charged meanwhile; if it is interrupted, the next start does it again.
 */
import { localDay } from "../../base/clock.ts";
import { sliced } from "../../base/lists.ts";
import type { Store } from "../../store/store.ts";
import type { LocalBook } from "../ledger/book.ts";
import { ORG_DETAIL, type OrgSpendRow, orgSpendRows } from "./org-spend.ts";
import type { Periods } from "./periods.ts";
import { oldestFirst, type Part, partsIn, shortened } from "./spend-parts.ts";
import { partsOf, type SpendRow } from "./spend-row.ts";
import type { WallClock } from "./wall-clock.ts";

/** Where a project belongs. */
export interface OrgOfProject {
  readonly orgId: string;
  readonly timeZone: string;
}

export interface BuildDeps {
  readonly store: Pick<Store, "table" | "act">;
  readonly wall: WallClock;
  readonly periodOf: Periods;
  readonly book: Pick<LocalBook, "entries">;
  /** Also of deleted projects. */
  readonly orgOf: (projectId: string) => OrgOfProject | undefined;
}

const ROWS_AN_ACT = 500;

/** @returns the rows that it has put and that may not be committed yet; none if that was done before */
export function buildOrgSpend(deps: BuildDeps): ReadonlyMap<string, OrgSpendRow> {
  const { store } = deps;
  const built = store.table<true>("spend.orgs_built");
  if (built.get("keys") !== undefined) return new Map();
  const rows = orgSpendRows(store);
  const found = [...rowsOf(deps)];
  for (const slice of sliced(found, ROWS_AN_ACT)) {
    const act = () => {
      for (const [orgId, row] of slice) rows.put(orgId, row);
    };
    void store.act(act, { isOwed: true });
  }
  void store.act(() => built.put("keys", true), { isOwed: true });
  return new Map(found);
}

function* rowsOf({ store, wall, periodOf, book, orgOf }: BuildDeps): Generator<[string, OrgSpendRow]> {
  const nowMs = wall.now();
  const orgs = new Map<string, { readonly timeZone: string; readonly parts: Map<string, Part> }>();
  let project: { readonly id: string; readonly org: OrgOfProject | undefined } = { id: "", org: undefined };
  for (const { key, value } of store.table<SpendRow>("spend").range()) {
    const [projectId] = key as [string, string];
    if (projectId !== project.id) project = { id: projectId, org: orgOf(projectId) };
    if (project.org === undefined) continue;
    const { orgId, timeZone } = project.org;
    const org = orgs.get(orgId) ?? { timeZone, parts: new Map() };
    orgs.set(orgId, org);
    for (const part of partsIn(partsOf(value, periodOf(timeZone, nowMs)))) addPart(org.parts, part, timeZone);
  }
  for (const [orgId, { timeZone, parts }] of orgs) {
    const period = periodOf(timeZone, nowMs);
    const seq = book.entries(orgId, { limit: 1 })[0]?.seq ?? 0;
    // A key's row tells only its last two days apart.
    const row = shortened(oldestFirst(parts.values(), wall), period, wall, ORG_DETAIL);
    yield [orgId, { parts: row, seq, knownFrom: period.day }];
  }
}

/** Parts of one span and day become one. */
function addPart(parts: Map<string, Part>, { span, lastMs, microUsd }: Part, timeZone: string): void {
  if (microUsd === 0) return;
  const at = `${span} ${localDay(lastMs, timeZone)}`;
  const before = parts.get(at);
  parts.set(at, {
    span,
    lastMs: Math.max(lastMs, before?.lastMs ?? lastMs),
    microUsd: microUsd + (before?.microUsd ?? 0),
  });
}
