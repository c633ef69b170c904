/** What a replay says in words, and which range its address names. Pure. */
import type { FlowRow } from "./flow-geometry.ts";

export const RANGES = [
  ["1", "1 hour"],
  ["24", "24 hours"],
  ["168", "7 days"],
  ["720", "30 days"],
  ["other", "Other"],
] as const;

const USUAL_HOURS = 24;
/** As the API allows. */
export const MOST_HOURS = 720;

/** Hours as the address has them; the usual ones where it names none that may be asked. */
export function hoursOf(text: string): number {
  const hours = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return hours >= 1 && hours <= MOST_HOURS ? hours : USUAL_HOURS;
}

/** Which of the ranges it is. */
export const rangeOf = (hours: number): string =>
  RANGES.find(([each]) => each === String(hours))?.[0] ?? "other";

/** `the last 24 hours`, `the last 7 days`. */
export function rangeText(hours: number): string {
  if (hours === 1) return "the last hour";
  return hours > 48 && hours % 24 === 0 ? `the last ${hours / 24} days` : `the last ${hours} hours`;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** What a refusal of a replay means, and what to do. The API's own words where they say it. */
export function faultText({ status, code, message }: Refusal): string {
  if (status === 429 && code === "concurrency")
    return `${message} One is run at a time for an organisation, and a few for all. Try again in a few seconds.`;
  if (status === 409)
    return `${message} It was written for an earlier release: make a new version of it, and replay that.`;
  return message;
}

/** What a row of the flow is called. */
export function rowName({ kind, endpointId, count }: FlowRow): string {
  switch (kind) {
    case "endpoint":
      return endpointId;
    case "others":
      return count === 0 ? "other endpoints" : `${count} other endpoints`;
    case "failed":
      return "failed";
    case "refused":
      return "refused by policy";
  }
}

/** `1 call`, `2,400 calls`. @param text the number as text */
export const callsText = (count: number, text: string): string => `${text} ${count === 1 ? "call" : "calls"}`;
