/**
 * The hosted pages of the simulated payment services: a person chooses a method and pays, fails or leaves; or approves or
 * declines a mandate. Legible at any width, operable by keyboard, without scripts.
 */
import { type Html, html } from "../../src/base/html.ts";
import { page } from "../identity/pages.ts";
import type { SimCheckout } from "./state.ts";

const METHOD_NAMES: Readonly<Record<string, string>> = {
  upi: "UPI",
  netbanking: "Net banking",
  card_domestic: "Card from India",
  emandate: "e-Mandate",
  card_international: "Card from abroad",
  card: "Card",
  link: "Link",
  ach_debit: "Bank debit (ACH)",
};

const SERVICES = { stripe: "Stripe", razorpay: "Razorpay", simulated: "the payment service" } as const;

/** `₹1,180.00`, `$25.00`. @param minor paise or cents */
export function moneyText(minor: number, currency: string): string {
  const locale = currency === "INR" ? "en-IN" : "en-US";
  return new Intl.NumberFormat(locale, { style: "currency", currency }).format(minor / 100);
}

const note = ({ house }: SimCheckout): Html =>
  html`<p>This page stands in for ${SERVICES[house]}. No money moves.</p>`;

const methodChoice = ({ methods }: SimCheckout): Html => {
  const options = methods.map(
    (method, i) =>
      html`<label class="box"><input type="radio" name="method" value="${method}"${i === 0 ? html` checked` : undefined}>${METHOD_NAMES[method] ?? method}</label>
`,
  );
  return html`<h2>Method</h2>
${options}`;
};

const button = (act: string, label: string, isMain = false): Html =>
  html`<button name="act" value="${act}"${isMain ? html` class="main"` : undefined}>${label}</button>
`;

/** @param path where the form is sent */
export function paymentPage(checkout: SimCheckout, path: string): string {
  const sum = moneyText(checkout.amount, checkout.currency);
  return page(
    `Pay ${sum}`,
    html`<p><bdi>${checkout.description}</bdi><br>For <bdi>${checkout.payerName}</bdi></p>
<form method="post" action="${path}">
${methodChoice(checkout)}
${button("pay", `Pay ${sum}`, true)}${button("fail", "Fail: the payment is declined")}${button("leave", "Leave without paying")}</form>
${note(checkout)}`,
  );
}

export function mandatePage(checkout: SimCheckout, path: string): string {
  return page(
    "Allow automatic payments",
    html`<p><bdi>${checkout.payerName}</bdi> will be charged by itself, at most ${moneyText(checkout.cap, checkout.currency)} each time.</p>
<form method="post" action="${path}">
${methodChoice(checkout)}
${button("approve", "Approve", true)}${button("decline", "Decline")}${button("leave", "Leave")}</form>
${note(checkout)}`,
  );
}

/** A page that is over. */
export function overPage(checkout: SimCheckout): string {
  const words = checkout.state === "complete" ? "This has been done already." : "The time for this is over.";
  return page(
    "Nothing to do here",
    html`<p>${words}</p><p><a href="${checkout.returnUrl}">Back</a></p>${note(checkout)}`,
  );
}

/** @param reason in words for the person at the browser */
export const problemPage = (reason: string): string =>
  page("This did not work", html`<p class="problem" role="alert">${reason}</p>`);
