/**
 * Spend of keys and projects today and this month, in memory and on disk. One row per key, written in the transaction
 * of the settle that it counts; a project's spend is the sum of its keys' rows, so it costs no put of its own and
 * cannot diverge from them. A row records when each amount was charged, so that its day and month can be recomputed
 * when the clock is corrected.
 */
import { openMergedTable } from "../store/merged-table.ts";
import type { Store } from "../store/store.ts";
import type { Period } from "./periods.ts";
import { BEFORE_ALL_SPANS, type WallClock } from "./wall-clock.ts";

/** Charges of one day in one span of the clock, with the time of the last charge. */
interface Part {
  readonly span: number;
  readonly lastMs: number;
  microUsd: number;
}

/** Numbers per part in a row. */
const PART = 3;

/** The parts, oldest first: span, time of the last charge, micro-USD. */
type PartsRow = readonly number[];

/**
 * Row of release 0.1: the newest day (`YYYY-MM-DD`, local) with a charge, micro-USD of that day, and of its month. Such
 * a row is read until the key's next charge replaces it.
 */
type DayRow = readonly [day: string, dayMicroUsd: number, monthMicroUsd: number];

type SpendRow = PartsRow | DayRow;

/** Maximum parts per row: past days of this month are merged into one part, so only clock jumps come near it. */
const MOST_PARTS = 12;
const DAY_MS = 86_400_000;

/** Spend in the current day and month, as of the last `count` or `add`. */
class Sums {
  dayMicroUsd = 0;
  monthMicroUsd = 0;
  /** Sum of the open holds, whatever period they began in. */
  heldMicroUsd = 0;
  /** The period (day or month) of the last reported refusal. */
  reported = "";
  #version = -1;
  #dayStartsMs = 0;
  #monthStartsMs = 0;

  /** True once per period: the sums must be recomputed. */
  protected isStale({ dayStartsMs, monthStartsMs }: Period, { version }: WallClock): boolean {
    const isSame =
      this.#version === version && this.#dayStartsMs === dayStartsMs && this.#monthStartsMs === monthStartsMs;
    this.#version = version;
    this.#dayStartsMs = dayStartsMs;
    this.#monthStartsMs = monthStartsMs;
    return !isSame;
  }
}

export type Spend = Sums;

class KeySpend extends Sums {
  /** The row after all acts, committed or not. */
  row: PartsRow;

  constructor(row: PartsRow = []) {
    super();
    this.row = row;
  }

  /** Time of its last charge, by the current clock. */
  lastMs(wall: WallClock): number {
    return Math.max(...partsIn(this.row).map(({ span, lastMs }) => wall.toCurrentTime(span, lastMs)));
  }

  count(period: Period, wall: WallClock): void {
    if (!this.isStale(period, wall)) return;
    this.dayMicroUsd = 0;
    this.monthMicroUsd = 0;
    for (const { span, lastMs, microUsd } of partsIn(this.row)) {
      const placedMs = wall.toCurrentTime(span, lastMs);
      if (placedMs >= period.dayStartsMs) this.dayMicroUsd += microUsd;
      if (placedMs >= period.monthStartsMs) this.monthMicroUsd += microUsd;
    }
  }
}

/** A charge with the state of the clock at that time. */
interface Increment {
  readonly microUsd: number;
  readonly nowMs: number;
  readonly period: Period;
  readonly wall: WallClock;
}

/** The row with one more charge in it. */
function withCharge(row: PartsRow, { microUsd, nowMs, period, wall }: Increment): PartsRow {
  const last = row.length - PART;
  const [span, lastMs, before] = [row[last], row[last + 1], row[last + 2]];
  if (span === wall.span && lastMs !== undefined && before !== undefined && lastMs >= period.dayStartsMs) {
    const grown = row.slice();
    grown[last + 1] = Math.max(lastMs, nowMs);
    grown[last + 2] = before + microUsd;
    return grown;
  }
  const parts = [...partsIn(row), { span: wall.span, lastMs: nowMs, microUsd }];
  while (parts.length > MOST_PARTS || begins(parts, period, wall)) shorten(parts, period, wall);
  return parts.flatMap((part) => [part.span, part.lastMs, part.microUsd]);
}

function partsIn(row: PartsRow): Part[] {
  const parts: Part[] = [];
  for (let i = 0; i < row.length; i += PART) {
    const [span = 0, lastMs = 0, microUsd = 0] = row.slice(i, i + PART);
    parts.push({ span, lastMs, microUsd });
  }
  return parts;
}

