/** Words of the page "Billing": plans and their changes, mandates, documents. */
import { describe, expect, test } from "vitest";
import {
  type AutoTopup,
  isInForce,
  type Mandate,
  methodText,
  noticeWords,
  stateWords,
} from "../../../console/pages/billing/auto-words.ts";
import { canCorrect, documentStatus, type Invoice } from "../../../console/pages/billing/document-words.ts";
import {
  actText,
  differences,
  featuresOf,
  feeText,
  intentOfChange,
  LIMITS,
  limitText,
  missingMinor,
  type Plan,
  type PlanQuote,
  type Subscription,
} from "../../../console/pages/billing/plan-words.ts";
import { formatFor } from "../../../console/text/format.ts";
import { PAUSE_REASONS } from "../../../src/billing/mandates/mandate.ts";

const format = formatFor({ locale: "en-US", zone: "UTC" });

const plan = (id: string, changes: Partial<Plan> = {}): Plan => ({
  id,
  name: id,
  monthly_minor: 9_900,
  currency: "USD",
  included_micro: 30_000_000,
  limits: { rpm: 6000, tpm: 10_000_000, concurrency: 500, keys: 200, projects: 50 },
  features: { sso: true, priority_support: false },
  description: "",
  public: true,
  sort: 0,
  ...changes,
});
const team = plan("Team");
const free = plan("Free", {
  monthly_minor: 0,
  currency: "",
  included_micro: 0,
  limits: { rpm: 60, tpm: 0, concurrency: 500, keys: 3, projects: 1 },
  features: { sso: false, priority_support: false },
});

describe("plans", () => {
  test("say fee, limits and what they have besides", () => {
    expect([feeText(team, format), feeText(free, format)]).toEqual(["$99.00", "Free"]);
    expect(LIMITS.map((limit) => limitText(limit, team, format))).toEqual([
      "6,000",
      "10M",
      "500",
      "200",
      "50",
    ]);
    expect(limitText(LIMITS[1] as (typeof LIMITS)[number], free, format)).toBe("no limit");
    expect(featuresOf(team)).toEqual(["Provisioning by a directory"]);
  });

  test("differ where they give something else; no limit is the most", () => {
    expect(differences(team, team, format)).toEqual([]);
    const rows = differences(team, free, format).map(({ name, now, next, isLess }) => [
      name,
      now,
      next,
      isLess,
    ]);
    expect(rows).toEqual([
      ["Credit included a month", "$30.00", "none", true],
      ["Requests a minute", "6,000", "60", true],
      ["Tokens a minute", "10M", "no limit", false],
      ["Keys", "200", "3", true],
      ["Projects", "50", "1", true],
      ["Provisioning by a directory", "yes", "no", true],
    ]);
    expect(differences(free, team, format).map(({ isLess }) => isLess)).toEqual([
      false,
      false,
      true,
      false,
      false,
      false,
    ]);
  });

  const now: Subscription = {
    org_id: "org_1",
    plan_id: "Team",
    status: "active",
    period_start: "2026-11-01T00:00:00.000Z",
    period_end: "2026-12-01T00:00:00.000Z",
    started_at: "2026-11-01T00:00:00.000Z",
  };
  const quote = (of: Plan, changes: Partial<PlanQuote>): PlanQuote =>
    ({
      plan: of,
      fee_minor: 0,
      currency: "USD",
      effective: "now",
      subscription: now,
      ...changes,
    }) as PlanQuote;

  test.each([
    [quote(plan("Big"), { fee_minor: 12_345 }), "Pay $123.45 and change to Big"],
    [quote(team, { fee_minor: 9_900 }), "Pay $99.00 and keep Team"],
    [quote(team, {}), "Keep Team"],
    [quote(plan("Small"), { effective: "period_end" }), "Change to Small when the month ends"],
    [quote(plan("Small"), {}), "Change to Small now"],
    [quote(free, { effective: "period_end" }), "Cancel Team"],
    [quote(free, {}), "Change to Free now"],
  ])("%# the button says what it does", (of, text) => expect(actText(of, team, format)).toBe(text));

  test("what is missing is bought by an amount before tax, rounded up", () => {
    const of = (fee_minor: number, fee_micro: number, missing_micro: number) =>
      missingMinor({ fee_minor, fee_micro, missing_micro } as PlanQuote);
    expect(of(9_900, 99_000_000, 1)).toBe(1);
    expect(of(9_900, 99_000_000, 49_500_000)).toBe(4_950);
    expect(of(899_900, 99_689_819, 99_689_819)).toBe(899_900);
    expect(of(0, 0, 0)).toBe(0);
  });

  test("a change from another state of the subscription is another intent", () => {
    const same = intentOfChange(quote(free, {}), "now", now);
    expect(intentOfChange(quote(free, {}), "now", { ...now })).toBe(same);
    const others = [
      intentOfChange(quote(team, {}), "now", now),
      intentOfChange(quote(free, {}), "period_end", now),
      intentOfChange(quote(free, {}), "now", { ...now, next_plan_id: "Small" }),
      intentOfChange(quote(free, {}), "now", { ...now, plan_id: "Small" }),
      intentOfChange(quote(free, {}), "now", { ...now, status: "past_due" }),
      intentOfChange(quote(free, {}), "now", { ...now, period_start: now.period_end }),
    ];
    expect(new Set([same, ...others]).size).toBe(7);
  });
});

