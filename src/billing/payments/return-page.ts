/**
 * Draws the page to which a payment gateway sends a payer back. Anyone who has the page's address may open it, so the page says only how
 * one payment or mandate stands; what else there is to see is behind its links into the console, which ask for a sign-in. The address names
 * that payment, so browsers tell it to no other site.
 */
import { html, pageText } from "../../base/html.ts";
import { raw } from "../../base/operation/answer.ts";

/** A payer waits this long for what the payment gateway says. */
export const RETURN_LOOK_MS = 8_000;
/** A browser that waits asks again after this time. */
const AGAIN_S = 5;

/** What the reader can do next, and where: below `/console/{org}`. */
export interface Way {
  readonly label: string;
  readonly to: readonly string[];
}

/** How it ended, or that it has not. */
export interface Outcome {
  /** In a word or two, before the title. */
  readonly word: string;
  readonly tone: "good" | "bad" | "warn";
  readonly title: string;
  readonly text: string;
  readonly main: Way;
  /** It may soon stand otherwise by itself: the page loads itself again. */
  readonly isPending?: boolean;
}

export interface ReturnPage {
  readonly outcome: Outcome;
  readonly amount: string;
  /** What was paid or registered, by its id. */
  readonly id: string;
  readonly orgId: string;
  /** Beside the main way. */
  readonly others: readonly Way[];
}

export function returnPage({ outcome, amount, id, orgId, others }: ReturnPage) {
  const { word, tone, title, text, main, isPending = false } = outcome;
  const again = isPending ? html`<meta http-equiv="refresh" content="${String(AGAIN_S)}">` : undefined;
  // By the org's id: its name is for those who sign in.
  const address = ({ to }: Way) => ["/console", orgId, ...to].join("/");
  const page = pageText({
    title: `${title} · Weir`,
    head: again,
    body: html`<main><p class="state ${tone}">${word}</p><h1>${title}</h1><p class="amount">${amount}</p><p>${text}</p>
<div class="acts"><a class="main" href="${address(main)}">${main.label}</a>${others.map((way) => html`<a class="other" href="${address(way)}">${way.label}</a>`)}</div>
<p class="quiet">Reference <code>${id}</code></p></main>`,
  });
  return raw("text/html; charset=utf-8", page, { headers: { "referrer-policy": "no-referrer" } });
}
