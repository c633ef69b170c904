/**
 * What a reconciliation can find, and the report of a day as stored and as the API shows it. A report is kept for 400 days, so its
 * members are only ever added to.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { CURRENCIES, type Currency } from "../../base/currency.ts";
import * as field from "../../base/operation/fields.ts";

interface KindRow {
  /** `fault`: money or books are wrong. `info`: nobody must act. */
  readonly level: "fault" | "info";
  readonly meaning: string;
}

const fault = (meaning: string): KindRow => ({ level: "fault", meaning });

export const FINDING_KINDS = {
  paid_not_credited: fault("The payment gateway took money, and no credit was given for it"),
  credited_not_paid: fault("Credit was given, and the payment gateway has no such payment"),
  amount_differs: fault("Two books have the same thing with different amounts"),
  refund_unknown: fault("The payment gateway refunded what is no settled refund here"),
  refund_missing: fault("A refund is settled here, and the payment gateway made none"),
  dispute_unknown: fault("The payment gateway has a dispute that is not known here"),
  no_ledger_entry: fault("A top-up, refund or dispute has no entry in the ledger"),
  ledger_without_topup: fault("The ledger has a top-up that was never paid"),
  ledger_without_refund: fault("The ledger has a refund that nobody asked for"),
  no_invoice: fault("A paid top-up has no invoice"),
  no_credit_note: fault("A settled refund has no credit note"),
  invoice_without_payment: fault("An invoice or credit note documents what was never paid or refunded"),
  series_gap: fault("Numbers of a series are missing or used twice"),
  balance_not_sum: fault("An org's balance is not the sum of its ledger"),
  parked_open: fault("A parked payment waits for an operator"),
  fee_differs: { level: "info", meaning: "The payment gateway's fee is not what it said when it was paid" },
} satisfies Record<string, KindRow>;
export type FindingKind = keyof typeof FINDING_KINDS;
const KIND_NAMES = Object.keys(FINDING_KINDS) as FindingKind[];

export const FINDING_STATES = ["open", "healed", "parked"] as const;

export interface Finding {
  readonly kind: FindingKind;
  /** `healed`: the books are right now. `parked`: an operator decides. */
  readonly state: (typeof FINDING_STATES)[number];
  /** Empty where it is not known, or concerns no org. */
  readonly orgId: string;
  /** Empty where there is none. */
  readonly gateway: string;
  /** The payment gateway's id of it; of what no payment gateway knows: our id, the series, or the org. */
  readonly ref: string;
  /** `tup_…`, `rfd_…`, or of an invoice; empty where there is none. */
  readonly subjectId: string;
  readonly topupId: string;
  readonly currency: Currency | "";
  /** 0 where it has no amount. */
  readonly minor: number;
  readonly detail: string;
}

export interface MoneyTotal {
  readonly currency: Currency;
  readonly count: number;
  readonly minor: number;
  readonly feeMinor: number;
}

export const TOTALS = [
  "gateway_payments",
  "gateway_refunds",
  "gateway_disputes",
  "gateway_settlements",
  "topups",
  "refunds",
  "invoices",
  "credit_notes",
] as const;
export type TotalName = (typeof TOTALS)[number];

export interface ReconciliationReport {
  readonly day: string;
  readonly ranAtMs: number;
  /** False: there was more to look at than a run looks at, or a payment gateway is not configured any more. */
  readonly isComplete: boolean;
  readonly findings: readonly Finding[];
  /** How many there are of each kind, those included that `findings` has no room for. */
  readonly counts: Readonly<Partial<Record<FindingKind, number>>>;
  readonly totals: Readonly<Record<TotalName, readonly MoneyTotal[]>>;
  /** Ledger entries that were read, of how many orgs. */
  readonly ledger: { readonly entries: number; readonly orgs: number };
  /** Series and financial year → the last number at the end of the day. */
  readonly seriesEnds: Readonly<Record<string, number>>;
}

/** What somebody must look at: neither healed nor for information only. */
export const openFaults = ({ findings }: Pick<ReconciliationReport, "findings">): Finding[] =>
  findings.filter(({ kind, state }) => state !== "healed" && FINDING_KINDS[kind].level === "fault");

const totalShape = z.array(
  z.object({
    currency: z.enum(CURRENCIES).describe("The org's billing currency."),
    count: z.int().describe("How many"),
    amount_minor: z.int().describe("Their sum, tax included, in paise or cents"),
    fee_minor: z.int().describe("Fees of the payment gateway on them"),
  }),
);

export const reportShape = z.object({
  object: field.objectOf("reconciliation"),
  day: z.string().describe("The day in India, `YYYY-MM-DD`"),
  stored: z.boolean().describe("Made by an earlier run; false: compared just now"),
  ran_at: z.string().describe("When the books were compared"),
  complete: z.boolean().describe("False: not everything could be looked at"),
  balanced: z.boolean().describe("No fault is left"),
  counts: z.record(z.string(), z.int()).describe("Findings by kind"),
  findings: z
    .array(
      z.object({
        kind: z.enum(KIND_NAMES).describe("What does not match"),
        level: z.enum(["fault", "info"]).describe("`info`: nobody must act"),
        state: z.enum(FINDING_STATES).describe("`healed`: it matches now. `parked`: an operator decides"),
        meaning: z.string().describe("The kind in words"),
        org_id: z.string().describe("Empty where it is not known"),
        gateway: z.string().describe("The payment gateway; empty where it has none"),
        ref: z.string().describe("The payment gateway's id, or ours where it has none"),
        subject_id: z.string().describe("The top-up, refund or invoice; empty where there is none"),
        currency: z.string().describe("Empty where it has no amount"),
        amount_minor: z.int().describe("0 where it has no amount"),
        detail: z.string().describe("What was compared"),
      }),
    )
    .describe("What does not match, 1,000 at most"),
  totals: z
    .object(
      Object.fromEntries(TOTALS.map((name) => [name, totalShape.describe(totalMeaning(name))])) as Record<
        TotalName,
        typeof totalShape
      >,
    )
    .describe("Sums of the whole period."),
  ledger: z
    .object({
      entries: z.int().describe("Entries that were added up"),
      orgs: z.int().describe("Orgs that had any"),
    })
    .describe("What was read of the ledgers"),
});

function totalMeaning(name: TotalName): string {
  if (name === "gateway_settlements")
    return "What payment gateways paid out that day, for payments of any day";
  return name.startsWith("gateway_") ? "What the payment gateways say" : "What is in our books";
}

export const reportWire = (report: ReconciliationReport, stored: boolean): z.input<typeof reportShape> => ({
  object: "reconciliation",
  day: report.day,
  stored,
  ran_at: isoTime(report.ranAtMs),
  complete: report.isComplete,
  balanced: openFaults(report).length === 0,
  counts: { ...report.counts },
  findings: report.findings.map((finding) => ({
    kind: finding.kind,
    ...FINDING_KINDS[finding.kind],
    state: finding.state,
    org_id: finding.orgId,
    gateway: finding.gateway,
    ref: finding.ref,
    subject_id: finding.subjectId,
    currency: finding.currency,
    amount_minor: finding.minor,
    detail: finding.detail,
  })),
  totals: Object.fromEntries(TOTALS.map((name) => [name, report.totals[name].map(totalWire)])) as z.input<
    typeof reportShape
  >["totals"],
  ledger: report.ledger,
});

const totalWire = ({ currency, count, minor, feeMinor }: MoneyTotal) => ({
  currency,
  count,
  amount_minor: minor,
  fee_minor: feeMinor,
});
