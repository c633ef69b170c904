/** A mail of each sort, and of each of its cases, as its reader gets it: pictures are made of them, and a test looks at each. */
import type { Letter } from "../../src/account/mail/letter.ts";
import { orgFormat } from "../../src/account/mail/org-format.ts";
import { whyOrgMail } from "../../src/account/mail/reader.ts";
import type { LetterContext, MailTemplate } from "../../src/account/mail/template.ts";
import { templateNamed } from "../../src/account/mail/templates.ts";

/** Where the gateway of the samples is. */
const ADDRESS = "https://gateway.example.com";
const SLUG = "kaveri";
const ORG_NAME = "Kaveri Software LLP";
const END = "01JZ8Q2M4T6V8X0A1C3E5G7J9K";
const KEY = { id: `key_${END}`, name: "support/answers", hint: "sk-weir-live-…t7Qx" };

export interface SampleLetter {
  readonly name: string;
  /** The name of its template. */
  readonly template: string;
  readonly letter: Letter;
}

const tables = {
  key: () => ({ ...KEY, isRevoked: false, expiresAtMs: Date.parse("2026-05-11T04:30:00Z"), createdBy: "" }),
  project: () => ({ name: "Support desk" }),
  people: { user: () => undefined },
} as unknown as LetterContext["accounts"];

const context: LetterContext = {
  orgId: `org_${END}`,
  orgName: ORG_NAME,
  address: ADDRESS,
  reader: { email: "asha@kaveri.example", isBilling: false, role: "owner" },
  consolePage: (...path) => [ADDRESS, "console", SLUG, ...path].join("/"),
  accounts: tables,
  invitationId: () => `ivt_${END}`,
  invoiceFile: async () => ({ name: "invoice.pdf", type: "application/pdf", bytes: new Uint8Array() }),
  ...orgFormat({ billingCountry: "IN", timeZone: "Asia/Kolkata" }),
};

const AT = "2026-05-04T10:00:00Z";
const document = {
  id: `inv_${END}`,
  number: "TI/26-27/0000001",
  total: "₹1,18,000.00",
  supplier: "Weir Example Private Limited",
  title: "Tax Invoice",
  issuedAtMs: Date.parse(AT),
};
const note = { ...document, number: "CN/26-27/0000001", total: "₹59,000.00", title: "Credit Note" };
const debit = { mandate_id: `mnd_${END}`, currency: "INR", amount_minor: 1_000_000, total_minor: 1_180_000 };
const budget = { limit_micro: 500_000_000, spent_micro: 500_120_000, resets_at: "2026-05-31T18:30:00Z" };
const closing = { by: "owner", refund_requested: false, paid_micro: 0, granted_micro: 0, refunds: [] };
const closed = { name: ORG_NAME, closed_at: AT };
const ticket = {
  id: `tkt_${END}`,
  subject: "120 requests a minute for the support desk",
  created_by: "asha@kaveri.example",
};

