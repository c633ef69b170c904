/**
 * Draws the page to which a payment gateway sends a payer back. Anyone who has the page's address may open it, so the page says only how
 * one payment or mandate stands. The address names that payment, so browsers tell it to no other site.
 */
import { html } from "../../base/html.ts";
import { raw } from "../../base/operation/answer.ts";

/** A payer waits this long for what the payment gateway says. */
export const RETURN_LOOK_MS = 8_000;
/** A browser that waits asks again after this time. */
const AGAIN_S = 5;

export interface ReturnPage {
  readonly title: string;
  readonly amount: string;
  readonly text: string;
  /** What was paid or registered, by its id. */
  readonly id: string;
  /** It may soon stand otherwise: the page loads itself again. */
  readonly isPending: boolean;
}

export function returnPage({ title, amount, text, id, isPending }: ReturnPage) {
  const again = isPending ? html`<meta http-equiv="refresh" content="${String(AGAIN_S)}">` : undefined;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${again}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:28rem;padding:0 1rem;color:#1b1f24}
h1{font-size:1.6rem;margin:0 0 .5rem}p{margin:.4rem 0}small{color:#57606a}</style></head>
<body><h1>${title}</h1><p>${amount}</p><p>${text}</p>
<p><small>${id}</small></p></body></html>`;
  return raw("text/html; charset=utf-8", page.text, { headers: { "referrer-policy": "no-referrer" } });
}
