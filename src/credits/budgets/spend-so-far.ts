/** What keys, projects and orgs have spent in their current day and month, by the rows of a folder that no gateway uses. */
import type { Clock } from "../../base/clock.ts";
import { openOrgSpends, orgSpendRows } from "./org-spend.ts";
import { type BuildDeps, buildOrgSpend } from "./org-spend-build.ts";
import { openPeriods, type Period } from "./periods.ts";
import { KeySpend } from "./spend.ts";
import type { JoinDeps } from "./spend-lineages.ts";
import { LATER_MS, lastChargeMs } from "./spend-parts.ts";
import { partsOf, type SpendRow } from "./spend-row.ts";
import { WallClock, type WallClockDeps } from "./wall-clock.ts";

export interface SpendSoFar {
  /** `key`: a lineage of keys, by its first one. */
  readonly of: "key" | "project" | "org";
  readonly id: string;
  /** Today, of the org's time zone: `YYYY-MM-DD`. */
  readonly day: string;
  readonly dayMicroUsd: number;
  readonly monthMicroUsd: number;
  /** An org's mean spend on those of the last seven days, without today, that had any; 0 where they are fewer than three. */
  readonly usualMicroUsd: number;
  /** Those days of an org, and what was spent on each. */
  readonly pastDays: ReadonlyMap<string, number>;
}

export interface SpendSoFarDeps
  extends Pick<WallClockDeps, "store" | "boot">,
    Pick<BuildDeps, "book" | "orgOf">,
    Pick<JoinDeps, "lineageOf"> {
  readonly clock: Clock;
  /** Undefined for an org that is not there any more. */
  readonly timeZoneOf: (orgId: string) => string | undefined;
}

const NO_DAYS: ReadonlyMap<string, number> = new Map();

/** Those that spent anything this month, or of an org in the last days. Lazily: one project at a time. */
export function* spendSoFar(deps: SpendSoFarDeps): Generator<SpendSoFar> {
  const wall = new WallClock(deps);
  const periodOf = openPeriods();
  const period = (timeZone: string) => periodOf(timeZone, wall.now());
  yield* ofKeysAndProjects(deps, wall, period);
  yield* ofOrgs(deps, wall, period, buildOrgSpend({ ...deps, wall, periodOf }));
}

type PeriodOf = (timeZone: string) => Period;

/** The lineages of a project, then the project. */
function* ofKeysAndProjects(
  { store, orgOf, lineageOf }: SpendSoFarDeps,
  wall: WallClock,
  periodOf: PeriodOf,
): Generator<SpendSoFar> {
  let project: SpendSoFar | undefined;
  let timeZone: string | undefined;
  const lineages = new Map<string, SpendSoFar>();
  const ended = function* () {
    for (const one of [...lineages.values(), project])
      if (one !== undefined && one.monthMicroUsd > 0) yield one;
    lineages.clear();
  };
  for (const { key, value } of store.table<SpendRow>("spend").range()) {
    const [projectId, keyId] = key as [string, string];
    if (project?.id !== projectId) {
      yield* ended();
      timeZone = orgOf(projectId)?.timeZone;
      project = { ...sums("project", projectId), day: timeZone === undefined ? "" : periodOf(timeZone).day };
    }
    if (timeZone === undefined) continue;
    const period = periodOf(timeZone);
    const spend = new KeySpend(partsOf(value, period));
    if (lastChargeMs(spend.row, wall) > wall.now() + LATER_MS) wall.setBack();
    spend.count(period, wall);
    const id = lineageOf(keyId);
    const lineage = lineages.get(id) ?? { ...sums("key", id), day: period.day };
    lineages.set(id, plus(lineage, spend));
    project = plus(project, spend);
  }
  yield* ended();
}

const plus = (so: SpendSoFar, { dayMicroUsd, monthMicroUsd }: KeySpend): SpendSoFar => ({
  ...so,
  dayMicroUsd: so.dayMicroUsd + dayMicroUsd,
  monthMicroUsd: so.monthMicroUsd + monthMicroUsd,
});

const sums = (of: SpendSoFar["of"], id: string): SpendSoFar => ({
  of,
  id,
  day: "",
  dayMicroUsd: 0,
  monthMicroUsd: 0,
  usualMicroUsd: 0,
  pastDays: NO_DAYS,
});

/** @param built rows that were just made, and may not be committed yet */
function* ofOrgs(
  { store, book, timeZoneOf }: SpendSoFarDeps,
  wall: WallClock,
  periodOf: PeriodOf,
  built: ReturnType<typeof buildOrgSpend>,
): Generator<SpendSoFar> {
  const stored = function* () {
    for (const { key } of orgSpendRows(store).range()) yield String(key);
  };
  for (const id of built.size > 0 ? built.keys() : stored()) {
    const timeZone = timeZoneOf(id);
    if (timeZone === undefined) continue;
    const period = periodOf(timeZone);
    // Opened for each: the rows of all orgs together would stay in memory.
    const org = openOrgSpends({ store, wall, book, built }).of(id);
    org.count(period, wall);
    const pastDays = org.pastDays(period, wall);
    const { dayMicroUsd, monthMicroUsd, usualMicroUsd } = org;
    if (monthMicroUsd === 0 && pastDays.size === 0) continue;
    yield { of: "org", id, day: period.day, dayMicroUsd, monthMicroUsd, usualMicroUsd, pastDays };
  }
}
