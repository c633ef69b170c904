/**
 * The page to which a payment gateway sends a payer back from the registration of a mandate: `GET /billing/mandates/{id}`. It is open
 * to anyone who has its address, so it says no more than how the mandate stands. The payment gateway is asked before the page calls a
 * mandate pending.
 */
import { z } from "zod";
import { moneyText } from "../../base/currency.ts";
import { mustExist } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import { RETURN_LOOK_MS, returnPage } from "../payments/return-page.ts";
import type { MandateRow, MandateStatus } from "./mandate.ts";
import { lookAtMandate, type MandateWatchDeps } from "./watch.ts";

export const mandatePageOperations = (deps: MandateWatchDeps) => ({
  mandateReturnPage: operation({
    summary: "Where a payer comes back to after registering a mandate",
    method: "GET",
    path: "/billing/mandates/{id}",
    access: "public",
    group: "Credits",
    params: z.object({ id: field.pathId }),
    output: z.string(),
    otherTypes: ["text/html"],
    errors: ["not_found"],
    async run({ params }) {
      const row = mustExist(deps.mandates.find(params.id), "mandate");
      if (row.status === "pending") await lookAtMandate(deps, row, RETURN_LOOK_MS);
      return page(deps.mandates.find(params.id) ?? row);
    },
  }),
});

const SAYS: Readonly<Record<MandateStatus, readonly [string, string]>> = {
  active: ["Thank you", "The mandate is registered. Switch automatic top-ups on to use it."],
  pending: ["One moment", "The mandate is not confirmed yet. This page looks again; you may also close it."],
  paused: ["Paused", "The mandate is registered, and paused. Nothing is debited until it is resumed."],
  failed: [
    "Not registered",
    "The mandate was not registered, and nothing is debited. Begin anew to try again.",
  ],
  cancelled: ["Cancelled", "The mandate is cancelled. Nothing is debited."],
};

function page({ id, status, capMinor, currency }: MandateRow) {
  const [title, text] = SAYS[status];
  const amount = `At most ${moneyText(capMinor, currency)} a debit, tax included`;
  return returnPage({ title, amount, text, id, isPending: status === "pending" });
}
