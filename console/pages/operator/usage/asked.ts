/** What the address of the usage of the installation says, and the questions that it is to the API. Pure. */
import type { Input } from "../../../api/call.ts";
import { dayStart, daysAfter, wholeDays } from "../../../text/days.ts";
import { rangeOf } from "../../overview/range.ts";

export const GROUPS = [
  ["org", "Organisations"],
  ["model", "Models"],
  ["provider", "Providers"],
] as const;
export type Group = (typeof GROUPS)[number][0];

/** Filters of the address, each with its group. */
export const FILTERS = [
  ["org_id", "Organisation", "org"],
  ["model", "Model", "model"],
  ["provider", "Provider", "provider"],
] as const;

const MOST_GROUPS = 20;
const MOST_ORGS = 100;
/** Ranges whose items are days. */
const DAILY: readonly string[] = ["30d", "90d"];

export const groupOf = (query: URLSearchParams): Group =>
  GROUPS.find(([each]) => each === query.get("by"))?.[0] ?? "org";

/** The filter that shows one of a group alone. */
export const filterOf = (group: Group): string => FILTERS.find(([, , each]) => each === group)?.[0] ?? "";

export const filtersOf = (query: URLSearchParams): Readonly<Record<string, string>> =>
  Object.fromEntries(
    FILTERS.flatMap(([name]) => {
      const value = query.get(name) ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );

type SumsQuery = NonNullable<Input<"operatorSumUsage">["query"]>;

/** The range of both questions; undefined while a custom one is not whole. @param zone in which its days begin */
function rangeQuery(query: URLSearchParams, zone: string) {
  const range = rangeOf(query);
  if (range !== "custom") return { range };
  const days = wholeDays(query.get("from") ?? "", query.get("to") ?? "");
  if (days === undefined) return undefined;
  return { range, from: dayStart(days.from, zone), to: dayStart(daysAfter(days.to, 1), zone) };
}

export function sumsQuery(query: URLSearchParams, zone: string): SumsQuery | undefined {
  const range = rangeQuery(query, zone);
  if (range === undefined) return undefined;
  return {
    ...range,
    compare: "1",
    group_by: groupOf(query),
    limit: MOST_GROUPS,
    ...filtersOf(query),
    ...(DAILY.includes(range.range) && { granularity: "day" }),
  };
}

/** What is stored, those first of whom most is. */
export const storageQuery = (): NonNullable<Input<"operatorGetUsage">["query"]> => ({
  range: "30d",
  sort: "bytes",
  limit: MOST_ORGS,
});

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** Bytes in short: `1.2 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}
