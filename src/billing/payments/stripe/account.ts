/** What happened in Stripe's account in a day. Its lists are newest first, so a day is read hour by hour. */

import type Stripe from "stripe";
import { HOUR_MS } from "../../../base/time.ts";
import type { Day, DayLine, Reading, Settlement } from "../gateway.ts";
import type { StripeClient } from "./client.ts";
import { amountOf, idOf, msOf, referenceOf } from "./objects.ts";

const PAGE = 100;

export async function* linesOf(client: StripeClient, day: Day, call: Reading): AsyncGenerator<DayLine> {
  for (let fromMs = day.fromMs; fromMs < day.toMs; fromMs += HOUR_MS) {
    const created = range({ fromMs, toMs: Math.min(fromMs + HOUR_MS, day.toMs) });
    const lines: DayLine[] = [];
    for await (const transaction of transactions(client, { created, expand: ["data.source"] }, call)) {
      const line = lineOf(transaction);
      if (line !== undefined) lines.push(line);
    }
    yield* lines.reverse();
  }
}

/** Seconds; days begin on whole ones. */
const range = ({ fromMs, toMs }: Day) => ({ gte: Math.ceil(fromMs / 1000), lt: Math.ceil(toMs / 1000) });

/** All members of a list, newest first, page by page. */
export async function* pages<T extends { readonly id: string }>(
  client: StripeClient,
  what: string,
  { signal }: Reading,
  list: (stripe: Stripe, page: Stripe.PaginationParams) => Promise<Stripe.ApiList<T>>,
): AsyncGenerator<T> {
  for (let after: string | undefined; ; ) {
    const page = { limit: PAGE, ...(after !== undefined && { starting_after: after }) };
    const run = (stripe: Stripe) => list(stripe, page);
    const { data, has_more } = await client.ask({ what, hasEffect: false, call: { signal }, run });
    yield* data;
    after = data.at(-1)?.id;
    if (!has_more || after === undefined) return;
  }
}

const transactions = (client: StripeClient, query: Stripe.BalanceTransactionListParams, call: Reading) =>
  pages(client, "list balance transactions", call, (stripe, page) =>
    stripe.balanceTransactions.list({ ...query, ...page }),
  );

/** Undefined: of no interest, such as a payout or a fee. */
function lineOf(transaction: Stripe.BalanceTransaction): DayLine | undefined {
  const { source, amount, currency, fee, created } = transaction;
  if (source === null || typeof source === "string") return undefined;
  const common = { amount: amountOf(amount, currency), feeMinor: fee, atMs: msOf(created) };
  // A failed bank debit is booked as a refund by Stripe, and has the charge as its source.
  if (source.object === "charge") {
    const paymentRef = idOf(source.payment_intent) || source.id;
    const reference = referenceOf(source.metadata);
    return { kind: "payment", ref: paymentRef, paymentRef, reference, ...common };
  }
  if (source.object === "refund") {
    const { id: ref, payment_intent: intent, metadata } = source;
    return { kind: "refund", ref, paymentRef: idOf(intent), reference: referenceOf(metadata), ...common };
  }
  if (source.object !== "dispute") return undefined;
  return {
    kind: "dispute",
    ref: source.id,
    paymentRef: idOf(source.payment_intent),
    reference: "",
    ...common,
  };
}

const ENDED_WITHOUT_MONEY = new Set(["failed", "canceled"]);

/** Payouts of a day, by when they were made. Fees are those of the lines in them, for automatic payouts. */
export async function* settlementsOf(
  client: StripeClient,
  day: Day,
  call: Reading,
): AsyncGenerator<Settlement> {
  const payouts: Stripe.Payout[] = [];
  const all = pages(client, "list payouts", call, (stripe, page) =>
    stripe.payouts.list({ created: range(day), ...page }),
  );
  for await (const payout of all) payouts.push(payout);
  for (const payout of payouts.reverse()) {
    if (ENDED_WITHOUT_MONEY.has(payout.status)) continue;
    const { id: ref, amount, currency, created } = payout;
    const feeMinor = payout.automatic ? await feesOf(client, ref, call) : 0;
    yield { ref, amount: amountOf(amount, currency), feeMinor, atMs: msOf(created) };
  }
}

async function feesOf(client: StripeClient, payout: string, call: Reading): Promise<number> {
  let sum = 0;
  for await (const { fee, type } of transactions(client, { payout }, call)) if (type !== "payout") sum += fee;
  return sum;
}
