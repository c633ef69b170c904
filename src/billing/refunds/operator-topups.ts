/** What an operator sees of an org's top-ups: each with what of it could be refunded. */
import { z } from "zod";
import type { AccountTables } from "../../account/tables.ts";
import { mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import { operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import { topupShape, topupWire } from "../topups/topup.ts";
import { type RefundDeps, refundableOf } from "./acts.ts";

export interface OperatorTopupDeps extends Pick<RefundDeps, "purse" | "lots" | "topups"> {
  readonly accounts: Pick<AccountTables, "orgByIdOrSlug">;
  readonly cursors: Cursors;
}

const seenTopupShape = topupShape.extend({
  refundable_minor: z
    .int()
    .describe("What could be refunded now, before tax, in paise or cents; 0 of payments by wire or cheque"),
});

export const operatorTopupOperations = (deps: OperatorTopupDeps) => ({
  operatorListTopups: operation({
    summary: "An org's top-ups, newest first, each with what of it could be refunded",
    method: "GET",
    path: "/v1/operator/orgs/{id}/topups",
    access: "operator",
    group: "Operator",
    params: z.object({ id: z.string().max(100).describe("Id or slug") }),
    query: z.object(pageQuery(25, 100)),
    output: pageOf(seenTopupShape),
    errors: ["not_found"],
    run: ({ params, query: { limit, cursor } }) => {
      const org = mustExist(deps.accounts.orgByIdOrSlug(params.id), "organisation");
      return pageById({
        cursors: deps.cursors,
        asked: { limit, cursor },
        list: `operator:topups:${org.id}`,
        rows: (after) => deps.topups.of(org.id, after),
        show: (row) => ({
          ...topupWire(row, row.invoiceId === "" ? undefined : row.invoiceId),
          refundable_minor: row.gateway === "offline" ? 0 : refundableOf(deps, row).minor,
        }),
      });
    },
  }),
});
