/** Operations on refunds. */
import { z } from "zod";
import { plainText } from "../../account/fields/text-field.ts";
import { assertMayChange } from "../../account/scopes.ts";
import { mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageById, pageQuery } from "../../base/operation/page.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import { askRefund, type RefundDeps } from "./acts.ts";
import { type RefundRow, refundShape, refundWire } from "./refund.ts";
import { quoteRefund, refundQuoteShape } from "./refund-quote.ts";

export interface RefundOperationDeps extends RefundDeps {
  readonly book: Pick<Book, "post" | "fresh">;
  readonly store: Pick<Store, "act">;
  readonly cursors: Cursors;
  readonly trail: Trail;
  /** Port: resolves when the refund is not pending any more, or after the time. */
  readonly settled: (refundId: string, withinMs: number) => Promise<void>;
  /** Port: resolves when every cell reads what this one reads now. */
  readonly seenEverywhere: () => Promise<void>;
}

/** Most payment gateways answer at once; a client waits for that. */
const ANSWER_MS = 5_000;

const refundBody = z.strictObject({
  amount_minor: z
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .describe("Before tax, in paise or cents; its tax goes back too"),
  reason: plainText(500).default("").describe("For the org's own records"),
  idempotency_key: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, { error: "1 to 128 printable characters without spaces" })
    .describe("Asking again with it returns the first refund"),
});
const oneRefund = z.object({ refund: refundShape.describe("The refund") });

export function refundOperations(deps: RefundOperationDeps) {
  return {
    refundTopup: operation({
      summary: "Refund unspent credit of a top-up to where it was paid from",
      method: "POST",
      path: "/v1/credits/topups/{id}/refund",
      access: "write:billing / billing",
      group: "Credits",
      isForClosed: true,
      params: z.object({ id: field.id }),
      body: refundBody,
      output: oneRefund,
      errors: ["not_found", "not_refundable", "idempotency_mismatch"],
      run: ({ params, body }, caller) => refundTopup(deps, caller, params.id, body),
    }),
    quoteRefund: operation({
      summary: "How much of a top-up can be refunded, and what a refund would give back and take",
      method: "GET",
      path: "/v1/credits/topups/{id}/refund/quote",
      access: "read:billing / billing",
      group: "Credits",
      isForClosed: true,
      params: z.object({ id: field.id }),
      query: z.object({
        amount_minor: z.coerce
          .number()
          .pipe(z.int().min(1).max(Number.MAX_SAFE_INTEGER))
          .optional()
          .describe("Before tax, in paise or cents. Absent: all that can be refunded"),
      }),
      output: refundQuoteShape,
      errors: ["not_found", "not_refundable"],
      async run({ params, query }, { orgId }) {
        await deps.book.fresh([orgId]);
        return quoteRefund(deps, deps.topups.mustGet(orgId, params.id), query.amount_minor);
      },
    }),
    listRefunds: operation({
      summary: "The org's refunds, newest first",
      method: "GET",
      path: "/v1/credits/refunds",
      access: "read:billing / billing",
      group: "Credits",
      query: z.object(pageQuery(50, 200)),
      output: z.object({
        data: z.array(refundShape).describe("What is listed."),
        next_cursor: z.string().describe("Asks for the next page; empty on the last one."),
      }),
      run({ query: { limit, cursor } }, { orgId }) {
        const { data, next_cursor } = pageById({
          cursors: deps.cursors,
          asked: { limit, cursor },
          list: `refunds:${orgId}`,
          rows: (after) => deps.refunds.of(orgId, after),
          show: refundWire,
        });
        return { data, next_cursor };
      },
    }),
    getRefund: operation({
      summary: "Read a refund",
      method: "GET",
      path: "/v1/credits/refunds/{id}",
      access: "read:billing / billing",
      group: "Credits",
      params: z.object({ id: field.id }),
      output: oneRefund,
      errors: ["not_found"],
      run: ({ params }, { orgId }) => ({ refund: refundWire(mustGet(deps, orgId, params.id)) }),
    }),
  };
}

/**
 * Only in an act: the refund that an operator grants with a ticket, once for each ticket.
 * @throws WeirError as of `askRefund`
 */
export function refundByTicket(
  deps: Pick<RefundOperationDeps, keyof RefundDeps | "trail">,
  caller: Caller,
  ticket: { readonly id: string; readonly orgId: string },
  { topupId, amountMinor }: { readonly topupId: string; readonly amountMinor: number },
): void {
  const request = { amountMinor, reason: `Ticket ${ticket.id}`, idempotencyKey: ticket.id };
  const { refund } = askRefund(deps, ticket.orgId, topupId, request);
  const after = refundWire(refund);
  deps.trail.audit.note(caller, { act: "refund.create", target: refund.id, orgId: ticket.orgId, after });
}

const mustGet = ({ refunds }: RefundOperationDeps, orgId: string, id: string): RefundRow =>
  mustExist(refunds.get(orgId, id), "refund");

async function refundTopup(
  deps: RefundOperationDeps,
  caller: Caller,
  topupId: string,
  body: z.output<typeof refundBody>,
) {
  const { amount_minor: amountMinor, reason, idempotency_key: idempotencyKey } = body;
  const { orgId } = caller;
  assertMayChange(caller, "live");
  const asked = await deps.store.act(() => {
    const { refund, replay } = askRefund(deps, orgId, topupId, { amountMinor, reason, idempotencyKey });
    if (!replay) {
      const after = refundWire(refund);
      deps.trail.audit.note(caller, { act: "refund.create", target: refund.id, after });
    }
    return { id: refund.id, replay };
  });
  if (mustGet(deps, orgId, asked.id).status === "pending") await deps.settled(asked.id, ANSWER_MS);
  // The job's act may be on its way to other cells, and what reads the invoice next may be one of them.
  await deps.seenEverywhere();
  const wire = refundWire(mustGet(deps, orgId, asked.id));
  return { refund: asked.replay ? { ...wire, replay: true } : wire };
}
