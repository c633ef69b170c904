/** All operations of this room, for the route table. */
import { type OperatorPaymentDeps, operatorPaymentOperations } from "./operator-operations.ts";
import { type RefundOperationDeps, refundOperations } from "./refund-operations.ts";
import { returnPageOperations } from "./return-page.ts";
import { type TopupOperationDeps, topupOperations } from "./topup-operations.ts";

export type BillingDeps = TopupOperationDeps & RefundOperationDeps & OperatorPaymentDeps;

export const billingOperations = (deps: BillingDeps) => ({
  ...topupOperations(deps),
  ...refundOperations(deps),
  ...returnPageOperations(deps),
  ...operatorPaymentOperations(deps),
});
