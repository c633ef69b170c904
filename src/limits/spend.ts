/**
 * What keys and projects have spent today and this month, in memory and on disk.
 * One row a key, written in the transaction of the settle that it counts; a project's spend is the sum of its keys'
 * rows, so it costs no put of its own and cannot drift from them. A row keeps when it was charged what, so that which day
 * and month that was can be told anew when the clock is corrected.
 */
import { mergedTable, type Store } from "../store/store.ts";
import type { Period } from "./periods.ts";
import { BEFORE_ALL_SPANS, type WallClock } from "./wall-clock.ts";

/** What was charged on one day of one span of the clock, at the time of its last charge. */
interface Part {
  readonly span: number;
  readonly lastMs: number;
  microUsd: number;
}

/** Numbers of a part in a row. */
const PART = 3;

/** Its parts one after another, oldest first: span, time of the last charge, micro-USD. */
type PartsRow = readonly number[];

/**
 * What release 0.1 wrote: the newest day (`YYYY-MM-DD`, local) on which the key was charged, micro-USD of that day, and of
 * its month. Such a row is read until the key's next charge replaces it.
 */
type DayRow = readonly [day: string, dayMicroUsd: number, monthMicroUsd: number];

type SpendRow = PartsRow | DayRow;

/** Parts of one row: days of this month that are over are one part, so only jumps of the clock come near it. */
const MOST_PARTS = 12;
const DAY_MS = 86_400_000;

/** Spend in the running day and month, as of the last `count` or `add`. */
class Sums {
  dayMicroUsd = 0;
  monthMicroUsd = 0;
  /** Sum of the open budget holds, whatever period they began in. */
  heldMicroUsd = 0;
  /** The period (day or month) in which a refusal was reported last. */
  reported = "";
  #version = -1;
  #dayStartsMs = 0;
  #monthStartsMs = 0;

  /** True once a period: the sums must then be counted anew. */
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
  /** As acts have put it, committed or not: ahead of what others may read by what waits for its commit. */
  row: PartsRow;

  constructor(row: PartsRow = []) {
    super();
    this.row = row;
  }

  /** When it was charged last, by the clock that runs. */
  lastMs(wall: WallClock): number {
    return Math.max(...partsIn(this.row).map(({ span, lastMs }) => wall.placed(span, lastMs)));
  }

  count(period: Period, wall: WallClock): void {
    if (!this.isStale(period, wall)) return;
    this.dayMicroUsd = 0;
    this.monthMicroUsd = 0;
    for (const { span, lastMs, microUsd } of partsIn(this.row)) {
      const placedMs = wall.placed(span, lastMs);
      if (placedMs >= period.dayStartsMs) this.dayMicroUsd += microUsd;
      if (placedMs >= period.monthStartsMs) this.monthMicroUsd += microUsd;
    }
  }
}

/** A charge, and how the clock stands at it. */
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

/** Whether the two oldest parts are of days before yesterday, by the clock that has run without a jump since. */
function begins([oldest, second]: readonly Part[], { dayStartsMs }: Period, { span }: WallClock): boolean {
  return oldest?.span === span && second?.span === span && second.lastMs < dayStartsMs - DAY_MS;
}

/** Leaves the oldest part out where it is of an earlier month, else makes it one with the next. */
function shorten(parts: Part[], { monthStartsMs }: Period, wall: WallClock): void {
  const oldest = parts.shift();
  const next = parts[0];
  if (oldest === undefined || next === undefined) return;
  const isEarlier =
    wall.placed(oldest.span, oldest.lastMs) < monthStartsMs &&
    wall.placed(next.span, next.lastMs) >= monthStartsMs;
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

/** Of a key and its project; the same two objects whenever they are asked for. */
interface ScopeSpend {
  readonly key: Spend;
  readonly project: Spend;
}

export interface SpendTable {
  /** Both as of the period. */
  of(projectId: string, keyId: string, period: Period): ScopeSpend;
  ofProject(projectId: string, period: Period): Spend;
  /** In an act: adds a charge to the key's row, and to what `of` gave for this moment. */
  charge(scope: { readonly projectId: string; readonly keyId: string }, microUsd: number, now: Now): void;
}

/** What `of` gave, and for which moment. */
export interface Now extends ScopeSpend {
  readonly nowMs: number;
  readonly period: Period;
}

export function openSpendTable(store: Store, wall: WallClock): SpendTable {
  const rows = mergedTable(store.table<SpendRow>("spend"), (row: SpendRow | undefined, charge: Increment) =>
    withCharge(partsOf(row ?? [], charge.period), charge),
  );
  const projects = new Map<string, ProjectSpend>();

  /** All its keys at once: its spend is the sum of theirs. */
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

/** Of release 0.1: the day's spend at noon of its day; the rest of its month at noon of the day before, or before today. */
function partsOf(row: SpendRow, period: Period): PartsRow {
  if (!isDayRow(row)) return row;
  const [day, dayMicroUsd, monthMicroUsd] = row;
  const noonMs = period.dayStartsMs + Date.parse(day) - Date.parse(period.day) + DAY_MS / 2;
  const restMs = day > period.day ? Math.max(period.monthStartsMs, period.dayStartsMs - 1) : noonMs - DAY_MS;
  return [BEFORE_ALL_SPANS, restMs, monthMicroUsd - dayMicroUsd, BEFORE_ALL_SPANS, noonMs, dayMicroUsd];
}
