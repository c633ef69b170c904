/** What budgets are called, and when credit is low. Pure. */

export const SCOPES = {
  org: { title: "Organisation", per: "by the month", filter: undefined },
  project: { title: "Project", per: "by the month", filter: "project_id" },
  key: { title: "Key", per: "by the day", filter: "key_id" },
} as const;

/** Days for which credit should last at least. */
const LOW_DAYS = 7;

/** @param daysLeft null: not foreseen */
export function creditState(availableMicro: number, daysLeft: number | null): "fine" | "near" | "over" {
  if (availableMicro <= 0) return "over";
  return daysLeft !== null && daysLeft < LOW_DAYS ? "near" : "fine";
}
