/** What trials say in words: where they are, what must still come, and what may be concluded. Pure. */
import { apart, type Estimate } from "../../../parts/charts/interval-scale.ts";

interface CanaryFigures {
  readonly state: "warming" | "green" | "red";
  readonly samples: number;
  readonly failures: number;
  readonly min_samples: number;
  readonly is_active: boolean;
}

/** What a canary's state means now, and what must come for another. @param count, limit as text */
export function canaryText(
  { state, samples, failures, min_samples: least, is_active: isActive }: CanaryFigures,
  count: (n: number) => string,
  limit: string,
): string {
  const seen = `${count(failures)} of ${count(samples)} results failed.`;
  if (state === "warming") {
    const left = least - samples;
    return `${seen} It is not judged before ${count(least)} are in: ${count(left)} must still come.`;
  }
  if (state === "green")
    return `${seen} That is no proof of an error rate above ${limit}. It keeps its share, and goes on being judged by each result.`;
  const then = `${seen} An endpoint that keeps within ${limit} would hardly do that.`;
  return isActive ? `${then} From the next call on it got no share any more.` : then;
}

/** How red ends. */
export const RED_ENDS =
  "Red is final for this version, also where it is put in force again. A new version that names the endpoint begins a new trial; a version without the canary ends it.";

export interface NamedEstimate extends Estimate {
  readonly name: string;
}

/**
 * What may be said of arms beside the first of them.
 * @param less, more how the figure of one that is lower or higher is called: `fails less often`, `fails more often`
 */
export function verdicts(
  [first, ...others]: readonly NamedEstimate[],
  less: string,
  more: string,
): readonly string[] {
  if (first === undefined) return [];
  return others.flatMap(({ name, interval }) => {
    const side = apart(interval, first.interval);
    if (side === "no") return [];
    return [`${name} ${side === "lower" ? less : more} than ${first.name}.`];
  });
}

/** What is said where no two arms are apart. */
export const NO_VERDICT =
  "No difference is shown: the intervals overlap. More calls make them narrower; decide before how long to wait.";

export const HOURS = [
  ["24", "24 hours"],
  ["168", "7 days"],
  ["720", "30 days"],
] as const;

/** As the address has it; the usual one where it names none of these. */
export const hoursOf = (text: string): number => Number(HOURS.find(([each]) => each === text)?.[0] ?? "24");
