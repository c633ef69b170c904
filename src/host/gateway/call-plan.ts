/** The plan of a recorded call: its line, read by the planner, with what the catalog says of the endpoints now. */
import type { PlanOf } from "../../analytics/requests/plan-wire.ts";
import type { CatalogSnapshot } from "../../catalog/models/catalog.ts";
import { costInReason } from "../../routing/planner/sorts.ts";
import { readTrace } from "../../routing/planner/trace.ts";

interface CallPlanPorts {
  readonly catalog: { current(): Pick<CatalogSnapshot, "models" | "unreachable"> };
}

export const planOfRecord =
  ({ catalog }: CallPlanPorts): PlanOf =>
  (record) => {
    const plan = readTrace(record.routeTrace, record);
    if (plan === undefined) return undefined;
    const { models, unreachable } = catalog.current();
    const endpoints = [...(models.get(record.model)?.endpoints ?? []), ...unreachable(record.model)];
    const placed = <T extends { readonly endpointId: string }>(one: T) => {
      const known = endpoints.find(({ id }) => id === one.endpointId);
      return { ...one, provider: known?.provider.id, region: known?.region };
    };
    return {
      ...plan,
      tried: plan.tried.map((one) => ({
        ...placed(one),
        costMicroUsd: plan.sort === "price" ? costInReason(one.reason) : undefined,
      })),
      excluded: plan.excluded.map(placed),
    };
  };
