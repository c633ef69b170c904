/** All operations of this room, for the route table. */
import { type OperatorJobDeps, operatorJobOperations } from "./job-operations.ts";
import { type OperatorOrgDeps, operatorOrgOperations } from "./org-operations.ts";
import { type OperatorPlanDeps, operatorPlanOperations } from "./plan-operations.ts";
import { type OperatorTicketDeps, operatorTicketOperations } from "./ticket-operations.ts";
import { type OperatorUnchargedDeps, operatorUnchargedOperations } from "./uncharged-operations.ts";

export type OperatorDeps = OperatorOrgDeps &
  OperatorTicketDeps &
  OperatorJobDeps &
  OperatorPlanDeps &
  OperatorUnchargedDeps;

export const operatorOperations = (deps: OperatorDeps) => ({
  ...operatorOrgOperations(deps),
  ...operatorTicketOperations(deps),
  ...operatorJobOperations(deps),
  ...operatorPlanOperations(deps),
  ...operatorUnchargedOperations(deps),
});
