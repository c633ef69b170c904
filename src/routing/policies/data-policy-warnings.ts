/** Warns where the catalog has no endpoint that an org's data policy allows: such a policy is accepted all the same. */
import { didYouMean, nearest } from "../../base/document/nearest.ts";
import { DEFAULT_DECISION } from "../planner/decision.ts";
import type { RouteFacts } from "../planner/eligibility.ts";
import { leftOut, leftOutText, NO_FACTS } from "../planner/left-out.ts";
import { type CatalogView, knownNames } from "./catalog-view.ts";

export interface DataPolicyWarning {
  /** JSON pointer into the org. */
  readonly path: string;
  readonly message: string;
}

/** One for each region without an endpoint, and one where no endpoint of the catalog is left for any call. */
export function dataPolicyWarnings(
  catalog: CatalogView,
  orgPolicy: RouteFacts["orgPolicy"],
): readonly DataPolicyWarning[] {
  const { regions, judged } = knownNames(catalog);
  const unknown = orgPolicy.regions.flatMap((region, at) => {
    if (regions.has(region)) return [];
    const near = didYouMean(nearest(region, [...regions]));
    return [
      { path: `/data_policy/regions/${at}`, message: `there is no endpoint in region "${region}"${near}` },
    ];
  });
  const found = leftOut(judged, {
    facts: { ...NO_FACTS, orgPolicy },
    decision: DEFAULT_DECISION,
    route: {},
  });
  if (!found.by.some(({ endpoints }) => endpoints === found.candidates)) return unknown;
  const message = `no endpoint satisfies this, and every call is refused (404 no_endpoint). ${leftOutText(found, "the catalog")}`;
  return [...unknown, { path: "/data_policy", message }];
}
