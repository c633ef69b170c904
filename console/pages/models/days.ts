/** Days of a model's endpoints as lines of a chart: a line an endpoint, a gap where nothing was measured. Pure. */
import type { Operations } from "../../api/operations.ts";
import type { Line } from "../../parts/charts/line.ts";
import { daysAfter } from "../../text/days.ts";

export type Stats = Operations["getModelStats"]["answer"];
type Day = Stats["series"][number];

/** Lines that can be told from each other. */
const MOST_LINES = 4;

/** What the chart can show of a day; 0 stands for "not measured" in times. */
export const DAY_FIGURES = {
  first: { title: "First token", of: (day: Day) => day.ttft_p50_ms || null },
  slow: { title: "First token, 95 of 100 within", of: (day: Day) => day.ttft_p95_ms || null },
  token: { title: "Time per token", of: (day: Day) => day.tpot_p50_ms || null },
  ok: { title: "Answered", of: (day: Day) => (day.attempts === 0 ? null : day.ok / day.attempts) },
  attempts: { title: "Attempts", of: (day: Day) => day.attempts },
} as const;
export type DayFigure = keyof typeof DAY_FIGURES;

export interface DayLines {
  /** Midnight in UTC of each day, ISO 8601. */
  readonly times: string[];
  readonly lines: Line[];
  /** Endpoints that are left out: those with fewest attempts. */
  readonly leftOut: number;
}

/** Days that are shown. */
const DAYS = 30;

/**
 * @param today the last day that is shown: `YYYY-MM-DD`
 * @param nameOf an endpoint by its id
 */
export function dayLines(
  series: readonly Day[],
  figure: DayFigure,
  today: string,
  nameOf: (id: string) => string,
): DayLines {
  const attempts = new Map<string, number>();
  for (const day of series)
    attempts.set(day.endpoint_id, (attempts.get(day.endpoint_id) ?? 0) + day.attempts);
  const ids = [...attempts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([id]) => id);
  const days = Array.from({ length: DAYS }, (_, place) => daysAfter(today, place + 1 - DAYS));
  const found = new Map(series.map((day) => [`${day.endpoint_id} ${day.day}`, day]));
  const { of } = DAY_FIGURES[figure];
  const lines = ids.slice(0, MOST_LINES).map((id) => ({
    name: nameOf(id),
    values: days.map((day) => {
      const item = found.get(`${id} ${day}`);
      return item === undefined ? null : of(item);
    }),
  }));
  return {
    times: days.map((day) => `${day}T00:00:00Z`),
    lines,
    leftOut: Math.max(0, ids.length - MOST_LINES),
  };
}
