/**
 * Mandates: a payer's consent to later debits, registered on the payment gateway's page. States and moves, the stored row, and its
 * wire shape. An org has at most one that is in force, and at most one that is being registered; that one replaces it once active.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { Currency } from "../../base/currency.ts";
import * as field from "../../base/operation/fields.ts";
import type { GatewayId, Method } from "../payments/gateway.ts";
import { moves } from "../state-moves.ts";

export const MANDATE_STATUSES = ["pending", "active", "paused", "failed", "cancelled"] as const;
export type MandateStatus = (typeof MANDATE_STATUSES)[number];

export const MANDATE_MOVES = moves<MandateStatus>()({
  activate: {
    from: ["pending"],
    to: "active",
    by: "the payment gateway",
    puts: "event `mandate.active`; the mandate that it replaces is cancelled",
  },
  fail: { from: ["pending"], to: "failed", by: "the payment gateway", puts: "event `mandate.failed`" },
  pause: {
    from: ["active"],
    to: "paused",
    by: "three failed debits, a hard decline, a dispute, the payer's bank",
    puts: "event `mandate.paused`, a mail",
  },
  resume: {
    from: ["paused"],
    to: "active",
    by: "`PUT /v1/credits/auto-topup` unless the bank still pauses it, or the payer's bank that paused it",
    puts: "event `mandate.active`",
  },
  cancel: {
    from: ["pending", "active", "paused", "failed"],
    to: "cancelled",
    by: "`DELETE /v1/credits/mandates`, a newer mandate, the payer's bank, closing of the org",
    puts: "event `mandate.cancelled`, its end at the payment gateway",
  },
});

export const PAUSE_REASONS = ["failures", "declined", "dispute", "bank", "mismatch"] as const;
/** Why a mandate is paused. `bank`: where it was registered, so it becomes active again there. */
export type PauseReason = "" | (typeof PAUSE_REASONS)[number];

export interface MandateRow {
  readonly id: string;
  readonly orgId: string;
  readonly status: MandateStatus;
  readonly gateway: GatewayId;
  /** As the payment gateway takes it. */
  readonly method: Method;
  /** The payment gateway's id of the registration, by which it is read; empty until there is one. */
  readonly ref: string;
  /** Registrations whose page did not open: payment gateways repeat their answer to a key. Absent: none. */
  readonly failedOpenings?: number;
  /** What is debited; empty until it is active. */
  readonly tokenRef: string;
  readonly hostedUrl: string;
  readonly currency: Currency;
  /** Most of one debit, tax included. */
  readonly capMinor: number;
  readonly notifyHours: number;
  /** Debits that failed since the last one that did not. */
  readonly consecutiveFailures: number;
  readonly pauseReason: PauseReason;
  /** Whatever else pauses it: it cannot be debited until the bank resumes it. Absent: it is not. */
  readonly isPausedAtBank?: boolean;
  readonly createdAtMs: number;
  readonly registeredAtMs: number | null;
  readonly cancelledAtMs: number | null;
  /** Key of the request that made it; empty where there was none. */
  readonly idempotencyKey: string;
}

/** What a mandate is registered with. */
export interface MandateTerms {
  /** Most of one debit, tax included, unless a mandate says less. */
  readonly capMinor: number;
  /** A debit is announced at least so many hours before it. */
  readonly notifyHours: number;
}

/** How the API names methods; in INR a `card` is one of an Indian bank. */
export const MANDATE_METHODS = ["upi", "emandate", "card", "link", "ach_debit"] as const;
export type MandateMethod = (typeof MANDATE_METHODS)[number];

const METHODS_IN: Readonly<Record<Currency, readonly MandateMethod[]>> = {
  INR: ["upi", "emandate", "card"],
  USD: ["card", "link", "ach_debit"],
};

const gatewayMethod = (method: MandateMethod, currency: Currency): Method =>
  method === "card" && currency === "INR" ? "card_domestic" : method;

/** Those that a payment gateway takes for mandates in a currency, as the API names them. */
export const methodsOf = (taken: readonly Method[], currency: Currency): readonly MandateMethod[] =>
  METHODS_IN[currency].filter((method) => taken.includes(gatewayMethod(method, currency)));

/** @returns undefined where the payment gateway does not take it */
export const takenMethod = (
  method: MandateMethod,
  taken: readonly Method[],
  currency: Currency,
): Method | undefined =>
  methodsOf(taken, currency).includes(method) ? gatewayMethod(method, currency) : undefined;

const shownMethod = (method: Method): string => (method === "card_domestic" ? "card" : method);

/** When and how much is topped up. */
export const configShape = z.object({
  enabled: z.boolean().describe("Whether credit is bought by itself"),
  threshold_micro: z.int().describe("Credit is bought when the balance falls below, micro-USD"),
  amount_minor: z.int().describe("What is bought at once, before tax, in paise or cents"),
});

export const mandateShape = z.object({
  id: field.id,
  org_id: field.orgId,
  gateway: z.string().describe("The payment gateway"),
  method: z.string().describe("How it is debited: `upi`, `emandate`, `card`, `link`, `ach_debit`"),
  mandate_ref: z.string().describe("The payment gateway's id of the registration; empty until it has one"),
  token_ref: z.string().describe("The payment gateway's id of what is debited; empty until it is active"),
  max_amount_minor: z.int().describe("Most of one debit, tax included"),
  currency: field.currency,
  status: z
    .enum(MANDATE_STATUSES)
    .describe("`pending` until the payer has approved it; nothing is debited while it is not `active`"),
  pause_reason: z
    .enum(PAUSE_REASONS)
    .optional()
    .describe(
      "Why it is paused; absent where it is not. `failures`: three debits in a row; `declined`, `dispute`, `mismatch` (another amount was paid): one was enough; `bank`: the payer's bank pauses it",
    ),
  auto_topup: configShape.describe("When and how much it is debited for"),
  notify_hours: z.int().describe("A debit is announced at least so many hours before it"),
  consecutive_failures: z.int().describe("Debits that failed since the last one that did not"),
  registered_at: z.string().optional().describe("When it became active first"),
  created_at: field.createdAt,
  cancelled_at: z.string().optional().describe("When it was cancelled, by whomever"),
  hosted_url: z
    .string()
    .optional()
    .describe("Where the payer registers it; on creation, and in `registering` of the settings"),
});

export type ConfigWire = z.input<typeof configShape>;

export const mandateWire = (row: MandateRow, config: ConfigWire): z.input<typeof mandateShape> => ({
  id: row.id,
  org_id: row.orgId,
  gateway: row.gateway,
  method: shownMethod(row.method),
  mandate_ref: row.ref,
  token_ref: row.tokenRef,
  max_amount_minor: row.capMinor,
  currency: row.currency,
  status: row.status,
  ...(row.status === "paused" && row.pauseReason !== "" && { pause_reason: row.pauseReason }),
  auto_topup: config,
  notify_hours: row.notifyHours,
  consecutive_failures: row.consecutiveFailures,
  ...(row.registeredAtMs !== null && { registered_at: isoTime(row.registeredAtMs) }),
  created_at: isoTime(row.createdAtMs),
  ...(row.cancelledAtMs !== null && { cancelled_at: isoTime(row.cancelledAtMs) }),
});
