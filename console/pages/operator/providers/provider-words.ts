/** How providers, their keys and endpoints do, in words. Pure. */
import type { Operations } from "../../../api/operations.ts";
import type { Tone } from "../../../parts/tone.ts";

export type Listed = Operations["operatorListProviders"]["answer"]["data"][number];
export type Detail = Operations["operatorGetProvider"]["answer"];
export type Endpoint = Detail["all_endpoints"][number];
export type Key = Detail["keys"][number];
export type Refusal = Detail["refusals"][number];

/** Worst first. */
export const STATES = [
  ["saturated", "bad", "no key usable"],
  ["failing", "bad", "failing"],
  ["degraded", "warn", "degraded"],
  ["healthy", "good", "healthy"],
  ["unknown", "plain", "not tried lately"],
] as const satisfies readonly (readonly [Endpoint["state"], Tone, string])[];

export const stateOf = (state: Endpoint["state"]): readonly [Tone, string] => {
  const [, tone, word] = STATES.find(([each]) => each === state) ?? STATES[4];
  return [tone, word];
};

/** Whether calls reach a provider, and why they do not. */
export function reachOf({
  status,
  switched_off: isOff,
  missing,
}: Pick<Listed, "status" | "switched_off" | "missing">): readonly [Tone, string] {
  if (isOff) return ["plain", "switched off"];
  if (status === "active") return ["good", "serves"];
  return missing.length > 0 ? ["warn", "lacks a credential"] : ["warn", "cannot be reached"];
}

export const KEY_TONES: Readonly<Record<Key["status"], Tone>> = {
  ready: "good",
  resting: "warn",
  refused: "bad",
};

const WHY: Readonly<Record<NonNullable<Key["why"]>, string>> = {
  refused: "the provider does not accept it anywhere",
  forbidden: "the provider forbids what was asked",
  capacity: "the provider has no capacity for it now",
};

export const whyOf = (why: Key["why"]): string => (why === null ? "" : WHY[why]);

/** What a refusal means. */
export const meaningOf = (meaning: string): string => {
  if (meaning === "unmatched") return "Words that no rule knows";
  if (meaning === "fault") return "Failed with a status";
  const words = meaning.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const isUnmatched = ({ meaning }: Pick<Refusal, "meaning">): boolean => meaning === "unmatched";

/** Attempts that ended in words that no rule knows. */
export const unmatchedOf = (refusals: readonly Refusal[]): number =>
  refusals.filter(isUnmatched).reduce((sum, { attempts }) => sum + attempts, 0);
