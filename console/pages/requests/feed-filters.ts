/** The filters of the feed, as the address has them, and the question that they are to the API. Pure. */
import { dayStart, daysAfter, isDay } from "../../text/days.ts";

export const FILTERS = [
  "within",
  "from",
  "to",
  "status",
  "model",
  "provider",
  "key_id",
  "app_id",
  "project_id",
  "q",
  "min_usd",
  "fallbacks",
] as const;
type FilterName = (typeof FILTERS)[number];
export type FeedFilters = Readonly<Record<FilterName, string>>;

const HOURS: Readonly<Record<string, number>> = { "1h": 1, "24h": 24, "7d": 168, "30d": 720, "90d": 2160 };
const HOUR = 3_600_000;
/** A page that draws itself again must not ask again for having become a second older. */
const STEP = 60_000;
const STATUSES = ["ok", "error", "cancelled", "rejected"] as const;

export const chosenFilters = (query: URLSearchParams): FeedFilters =>
  Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""])) as FeedFilters;

/**
 * Values that are none are left out: an address may be anything.
 * @param nowMs the time, which is taken by the minute
 * @param zone in which the days of a range begin
 */
export function questionOf(filters: FeedFilters, nowMs: number, zone: string) {
  const status = STATUSES.find((each) => each === filters.status);
  const minMicro = Math.round(Number(filters.min_usd) * 1_000_000);
  return {
    ...rangeOf(filters, nowMs, zone),
    ...(status !== undefined && { status }),
    ...(filters.status === "failed" && { errors_only: "true" as const }),
    ...(filters.fallbacks === "true" && { fallbacks_only: "true" as const }),
    ...(filters.min_usd !== "" && Number.isSafeInteger(minMicro) && { min_cost_micro: minMicro }),
    ...(filters.q !== "" && { q: filters.q.trim().toUpperCase().slice(0, 26) }),
    ...set("model", filters.model),
    ...set("provider", filters.provider),
    ...set("key_id", filters.key_id),
    ...set("app_id", filters.app_id),
    ...set("project_id", filters.project_id),
  };
}

const set = <N extends string>(name: N, value: string): { [K in N]?: string } =>
  value.trim() === "" ? {} : ({ [name]: value.trim().slice(0, 256) } as { [K in N]?: string });

/** Days count with the range `custom` alone. The last one counts to its end. */
function rangeOf({ within, from, to }: FeedFilters, nowMs: number, zone: string) {
  const hours = HOURS[within];
  if (hours !== undefined)
    return { since: new Date(Math.floor(nowMs / STEP) * STEP - hours * HOUR).toISOString() };
  if (within !== "custom") return {};
  return {
    ...(isDay(from) && { since: dayStart(from, zone) }),
    ...(isDay(to) && { until: dayStart(daysAfter(to, 1), zone) }),
  };
}