describe("mandates", () => {
  const mandate = (changes: Partial<Mandate>) => changes as Mandate;

  test("each reason of a pause says what to do", () => {
    const said = PAUSE_REASONS.map((pause_reason) => stateWords(mandate({ status: "paused", pause_reason })));
    expect(new Set(said.map(({ text }) => text)).size).toBe(PAUSE_REASONS.length);
    for (const { next } of said) expect(next).toMatch(/\.$/);
    expect(stateWords(mandate({ status: "paused" })).next).toBe("Resume it below.");
    expect(stateWords(mandate({ status: "active" })).next).toBeUndefined();
  });

  test("only one that is active or paused is in force", () => {
    const statuses = ["pending", "active", "paused", "failed", "cancelled"] as const;
    expect(statuses.filter((status) => isInForce(mandate({ status })))).toEqual(["active", "paused"]);
    expect(isInForce(null)).toBe(false);
  });

  test("a notice in rupees names its rule and its hours, and in dollars there is none", () => {
    const inr = { currency: "INR", notify_hours: 24 } as AutoTopup;
    expect(noticeWords(inr, "₹15,000.00")).toMatch(/Reserve Bank of India.* at least 24 hours .*₹15,000\.00/);
    const usd = { currency: "USD", notify_hours: 0 } as AutoTopup;
    expect(noticeWords(usd, "$1,000.00")).toMatch(
      /^One debit is at most \$1,000\.00, tax included\. It is made/,
    );
  });

  test("a method that is not known is named as it is", () => {
    expect([methodText("upi"), methodText("cheque")]).toEqual(["UPI AutoPay", "cheque"]);
  });
});

describe("documents", () => {
  const invoice = {
    kind: "tax_invoice",
    status: "paid",
    recipient: { legal_name: "", gstin: "", tax_id: "", country: "IN" },
    igst_minor: 0,
    cgst_minor: 9,
  } as Invoice;

  test("a GSTIN is corrected on taxed invoices in India of which something is left", () => {
    expect(canCorrect(invoice)).toBe(true);
    expect(canCorrect({ ...invoice, status: "partially_credited" })).toBe(true);
    expect(canCorrect({ ...invoice, cgst_minor: 0, igst_minor: 18 })).toBe(true);
    const no: Partial<Invoice>[] = [
      { status: "credited" },
      { cgst_minor: 0 },
      { kind: "statement" },
      { kind: "credit_note" },
      { kind: "export_invoice" },
      { recipient: { ...invoice.recipient, country: "US" } },
    ];
    for (const changes of no) expect(canCorrect({ ...invoice, ...changes })).toBe(false);
  });

  test("a credit note is issued, and no more is said of it", () => {
    expect(documentStatus(invoice)).toBe("paid");
    expect(documentStatus({ ...invoice, status: "partially_credited" })).toBe("partly credited");
    expect(documentStatus({ ...invoice, kind: "credit_note" })).toBe("issued");
  });
});
