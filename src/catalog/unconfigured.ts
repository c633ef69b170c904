/** Providers of the catalog that take no calls because the environment lacks what they need: for the operator, never for callers. */
import type { CatalogSnapshot } from "./catalog.ts";

export interface Unconfigured {
  readonly provider: string;
  /** Names of variables; alternatives stand in one text ("A or B"). */
  readonly missing: readonly string[];
}

/** By provider id. What the catalog itself switches off is not among them. */
export const unconfigured = ({ providers }: Pick<CatalogSnapshot, "providers">): readonly Unconfigured[] =>
  [...providers.values()]
    .filter(({ status, isSwitchedOff }) => status !== "active" && isSwitchedOff !== true)
    .map(({ id, missing = [] }) => ({ provider: id, missing }))
    .sort((a, b) => (a.provider < b.provider ? -1 : 1));

/** One line: `openai (OPENAI_API_KEY), vllm (VLLM_BASE_URL)`. */
export const unconfiguredText = (all: readonly Unconfigured[]): string =>
  all.map(({ provider, missing }) => `${provider} (${missing.join(", ")})`).join(", ");
