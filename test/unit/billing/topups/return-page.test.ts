/** What a payer who comes back reads: how it ended, what was charged, and what to do; a decline never asks to wait. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FullAnswer } from "../../../../src/base/operation/answer.ts";
import type { Checkout, PaymentGateway } from "../../../../src/billing/payments/gateway.ts";
import { returnPageOperations } from "../../../../src/billing/topups/return-page.ts";
import { callerOf, headWith } from "../auto-topup.fixtures.ts";
import { checkout, openBilling, payment, someOrg, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

type Made = Awaited<ReturnType<TestBilling["topup"]>>;
const DECLINED = {
  code: "card_declined",
  message: "There is not enough money in Asha's account.",
  kind: "soft",
} as const;

/** What the payment gateway has; undefined: it does not answer. */
const SEEN: Readonly<Record<string, (row: Made) => Checkout | undefined>> = {
  paid: (row) => checkout(row, "complete", payment(row)),
  declined: (row) => checkout(row, "open", payment(row, { state: "failed", failure: DECLINED })),
  "declined for good": (row) =>
    checkout(row, "complete", payment(row, { state: "failed", failure: DECLINED })),
  left: (row) => checkout(row, "open"),
  "over, and never tried": (row) => checkout(row, "expired"),
  "at the bank": (row) => checkout(row, "complete", payment(row, { state: "processing" })),
  "of another amount": (row) =>
    checkout(row, "complete", payment(row, { total: { currency: "INR", minor: 1 } })),
  "not known": () => undefined,
};

async function shown(seen: string) {
  const org = someOrg();
  const row = await billing.topup(org, 100_000);
  const gateway = {
    async readCheckout() {
      const found = SEEN[seen]?.(row);
      if (found === undefined) throw new Error("it does not answer");
      return found;
    },
  };
  const { topupReturnPage } = returnPageOperations({
    ...billing.deps,
    invoices: billing.invoices,
    gatewayOf: () => gateway as unknown as PaymentGateway,
  });
  const input = { params: { id: row.id }, query: undefined, body: undefined };
  const answer = await topupReturnPage.run(input, callerOf(""), headWith(""));
  const page = String((answer as unknown as FullAnswer<never>).content.bytes?.body);
  return { org, row, page };
}

const [TOPUP, NEW] = ["credits/topups/ID", "credits/topups/new"];

describe("a payer who comes back", () => {
  test.each([
    ["paid", "Paid", "Thank you", TOPUP, false],
    ["declined", "Declined", "The payment was declined", TOPUP, false],
    ["declined for good", "Declined", "The payment was declined", NEW, false],
    ["left", "Not paid", "You left without paying", TOPUP, false],
    ["over, and never tried", "Not paid", "The time for this payment is over", NEW, false],
    ["at the bank", "Under way", "One moment", TOPUP, true],
    ["of another amount", "Being looked at", "The payment does not match", TOPUP, false],
    ["not known", "Not known yet", "One moment", TOPUP, true],
  ])("from a payment that is %s reads “%s”", async (seen, word, title, way, isPending) => {
    const { org, row, page } = await shown(seen);
    expect(page).toContain(`>${word}</p><h1>${title}</h1><p class="amount">₹1,180.00</p>`);
    expect(page).toContain(`class="main" href="/console/${org.id}/${way.replace("ID", row.id)}"`);
    expect(page.includes('http-equiv="refresh"')).toBe(isPending);
    expect(page.includes("One moment")).toBe(isPending);
    // Whoever has the address reads this: nothing of who pays, and why it failed is theirs.
    for (const own of [org.name, `/${org.slug}/`, "Asha", `href="${row.checkoutUrl}"`])
      expect(page).not.toContain(own);
  });

  test("finds the invoice in the console, by its number", async () => {
    const { org, page } = await shown("paid");
    const [invoice] = billing.invoicesOf(org.id);
    expect(page).toContain(
      `<a class="other" href="/console/${org.id}/billing/invoices/${invoice?.id}">Invoice ${invoice?.number}</a>`,
    );
  });
});