/** Whether the two oldest parts are of days before yesterday, in the current span of the clock. */
function begins([oldest, second]: readonly Part[], { dayStartsMs }: Period, { span }: WallClock): boolean {
  return oldest?.span === span && second?.span === span && second.lastMs < dayStartsMs - DAY_MS;
}

/** Drops the oldest part if it is of an earlier month, else merges it with the next. */
function shorten(parts: Part[], { monthStartsMs }: Period, wall: WallClock): void {
  const oldest = parts.shift();
  const next = parts[0];
  if (oldest === undefined || next === undefined) return;
  const isEarlier =
    wall.toCurrentTime(oldest.span, oldest.lastMs) < monthStartsMs &&
    wall.toCurrentTime(next.span, next.lastMs) >= monthStartsMs;
  if (!isEarlier) next.microUsd += oldest.microUsd;
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

/** Spend of a key and its project; always the same two objects. */
interface ScopeSpend {
  readonly key: Spend;
  readonly project: Spend;
}

export interface SpendTable {
  /** The key's and project's spend in the period. */
  of(projectId: string, keyId: string, period: Period): ScopeSpend;
  ofProject(projectId: string, period: Period): Spend;
  /** In an act: adds a charge to the key's row, and to the `Spend` objects that `of` returned for this moment. */
  charge(scope: { readonly projectId: string; readonly keyId: string }, microUsd: number, now: Now): void;
}

/** What `of` returned, and for which moment. */
export interface Now extends ScopeSpend {
  readonly nowMs: number;
  readonly period: Period;
}

export function openSpendTable(store: Store, wall: WallClock): SpendTable {
  const rows = openMergedTable(store, "spend", (row: SpendRow | undefined, charge: Increment) =>
    withCharge(partsOf(row ?? [], charge.period), charge),
  );
  const projects = new Map<string, ProjectSpend>();

  /** Loads all keys of a project: its spend is their sum. */
  function load(projectId: string, period: Period): ProjectSpend {
    const project = new ProjectSpend();
    for (const { key, value } of rows.range({ start: [projectId, ""], end: [projectId, "\uffff"] })) {
      project.keys.set((key as [string, string])[1], new KeySpend(partsOf(value, period)));
    }
    const nowMs = wall.now();
    for (const key of project.keys.values()) if (key.lastMs(wall) > nowMs + LATER_MS) wall.setBack();
    projects.set(projectId, project);
    return project;
  }

  function find(projectId: string, keyId: string, period: Period) {
    const project = projects.get(projectId) ?? load(projectId, period);
    let key = project.keys.get(keyId);
    if (key === undefined) {
      key = new KeySpend();
      project.keys.set(keyId, key);
    }
    key.count(period, wall);
    project.count(period, wall);
    return { key, project };
  }

  return {
    of: find,
    ofProject(projectId, period) {
      const project = projects.get(projectId) ?? load(projectId, period);
      project.count(period, wall);
      return project;
    },
    charge({ projectId, keyId }, microUsd, { key, project, nowMs, period }) {
      if (!(key instanceof KeySpend)) throw new Error(`not the spend of ${keyId}`);
      const { row } = key;
      key.row = partsOf(rows.add([projectId, keyId], { microUsd, nowMs, period, wall }), period);
      const count = (micro: number) => {
        for (const sums of [key, project]) {
          sums.dayMicroUsd += micro;
          sums.monthMicroUsd += micro;
        }
      };
      count(microUsd);
      store.ifDropped(() => {
        key.row = row;
        count(-microUsd);
      });
    },
  };
}

/** A row this far ahead of the clock was charged before the clock was set back. */
const LATER_MS = 2_000;

const isDayRow = (row: SpendRow): row is DayRow => typeof row[0] === "string";

/**
 * Parts of a row of release 0.1: the day's spend at noon of its day; the rest of its month at noon of the day before,
 * or before today.
 */
function partsOf(row: SpendRow, period: Period): PartsRow {
  if (!isDayRow(row)) return row;
  const [day, dayMicroUsd, monthMicroUsd] = row;
  const noonMs = period.dayStartsMs + Date.parse(day) - Date.parse(period.day) + DAY_MS / 2;
  const restMs = day > period.day ? Math.max(period.monthStartsMs, period.dayStartsMs - 1) : noonMs - DAY_MS;
  return [BEFORE_ALL_SPANS, restMs, monthMicroUsd - dayMicroUsd, BEFORE_ALL_SPANS, noonMs, dayMicroUsd];
}
