/**
 * Draws the page to which a payment gateway sends a payer back. Anyone who has the page's address may open it, so the page says only how
 * one payment or mandate stands. The address names that payment, so browsers tell it to no other site.
 */
import { html, pageText } from "../../base/html.ts";
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
  const page = pageText({
    title,
    head: again,
    body: html`<main><h1>${title}</h1><p>${amount}</p><p>${text}</p>
<p class="quiet"><code>${id}</code></p></main>
<ul class="links"><li><a href="/console">Console</a></li></ul>`,
  });
  return raw("text/html; charset=utf-8", page, { headers: { "referrer-policy": "no-referrer" } });
}
