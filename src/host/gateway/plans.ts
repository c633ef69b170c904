/** Opens plans and subscriptions: what is offered, who owns an org, and what runs their jobs. */
import type { AccountTables } from "../../account/tables.ts";
import type { SupplierFile } from "../../billing/invoices/supplier.ts";
import { expireIncluded, expiryHandler } from "../../billing/subscriptions/included-credit.ts";
import { PlanList } from "../../billing/subscriptions/plan-list.ts";
import { type PlanOperationDeps, planOperations } from "../../billing/subscriptions/plan-operations.ts";
import { pricingOperations } from "../../billing/subscriptions/pricing-operations.ts";
import { closingListener, renewalHandler, renewSubscription } from "../../billing/subscriptions/renewal.ts";
import { SubscriptionTables } from "../../billing/subscriptions/tables.ts";
import type { Catalog } from "../../catalog/models/catalog.ts";
import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";

type PlanGround = Pick<
  PlanOperationDeps,
  "clock" | "book" | "purse" | "lots" | "fx" | "terms" | "invoices" | "accounts"
> & {
  readonly store: Store;
  readonly trail: Trail;
  readonly events: Pick<Events, "listen">;
  readonly jobs: Jobs;
  /** Undefined where there is no `supplier.yaml`. */
  readonly supplier: SupplierFile | undefined;
  readonly catalog: Pick<Catalog, "current">;
};

export function openPlanRoom({ plans, settings }: Config, ground: PlanGround) {
  const { accounts, store, trail, jobs } = ground;
  const subscriptions = new SubscriptionTables(store);
  const list = new PlanList(plans, settings.default_plan);
  const deps: PlanOperationDeps = {
    ...ground,
    subscriptions,
    plans: list,
    events: trail.events,
    audit: trail.audit,
    ownersOf: (orgId) => ownersOf(accounts, orgId),
  };
  ground.events.listen(closingListener(deps));
  jobs.handle(renewSubscription, renewalHandler(deps));
  jobs.handle(expireIncluded, expiryHandler(deps));
  const pricing = pricingOperations({ ...ground, plans: list, markups: () => markupsOf(ground.catalog) });
  return { list, subscriptions, operations: { ...planOperations(deps), ...pricing } };
}

/** Markups of the models that can be called. */
const markupsOf = (catalog: Pick<Catalog, "current">): number[] =>
  [...catalog.current().models.values()]
    .filter(({ endpoints }) => endpoints.length > 0)
    .map(({ markupBps }) => markupBps);

const ownersOf = ({ people }: AccountTables, orgId: string): string[] =>
  Array.from(people.withRole(orgId, "owner"), ({ userId }) => userId);
