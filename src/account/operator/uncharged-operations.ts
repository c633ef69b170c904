/** Calls that nobody was charged for, because their cell was retired before it sent its charges: an operator decides what to do. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import { operation } from "../../base/operation/operation.ts";
import { pageOf, pageQuery, shownPage } from "../../base/operation/page.ts";
import { type UnchargedCall, UnchargedCalls } from "../../credits/ledger/uncharged.ts";
import type { Store } from "../../store/store.ts";

export interface OperatorUnchargedDeps {
  readonly store: Pick<Store, "table">;
  readonly cursors: Cursors;
}

const callShape = z.object({
  org_id: z.string().describe("The org whose call it was."),
  request_id: z
    .string()
    .describe("Request id of the call; `GET /v1/requests/{id}` of its organisation may have its record"),
  amount_micro_usd: z.int().describe("What it would have cost"),
  settled_at: z.string().describe("When the client had its answer"),
});

export function operatorUnchargedOperations({ store, cursors }: OperatorUnchargedDeps) {
  const calls = new UnchargedCalls(store);
  return {
    operatorListUncharged: operation({
      summary: "Calls of retired cells that were charged to nobody, by organisation and time",
      method: "GET",
      path: "/v1/operator/uncharged",
      access: "operator",
      group: "Operator",
      query: z.object(pageQuery(50, 200)),
      output: pageOf(callShape),
      run({ query: { limit, cursor } }) {
        return shownPage({
          cursors,
          asked: { limit, cursor },
          list: "operator:uncharged",
          rows: (after = []) => calls.after(after as [string?, string?]),
          positionOf: ({ orgId, requestId }) => [orgId, requestId],
          show: callWire,
        });
      },
    }),
  };
}

const callWire = (call: UnchargedCall): z.input<typeof callShape> => ({
  org_id: call.orgId,
  request_id: call.requestId,
  amount_micro_usd: call.amountMicroUsd,
  settled_at: isoTime(call.atMs),
});
