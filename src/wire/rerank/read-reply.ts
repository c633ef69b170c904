/** The list of results that all dialects send, under one name or another: `index` and `relevance_score`. */
import { fail } from "../../base/errors.ts";
import { isObject } from "../neutral/reader.ts";
import type { Ranked } from "./neutral.ts";

/** @throws WeirError `upstream_invalid_response` where the value is no ranking. */
export function readRanking(value: unknown): Ranked[] {
  if (!Array.isArray(value)) throw noRanking();
  return value.map((result: unknown) => {
    if (!isObject(result)) throw noRanking();
    const { index, relevance_score: score } = result;
    if (typeof index !== "number" || typeof score !== "number" || !Number.isFinite(score)) throw noRanking();
    return { index, score };
  });
}

export const noRanking = () => fail("upstream_invalid_response", "The provider's answer is no ranking.");
