/** What operators see of reconciliation, and how they run it by hand. */
import { z } from "zod";
import { operation } from "../../base/operation/operation.ts";
import { reportShape, reportWire } from "./finding.ts";
import type { Reconciliation } from "./reconciliation.ts";

export interface ReconciliationOperationDeps {
  readonly reconciliation: Reconciliation;
}

const day = z.iso
  .date()
  .describe("A day in India that is over, `YYYY-MM-DD`; yesterday unless given")
  .meta({ examples: ["2026-11-22"] });
/** Less than an operation may take. */
const MOST_MS = 85_000;

export const reconciliationOperations = ({ reconciliation }: ReconciliationOperationDeps) => ({
  operatorGetReconciliation: operation({
    summary: "What does not match on a day: payment gateways, top-ups, refunds, ledger and invoices",
    method: "GET",
    path: "/v1/operator/reconciliation",
    access: "operator",
    group: "Operator",
    query: z.object({
      day: day.optional(),
      fresh: z
        .enum(["true", "false", "1", "0"])
        .transform((value) => value === "true" || value === "1")
        .optional()
        .describe("`1`: compare now, and change nothing, instead of reading the nightly run's report"),
    }),
    output: reportShape,
    errors: ["state", "gateway_unavailable"],
    async run({ query }) {
      const of = query.day ?? reconciliation.yesterday();
      const stored = query.fresh === true ? undefined : reconciliation.stored(of);
      if (stored !== undefined) return reportWire(stored, true);
      return reportWire(await reconciliation.compare(of, AbortSignal.timeout(MOST_MS)), false);
    },
  }),
  operatorRunReconciliation: operation({
    summary: "Reconcile a day as the nightly run does: heal what is safe, park the rest, keep the report",
    method: "POST",
    path: "/v1/operator/reconciliation",
    access: "operator",
    group: "Operator",
    body: z.strictObject({ day: day.optional() }),
    output: reportShape,
    errors: ["state", "gateway_unavailable"],
    async run({ body }) {
      const of = body.day ?? reconciliation.yesterday();
      return reportWire(await reconciliation.run(of, AbortSignal.timeout(MOST_MS)), true);
    },
  }),
});
