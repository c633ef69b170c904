/**
 * Providers that are inactive because their environment variables are not set. For the operator: clients never see the
 * names.
 */
import type { CatalogSnapshot } from "./catalog.ts";

export interface Unconfigured {
  readonly provider: string;
  /** Names of variables; alternatives are one text ("A or B"). */
  readonly missing: readonly string[];
}

/** Sorted by provider id. Providers that the catalog disables are not included. */
export const unconfigured = ({ providers }: Pick<CatalogSnapshot, "providers">): readonly Unconfigured[] =>
  [...providers.values()]
    .filter(({ status, isSwitchedOff }) => status !== "active" && isSwitchedOff !== true)
    .map(({ id, missing = [] }) => ({ provider: id, missing }))
    .sort((a, b) => (a.provider < b.provider ? -1 : 1));
