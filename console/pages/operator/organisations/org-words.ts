/** What the states of an organisation are, and mean. Pure. */
import type { Operations } from "../../../api/operations.ts";
import type { Tone } from "../../../parts/tone.ts";

export type Org = Operations["operatorGetOrg"]["answer"];

export const STATUS_TONES: Readonly<Record<Org["status"], Tone>> = {
  active: "good",
  suspended: "warn",
  closed: "plain",
};

export const STATUS_OPTIONS = [
  ["", "All"],
  ["active", "Active"],
  ["suspended", "Suspended"],
  ["closed", "Closed"],
] as const;

export const isStatus = (text: string): text is Org["status"] => Object.hasOwn(STATUS_TONES, text);
