/** All operations of this room, for the route table. */

import { type OperatorTopupDeps, operatorTopupOperations } from "./refunds/operator-topups.ts";
import { type RefundOperationDeps, refundOperations } from "./refunds/refund-operations.ts";
import { type OperatorPaymentDeps, operatorPaymentOperations } from "./topups/operator-operations.ts";
import { type ReturnPageDeps, returnPageOperations } from "./topups/return-page.ts";
import { type TopupOperationDeps, topupOperations } from "./topups/topup-operations.ts";

export type BillingDeps = TopupOperationDeps &
  RefundOperationDeps &
  ReturnPageDeps &
  OperatorPaymentDeps &
  OperatorTopupDeps;

export const billingOperations = (deps: BillingDeps) => ({
  ...topupOperations(deps),
  ...refundOperations(deps),
  ...returnPageOperations(deps),
  ...operatorTopupOperations(deps),
  ...operatorPaymentOperations(deps),
});
