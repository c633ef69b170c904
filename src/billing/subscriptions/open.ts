/** Opens plans and subscriptions: what is offered, who owns an org, and what runs their jobs. */
import type { AccountTables } from "../../account/tables.ts";
import type { Plan } from "../../base/plan.ts";
import type { ByokFee } from "../../base/usage.ts";
import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { expireIncluded, expiryHandler } from "./included-credit.ts";
import { PlanList } from "./plan-list.ts";
import { type PlanOperationDeps, planOperations } from "./plan-operations.ts";
import { type PricingDeps, pricingOperations } from "./pricing-operations.ts";
import { closingListener, renewalHandler, renewSubscription } from "./renewal.ts";
import { SubscriptionTables } from "./tables.ts";

export interface PlanSettings {
  /** Those of `plans.yaml`. */
  readonly plans: readonly Plan[];
  /** The free plan that new orgs have, and those whose subscription ended. */
  readonly defaultPlan: string;
  /** For a call that an org's own provider key answered. */
  readonly byokFee: ByokFee;
}

export interface PlanPorts
  extends Pick<
      PlanOperationDeps,
      "clock" | "book" | "purse" | "lots" | "fx" | "terms" | "invoices" | "accounts"
    >,
    Pick<PricingDeps, "supplier" | "markups"> {
  readonly store: Store;
  readonly trail: Trail;
  readonly events: Pick<Events, "listen">;
  readonly jobs: Jobs;
}

export interface OpenPlans {
  readonly list: PlanList;
  readonly subscriptions: SubscriptionTables;
  readonly operations: ReturnType<typeof planOperations> & ReturnType<typeof pricingOperations>;
}

/** Call before the first event and before jobs start. @throws Error where the default plan is not among the plans */
export function openPlanRoom({ plans, defaultPlan, byokFee }: PlanSettings, ports: PlanPorts): OpenPlans {
  const { accounts, store, trail, jobs } = ports;
  const subscriptions = new SubscriptionTables(store);
  const list = new PlanList(plans, defaultPlan);
  const deps: PlanOperationDeps = {
    ...ports,
    subscriptions,
    plans: list,
    events: trail.events,
    audit: trail.audit,
    ownersOf: (orgId) => ownersOf(accounts, orgId),
  };
  ports.events.listen(closingListener(deps));
  jobs.handle(renewSubscription, renewalHandler(deps));
  jobs.handle(expireIncluded, expiryHandler(deps));
  const operations = { ...planOperations(deps), ...pricingOperations({ ...ports, plans: list, byokFee }) };
  return { list, subscriptions, operations };
}

const ownersOf = ({ people }: AccountTables, orgId: string): string[] =>
  Array.from(people.withRole(orgId, "owner"), ({ userId }) => userId);
