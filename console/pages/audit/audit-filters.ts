/** The filters of the audit, as the address has them, and the question that they are to the API. Pure. */
import type { Operations } from "../../api/operations.ts";
import { dayStart, daysAfter, isDay } from "../../text/days.ts";
import { isActorKind } from "./audit-words.ts";

export const FILTERS = ["by", "actor", "act", "target", "within", "from", "to"] as const;
export type AuditFilters = Readonly<Record<(typeof FILTERS)[number], string>>;

const DAYS: Readonly<Record<string, number>> = { "24h": 1, "7d": 7, "30d": 30, "90d": 90 };
const DAY = 86_400_000;
/** A page that draws itself again must not ask again for having become a second older. */
const STEP = 60_000;
const MOST = 100;

export const chosenFilters = (query: URLSearchParams): AuditFilters =>
  Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""])) as AuditFilters;

type Question = NonNullable<Operations["listAudit"]["query"]>;

/**
 * Values that are none are left out: an address may be anything.
 * @param nowMs the time, which is taken by the minute
 * @param zone in which the days of a range begin
 */
export function questionOf(filters: AuditFilters, nowMs: number, zone: string): Question {
  const { by, actor, act, target } = filters;
  return {
    limit: 50,
    ...(isActorKind(by) && { actor_kind: by }),
    ...(actor.trim() !== "" && { actor: actor.trim().slice(0, MOST) }),
    ...(act.trim() !== "" && { act: act.trim().slice(0, MOST) }),
    ...(target.trim() !== "" && { target: target.trim().slice(0, MOST) }),
    ...rangeOf(filters, nowMs, zone),
  };
}

/** Days count with the range `custom` alone. The last one counts to its end. */
function rangeOf({ within, from, to }: AuditFilters, nowMs: number, zone: string) {
  const days = DAYS[within];
  if (days !== undefined)
    return { since: new Date(Math.floor(nowMs / STEP) * STEP - days * DAY).toISOString() };
  if (within !== "custom") return {};
  return {
    ...(isDay(from) && { since: dayStart(from, zone) }),
    ...(isDay(to) && { until: dayStart(daysAfter(to, 1), zone) }),
  };
}
