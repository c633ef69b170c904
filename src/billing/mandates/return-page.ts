/**
 * The page to which a payment gateway sends a payer back from the registration of a mandate: `GET /billing/mandates/{id}`. It is open
 * to anyone who has its address, so it says no more than whether the mandate is registered; the payment gateway is asked itself.
 */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { html } from "../../base/html.ts";
import { raw } from "../../base/operation/answer.ts";
import { operation } from "../../base/operation/operation.ts";
import { amountText } from "../rates/rate.ts";
import type { MandateRow, MandateStatus } from "./mandate.ts";
import { lookAtMandate, type MandateWatchingDeps } from "./watch.ts";

const LOOK_MS = 8_000;
/** A browser that waits asks again after this time. */
const AGAIN_S = 5;

export const mandatePageOperations = (deps: MandateWatchingDeps) => ({
  mandateReturnPage: operation({
    name: "mandateReturnPage",
    summary: "Where a payer comes back to after registering a mandate",
    method: "GET",
    path: "/billing/mandates/{id}",
    access: "public",
    group: "Credits",
    params: z.object({ id: z.string().max(100) }),
    output: z.string(),
    otherTypes: ["text/html"],
    errors: ["not_found"],
    async run({ params }) {
      const row = deps.mandates.find(params.id);
      if (row === undefined) throw fail("not_found", "There is no such mandate.");
      if (row.status === "pending") await lookAtMandate(deps, row, LOOK_MS);
      return raw("text/html; charset=utf-8", page(deps.mandates.find(params.id) ?? row), {
        headers: { "referrer-policy": "no-referrer" },
      });
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

function page({ id, status, capMinor, currency }: MandateRow): string {
  const [title, text] = SAYS[status];
  const again =
    status === "pending" ? html`<meta http-equiv="refresh" content="${String(AGAIN_S)}">` : undefined;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${again}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:28rem;padding:0 1rem;color:#1b1f24}
h1{font-size:1.6rem;margin:0 0 .5rem}p{margin:.4rem 0}small{color:#57606a}</style></head>
<body><h1>${title}</h1><p>At most ${amountText(capMinor, currency)} a debit, tax included</p><p>${text}</p>
<p><small>${id}</small></p></body></html>`.text;
}
