/** The documents and pages that people read outside the console, as samples: pictures are made of them, and a test looks at each. */
import { dpaPage } from "../../src/account/orgs/dpa.ts";
import { fail } from "../../src/base/errors.ts";
import type { FullAnswer } from "../../src/base/operation/answer.ts";
import type { InvoiceRow } from "../../src/billing/invoices/invoice.ts";
import { htmlOf } from "../../src/billing/invoices/pages/html.ts";
import { type PageModel, pageModel } from "../../src/billing/invoices/pages/model.ts";
import { mandatePage } from "../../src/billing/mandates/return-page.ts";
import type { Checkout, Payment } from "../../src/billing/payments/gateway.ts";
import { topupPage } from "../../src/billing/topups/return-page.ts";
import { errorPage } from "../../src/edge/pages/error-page.ts";
import { welcomePage } from "../../src/edge/pages/welcome.ts";
import { GOLDEN } from "../../test/support/invoices/golden.ts";
import { INTRA, rowOf } from "../../test/support/invoices/rows.ts";

export interface SamplePage {
  readonly name: string;
  readonly html: string;
  /** For those who write programs: it may name what they call. */
  readonly isForPrograms?: boolean;
}

const golden = (name: string): InvoiceRow => {
  const row = GOLDEN.find((each) => each.name === name)?.row;
  if (row === undefined) throw new Error(`there is no document ${name}`);
  return row;
};

/** Credit that was sold for rupees, registered as an e-invoice. */
const REGISTERED: Partial<InvoiceRow> = {
  irnStatus: "generated",
  irn: "23f498ee41441ecad30f72ba5b9907506c3df70a17b0e0dff46b76a786400662",
  signedQr: "eyJhbGciOiJSUzI1NiJ9.".padEnd(900, "Qa7"),
  ackNumber: "112610000000001",
  ackAtMs: Date.parse("2026-05-04T19:00:00Z"),
  rate: {
    usdInr: "88.50000000",
    day: "2026-05-04",
    source: "config/fx.yaml",
    charged: "90.27000000",
    spreadBps: 200,
  },
};

/** By name. */
export const SAMPLE_DOCUMENTS: readonly (readonly [name: string, model: PageModel])[] = (
  [
    ["invoice-in-state", rowOf({ recipient: INTRA, taxableMinor: 10_000_000, row: REGISTERED })],
    ["invoice-between-states", golden("crore: 29 to Maharashtra firm")],
    ["invoice-territory", golden("territory: 26 to Daman person")],
    ["invoice-zone", { ...golden("zone: 29 to Gujarat SEZ LUT"), irnStatus: "pending" }],
    ["invoice-zone-taxed", golden("zone: 29 to Gujarat SEZ no LUT")],
    ["invoice-export", golden("export: 29 to US firm LUT")],
    ["invoice-plain", golden("foreign supplier: US to US firm")],
    ["invoice-long-name", golden("long name: 29 to Long name")],
    ["statement", golden("statement, proration")],
    ["credit-note", golden("credit note, a third: 29 to Karnataka firm")],
    ["credit-note-export", golden("credit note, an export's: 29 to US firm LUT")],
  ] as const
).map(([name, row]) => [name, pageModel(row)]);

const DPA = {
  supplier: {
    legalName: "Weir Example Private Limited",
    address: "12 Residency Road, Bengaluru 560025, India",
    contact: "privacy@gateway.example.com",
    governingLaw: "India",
  },
  customer: "Kaveri Software LLP",
  subprocessors: [
    { name: "anthropic", regions: ["us", "eu"], trains: false, retentionDays: 30 },
    {
      name: "google-vertex",
      regions: ["asia-south1", "europe-west4", "us-central1"],
      trains: false,
      retentionDays: 0,
    },
  ],
  date: "2026-05-04",
};
const BLANK = {
  ...DPA,
  supplier: { legalName: "", address: "", contact: "", governingLaw: "" },
  customer: "",
};

const END = "01JZ8Q2M4T6V8X0A1C3E5G7J9K";
const ORG = `org_${END}`;

const bodyOf = ({ content }: FullAnswer<never>): string => String(content.bytes?.body);

const payment = { state: "failed" } as Payment;
const checkout = (state: Checkout["state"], ...payments: Payment[]): Checkout => ({
  ref: "",
  state,
  payments,
});
const topup = (status: "pending" | "paid" | "failed" | "expired", seen?: Checkout): string => {
  const quote = { totalMinor: 11_800_000, currency: "INR" } as const;
  const invoice = status === "paid" ? { id: `inv_${END}`, number: "TI/26-27/0000001" } : undefined;
  return bodyOf(
    topupPage({ id: `tup_${END}`, orgId: ORG, status, source: "checkout", quote }, seen, invoice),
  );
};
const mandate = (
  status: "pending" | "active" | "paused" | "failed" | "cancelled",
  isSubmitted?: boolean,
): string =>
  bodyOf(
    mandatePage(
      { id: `mnd_${END}`, orgId: ORG, status, capMinor: 1_500_000, currency: "INR" },
      isSubmitted === undefined ? undefined : { isSubmitted },
    ),
  );

export const samplePages = (): readonly SamplePage[] => [
  ...SAMPLE_DOCUMENTS.map(([name, model]) => ({ name, html: htmlOf(model) })),
  { name: "dpa", html: dpaPage(DPA) },
  { name: "dpa-blank", html: dpaPage(BLANK) },
  { name: "payment-paid", html: topup("paid") },
  { name: "payment-declined", html: topup("pending", checkout("open", payment)) },
  { name: "payment-left", html: topup("pending", checkout("open")) },
  { name: "payment-failed", html: topup("failed") },
  { name: "payment-expired", html: topup("expired") },
  {
    name: "payment-under-way",
    html: topup("pending", checkout("complete", { ...payment, state: "processing" })),
  },
  { name: "payment-misfit", html: topup("pending", checkout("complete", { ...payment, state: "paid" })) },
  { name: "payment-unknown", html: topup("pending") },
  { name: "mandate-active", html: mandate("active") },
  { name: "mandate-left", html: mandate("pending", false) },
  { name: "mandate-submitted", html: mandate("pending", true) },
  { name: "mandate-unknown", html: mandate("pending") },
  { name: "mandate-failed", html: mandate("failed") },
  { name: "mandate-paused", html: mandate("paused") },
  { name: "mandate-cancelled", html: mandate("cancelled") },
  { name: "welcome", html: welcomePage("1.0.0", "https://gateway.example.com"), isForPrograms: true },
  ...([401, 404, 500] as const).map((status) => ({
    name: `error-${status}`,
    html: errorPage(FAULTS[status], `req_${END}`, "/v1/keys"),
    isForPrograms: true,
  })),
];

const FAULTS = {
  401: fail("session_expired", "Your session is over."),
  404: fail("not_found", "There is no such route."),
  500: fail("internal", "Something went wrong here."),
};
