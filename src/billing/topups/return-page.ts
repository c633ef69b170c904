/**
 * The page to which a payment gateway sends a payer back: `GET /billing/topups/{id}`. It is open to anyone who has its address,
 * so it says no more than whether the money has come. What the payment gateway adds to the address is not believed: the page
 * asks the payment gateway itself.
 */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { html } from "../../base/html.ts";
import { raw } from "../../base/operation/answer.ts";
import { operation } from "../../base/operation/operation.ts";
import { amountText } from "../rates/rate.ts";
import { isPaid, type TopupRow } from "./topup.ts";
import { lookNow, type WatchingDeps } from "./watch.ts";

const LOOK_MS = 8_000;
/** A browser that waits asks again after this time. */
const AGAIN_S = 5;

export const returnPageOperations = (deps: WatchingDeps) => ({
  topupReturnPage: operation({
    name: "topupReturnPage",
    summary: "Where a payer comes back to after the checkout",
    method: "GET",
    path: "/billing/topups/{id}",
    access: "public",
    group: "Credits",
    params: z.object({ id: z.string().max(100) }),
    output: z.string(),
    otherTypes: ["text/html"],
    errors: ["not_found"],
    async run({ params }) {
      const row = deps.topups.find(params.id);
      if (row === undefined) throw fail("not_found", "There is no such top-up.");
      if (!isPaid(row)) await lookNow(deps, row, LOOK_MS);
      return raw("text/html; charset=utf-8", page(deps.topups.find(params.id) ?? row), {
        headers: { "referrer-policy": "no-referrer" },
      });
    },
  }),
});

const SAYS: Readonly<Record<"paid" | "pending" | "failed" | "expired", readonly [string, string]>> = {
  paid: ["Thank you", "Your payment has arrived, and the credit is there. The invoice comes by mail."],
  pending: ["One moment", "Your payment is not confirmed yet. This page looks again; you may also close it."],
  failed: ["Not paid", "The payment failed, and nothing was charged. Start a new top-up to try again."],
  expired: ["Not paid", "The time for this payment is over. Start a new top-up to try again."],
};

function page(row: TopupRow): string {
  const { status, quote } = row;
  const [title, text] = SAYS[isPaid(row) ? "paid" : (status as "pending" | "failed" | "expired")];
  const again =
    status === "pending" ? html`<meta http-equiv="refresh" content="${String(AGAIN_S)}">` : undefined;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${again}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:28rem;padding:0 1rem;color:#1b1f24}
h1{font-size:1.6rem;margin:0 0 .5rem}p{margin:.4rem 0}small{color:#57606a}</style></head>
<body><h1>${title}</h1><p>${amountText(quote.totalMinor, quote.currency)}</p><p>${text}</p>
<p><small>${row.id}</small></p></body></html>`.text;
}