/** Name, template, data. */
const SAMPLES: readonly (readonly [name: string, template: string, data: unknown])[] = [
  [
    "invitation",
    "invitation",
    { userId: `usr_${END}`, orgName: ORG_NAME, role: "viewer", invitedBy: "asha@kaveri.example" },
  ],
  [
    "ticket-approved",
    "ticket_decided",
    { ...ticket, status: "approved", answer: "Yes: it holds from today.\nWrite to us if it is too little." },
  ],
  ["ticket-rejected", "ticket_decided", { ...ticket, status: "rejected", answer: "" }],
  ["erasure-requested", "erasure_requested", { name: ORG_NAME, erasure_due_at: "2026-06-03T10:00:00Z" }],
  ["erasure-begun", "erasure_begun", { name: ORG_NAME }],
  ["org-closed", "org_closed", { ...closed, closing }],
  [
    "org-closed-refund-asked",
    "org_closed",
    {
      ...closed,
      closing: {
        ...closing,
        refund_requested: true,
        ticket_id: ticket.id,
        paid_micro: 112_500_000,
        granted_micro: 5_000_000,
      },
    },
  ],
  [
    "org-closed-credit-left",
    "org_closed",
    {
      ...closed,
      closing: {
        ...closing,
        paid_micro: 12_500_000,
        refunds: [{ id: `rfd_${END}`, currency: "INR", total_minor: 11_800_000 }],
      },
    },
  ],
  [
    "org-closed-by-erasure",
    "org_closed",
    { ...closed, closing: { ...closing, by: "erasure", paid_micro: 12_500_000 } },
  ],
  ["budget-of-key", "budget_exceeded", { budget: "key_daily", key_id: KEY.id, ...budget, hard: true }],
  [
    "budget-of-project",
    "budget_exceeded",
    { budget: "project_monthly", project_id: `prj_${END}`, ...budget, hard: false },
  ],
  ["budget-of-org", "budget_exceeded", { budget: "org_monthly", ...budget, hard: true }],
  [
    "spend-spike",
    "spend_spike",
    { day: "2026-05-04", spent_micro: 310_000_000, usual_micro: 100_000_000, spike_alert_pct: 200 },
  ],
  ["credits-low", "credits_low", { balance_micro_usd: 4_200_000, credits_low_micro: 5_000_000 }],
  [
    "webhook-disabled",
    "webhook_disabled",
    { id: `whk_${END}`, url: "https://hooks.kaveri.example:8443/in/from-the-gateway/of-the-support-desk" },
  ],
  ["key-expiring", "key_expiring", { keyId: KEY.id }],
  ["key-reported", "key_reported", { keyId: KEY.id }],
  ["invoice", "invoice", document],
  ["invoice-copy", "invoice", { ...document, isCopy: true }],
  [
    "statement",
    "invoice",
    { ...document, title: "Statement", number: "ST/26-27/0000001", total: "$20.00", isFromCredit: true },
  ],
  ["credit-note", "credit_note", note],
  ["credit-note-copy", "credit_note", { ...note, isCopy: true }],
  [
    "refund-failed",
    "refund_failed",
    {
      id: `rfd_${END}`,
      topup_id: `tup_${END}`,
      currency: "INR",
      total_minor: 590_000,
      credits_micro: 55_392_156,
      failure: "The account that paid is closed.",
    },
  ],
  ["subscription-past-due", "subscription_past_due", { plan_id: "team", period_end: "2026-05-31T18:30:00Z" }],
  ["auto-topup-notified", "auto_topup_notified", { ...debit, due_at: "2026-05-05T11:00:00Z" }],
  [
    "auto-topup-failed",
    "auto_topup_failed",
    { ...debit, failure: "There is not enough money in the account." },
  ],
  [
    "auto-topup-tried-again",
    "auto_topup_failed",
    { ...debit, failure: "", retry_at: "2026-05-05T11:00:00Z" },
  ],
  ["mandate-paused", "mandate_paused", { reason: "dispute" }],
];

/** All templates have one: a template without a sample is a fault. */
export async function sampleLetters(): Promise<readonly SampleLetter[]> {
  const letters = await Promise.all(SAMPLES.map(([name, template, data]) => letterOf(name, template, data)));
  const missing = [...templateNamed.keys()].filter(
    (name) => !letters.some(({ template }) => template === name),
  );
  if (missing.length > 0)
    throw new Error(`scripts/screens/letters.ts has no sample of ${missing.join(", ")}`);
  return letters;
}

async function letterOf(name: string, templateName: string, data: unknown): Promise<SampleLetter> {
  const template = templateNamed.get(templateName) as MailTemplate;
  const composed = await template.compose(template.data.parse(data), context);
  if (composed === undefined) throw new Error(`${name} says nothing`);
  const letter = { why: whyOrgMail(context.reader, context.orgName), ...composed };
  return { name, template: templateName, letter };
}
