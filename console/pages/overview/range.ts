/** What the address of the overview says, and the question that it is to the API. Pure. */
import { dayStart, daysAfter, wholeDays } from "../../text/days.ts";

export const RANGES = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["custom", "Custom"],
] as const;
type Range = (typeof RANGES)[number][0];

export const GROUPS = [
  ["model", "Models"],
  ["key", "Keys"],
  ["app", "Apps"],
  ["provider", "Providers"],
  ["project", "Projects"],
] as const;
export type Group = (typeof GROUPS)[number][0];

/** Filters of the address, and what each is called. */
export const FILTERS = [
  ["project_id", "Project"],
  ["key_id", "Key"],
  ["model", "Model"],
  ["provider", "Provider"],
] as const;
export type Filter = (typeof FILTERS)[number][0];

/** The filter that shows one group alone; undefined: the API has none for it. */
export const FILTER_OF: Readonly<Record<Group, Filter | undefined>> = {
  model: "model",
  key: "key_id",
  provider: "provider",
  project: "project_id",
  app: undefined,
};

/** Rows of a group. */
const MOST_GROUPS = 10;
/** Ranges whose items are days. */
const DAILY: readonly string[] = ["30d", "90d"];

const oneOf = <T extends string>(
  known: readonly (readonly [T, string])[],
  text: string | null,
  usual: T,
): T => known.find(([each]) => each === text)?.[0] ?? usual;

export const rangeOf = (query: URLSearchParams): Range => oneOf(RANGES, query.get("range"), "24h");
export const groupOf = (query: URLSearchParams): Group => oneOf(GROUPS, query.get("by"), "model");

/** The filters that are set. */
export const filtersOf = (query: URLSearchParams): Partial<Record<Filter, string>> =>
  Object.fromEntries(
    FILTERS.flatMap(([name]) => {
      const value = query.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );

/**
 * The query of `getUsage`; undefined while a custom range is not whole.
 * @param zone in which the days of a custom range begin
 */
export function usageQuery(query: URLSearchParams, zone: string) {
  const range = rangeOf(query);
  const shared = {
    range,
    compare: "1" as const,
    group_by: groupOf(query),
    limit: MOST_GROUPS,
    ...filtersOf(query),
    ...(DAILY.includes(range) && { granularity: "day" as const }),
  };
  if (range !== "custom") return shared;
  const days = wholeDays(query.get("from") ?? "", query.get("to") ?? "");
  if (days === undefined) return undefined;
  return { ...shared, from: dayStart(days.from, zone), to: dayStart(daysAfter(days.to, 1), zone) };
}

/** Filters of the page "Requests" that show the calls of the overview. */
export function callsOf(query: URLSearchParams): Readonly<Record<string, string>> {
  const range = rangeOf(query);
  const days = range === "custom" ? wholeDays(query.get("from") ?? "", query.get("to") ?? "") : undefined;
  return { ...filtersOf(query), within: range, ...days };
}
