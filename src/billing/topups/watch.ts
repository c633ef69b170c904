/**
 * Looks after a top-up until its money has come or never will: asks the payment gateway how the checkout stands, takes what is
 * authorized, closes a checkout whose time is over, and settles what it found. The poll is a job; the return page and webhooks
 * only make it happen sooner.
 */

import { z } from "zod";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import { type JobEnding, type JobHandler, jobKind } from "../../store/jobs/job.ts";
import type { Store } from "../../store/store.ts";
import {
  type Checkout,
  GatewayError,
  type GatewayId,
  mustBeOpen,
  type PaymentGateway,
} from "../payments/gateway.ts";
import { GATEWAY_JOB } from "../payments/gateway-job.ts";
import { type Looks, sharedLook } from "../payments/shared-look.ts";
import { readDebit } from "./debit-checkout.ts";
import { type SettlementDeps, settle, verdictOf } from "./settlement.ts";
import { isPaid, type TopupRow } from "./topup.ts";

/** Bank debits take days; what takes longer comes by webhook or by reconciliation. */
export const MOST_WATCHED_MS = 30 * DAY_MS;
/** How long an unclear answer is asked for again with the same key. */
const STORED_FAILURE_MS = 15 * MINUTE_MS;

export const watchTopup = jobKind({
  name: "billing.watch_topup",
  payload: z.object({ topupId: z.string() }),
  ...GATEWAY_JOB,
  isKeptOnErasure: true,
});

export interface TopupWatchDeps extends SettlementDeps {
  readonly store: Pick<Store, "act">;
  readonly gatewayOf: (id: GatewayId) => PaymentGateway | undefined;
  /** By top-up. */
  readonly looks: Looks<Checkout>;
}

/** What a look found: to be settled in an act, and when to look again. */
export interface Look {
  readonly checkout: Checkout;
  /** Undefined: there is nothing left to wait for. */
  readonly againAtMs: number | undefined;
}

export const topupWatcher = (deps: TopupWatchDeps): JobHandler<{ topupId: string }> => ({
  async run({ topupId }, { signal }): Promise<JobEnding | undefined> {
    const row = deps.topups.find(topupId);
    if (row === undefined || isPaid(row)) return undefined;
    const look = await lookAt(deps, row, signal);
    if (look === undefined) return notYetThere(deps, row);
    const { checkout, againAtMs } = look;
    return { act: () => settle(deps, topupId, checkout), ...(againAtMs !== undefined && { againAtMs }) };
  },
});

/** The payment gateway has no checkout of it yet: whoever makes it died, or is about to. */
function notYetThere({ clock, topups }: TopupWatchDeps, { id, expiresAtMs }: TopupRow): JobEnding {
  if (clock.now() <= expiresAtMs) return { againAtMs: clock.now() + MINUTE_MS };
  return {
    act: () => {
      const row = topups.find(id);
      if (row?.status === "pending" && row.gatewayRef === "") topups.put({ ...row, status: "expired" });
    },
  };
}

/**
 * Looks now and settles, for a page that somebody waits for. Never rejects: the job looks again.
 * @returns the checkout that was settled; undefined where the payment gateway said nothing of it
 */
export const lookNow = (
  deps: TopupWatchDeps,
  row: TopupRow,
  withinMs: number,
): Promise<Checkout | undefined> =>
  sharedLook(deps.looks, row.id, async () => {
    const look = await lookAt(deps, row, AbortSignal.timeout(withinMs));
    if (look !== undefined) await deps.store.act(() => settle(deps, row.id, look.checkout));
    return look?.checkout;
  });

/** @returns undefined where the payment gateway has no checkout of it @throws GatewayError */
export async function lookAt(
  deps: TopupWatchDeps,
  row: TopupRow,
  signal: AbortSignal,
): Promise<Look | undefined> {
  if (row.gatewayRef === "" || row.gateway === "offline") return undefined;
  const gateway = mustBeOpen(deps, row.gateway);
  const nowMs = deps.clock.now();
  const call = { nowMs, signal };
  let checkout = await readCheckout(gateway, row, call);
  const isTaken = await takeAuthorized(gateway, row, checkout, call);
  // A debit that nobody confirmed is open too, and has no page to be closed.
  const isClosed = row.source === "checkout" && verdictOf(checkout) === "open" && nowMs > row.expiresAtMs;
  if (isClosed) await expire(gateway, row, call);
  if (isTaken || isClosed) checkout = await readCheckout(gateway, row, call);
  return { checkout, againAtMs: againAt(row, checkout, nowMs) };
}

const readCheckout = (gateway: PaymentGateway, row: TopupRow, { nowMs, signal }: Now): Promise<Checkout> =>
  row.source === "auto_topup"
    ? readDebit(gateway, row, signal, nowMs)
    : gateway.readCheckout(row.gatewayRef, { signal });

/** When a call is made. */
interface Now {
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * A key for a while, in which the first request may be under way; then another one, because a payment gateway repeats its stored
 * failure to the old one. What is asked with it happens once by itself: a payment is taken once, a page is closed once.
 */
const keyOf = (what: "cap" | "exp", topupId: string, nowMs: number): string =>
  `${what}_${topupId}_${Math.floor(nowMs / STORED_FAILURE_MS)}`;

/** Only the amount that was asked for is taken; another one ends as an authorization that nobody took. */
async function takeAuthorized(
  gateway: PaymentGateway,
  { id, quote }: TopupRow,
  { payments }: Checkout,
  { nowMs, signal }: Now,
): Promise<boolean> {
  if (payments.some((payment) => payment.state === "paid")) return false;
  const payment = payments.find(({ state }) => state === "authorized");
  if (payment === undefined) return false;
  const { currency, minor } = payment.total;
  if (currency !== quote.currency || minor !== quote.totalMinor) return false;
  await gateway.capture(payment.ref, payment.total, { idempotencyKey: keyOf("cap", id, nowMs), signal });
  return true;
}

/** A payer may pay while the checkout is closed: the payment gateway then says that it cannot. */
async function expire(
  gateway: PaymentGateway,
  { id, gatewayRef }: TopupRow,
  { nowMs, signal }: Now,
): Promise<void> {
  try {
    await gateway.expireCheckout(gatewayRef, { idempotencyKey: keyOf("exp", id, nowMs), signal });
  } catch (error) {
    if (!(error instanceof GatewayError && (error.kind === "declined" || error.kind === "refused")))
      throw error;
  }
}

/** Soon at first, for a payer who waits; rarely for a bank debit. */
function againAt(
  { createdAtMs, expiresAtMs }: TopupRow,
  checkout: Checkout,
  nowMs: number,
): number | undefined {
  const verdict = verdictOf(checkout);
  if (verdict !== "open" && verdict !== "under_way") return undefined;
  const ageMs = nowMs - createdAtMs;
  if (ageMs > MOST_WATCHED_MS) return undefined;
  if (ageMs < 2 * MINUTE_MS) return nowMs + 15_000;
  if (ageMs < HOUR_MS) return Math.min(nowMs + MINUTE_MS, Math.max(nowMs + 1000, expiresAtMs + 1000));
  return nowMs + (ageMs < DAY_MS ? 15 * MINUTE_MS : 3 * HOUR_MS);
}
