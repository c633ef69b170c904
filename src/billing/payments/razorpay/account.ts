/**
 * What happened in Razorpay's account in a day: payments, refunds and disputes, each by when it was made, and what was paid
 * out by the report of settlements, whose days are those of India.
 */

import type { z } from "zod";
import { DAY_MS, HOUR_MS } from "../../../base/time.ts";
import type { Day, DayLine, Reading, Settlement } from "../gateway.ts";
import type { RazorpayClient } from "./client.ts";
import {
  amountOf,
  disputeEntity,
  listOf,
  MAX_PAGE,
  paymentEntity,
  reconLine,
  refundEntity,
} from "./objects.ts";

const INDIA_MS = 5.5 * HOUR_MS;

type Razorpay = Parameters<Parameters<RazorpayClient["ask"]>[0]["run"]>[0];

/** Razorpay lists the newest first, so a day is read hour by hour. */
export async function* linesOf(client: RazorpayClient, day: Day, call: Reading): AsyncGenerator<DayLine> {
  for (let fromMs = day.fromMs; fromMs < day.toMs; fromMs += HOUR_MS) {
    const toMs = Math.min(fromMs + HOUR_MS, day.toMs);
    const lines = await hourOf(client, { fromMs, toMs }, call);
    yield* lines.sort((a, b) => a.atMs - b.atMs);
  }
}

async function hourOf(client: RazorpayClient, hour: Day, call: Reading): Promise<DayLine[]> {
  const lines: DayLine[] = [];
  // Both ends are included.
  const range = { from: Math.ceil(hour.fromMs / 1000), to: Math.ceil(hour.toMs / 1000) - 1 };
  const payments = pages(client, "list payments", paymentEntity, call, (razorpay, page) =>
    razorpay.payments.all({ ...range, ...page }),
  );
  for await (const { id, amount, currency, status, captured, notes, fee, created_at } of payments) {
    if (captured === false || (status !== "captured" && status !== "refunded")) continue;
    lines.push({
      kind: "payment",
      ref: id,
      paymentRef: id,
      reference: notes.reference ?? "",
      amount: amountOf(amount, currency),
      feeMinor: fee ?? 0,
      atMs: created_at * 1000,
    });
  }
  const refunds = pages(client, "list refunds", refundEntity, call, (razorpay, page) =>
    razorpay.refunds.all({ ...range, ...page }),
  );
  for await (const { id, amount, currency, status, payment_id, notes, created_at } of refunds) {
    if (status === "failed") continue;
    lines.push({
      kind: "refund",
      ref: id,
      paymentRef: payment_id,
      reference: notes.reference ?? "",
      amount: amountOf(-amount, currency),
      feeMinor: 0,
      atMs: created_at * 1000,
    });
  }
  const disputes = pages(client, "list disputes", disputeEntity, call, (razorpay, page) =>
    razorpay.disputes.all({ ...range, ...page }),
  );
  for await (const { id, payment_id, currency, amount_deducted, created_at } of disputes) {
    const atMs = created_at * 1000;
    if ((amount_deducted ?? 0) === 0 || atMs < hour.fromMs || atMs >= hour.toMs) continue;
    lines.push({
      kind: "dispute",
      ref: id,
      paymentRef: payment_id,
      reference: "",
      feeMinor: 0,
      atMs,
      amount: amountOf(-(amount_deducted ?? 0), currency),
    });
  }
  return lines;
}

/** All members of a list, page by page. */
export async function* pages<T>(
  client: RazorpayClient,
  what: string,
  item: z.ZodType<T>,
  { signal }: Reading,
  run: (razorpay: Razorpay, page: { readonly count: number; readonly skip: number }) => Promise<unknown>,
): AsyncGenerator<T> {
  for (let skip = 0; ; skip += MAX_PAGE) {
    const { items } = await client.ask({
      what,
      hasEffect: false,
      call: { signal },
      answer: listOf(item),
      run: (razorpay) => run(razorpay, { count: MAX_PAGE, skip }),
    });
    yield* items;
    if (items.length < MAX_PAGE) return;
  }
}

/** The net of all lines of a settlement is what went to the bank. */
export async function* settlementsOf(
  client: RazorpayClient,
  day: Day,
  call: Reading,
): AsyncGenerator<Settlement> {
  const found = new Map<string, Settlement>();
  for (let ms = day.fromMs; indianDay(ms) <= indianDay(day.toMs - 1); ms += DAY_MS) {
    const date = new Date(ms + INDIA_MS);
    const asked = {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
    };
    const lines = pages(client, "list what was settled", reconLine, call, (razorpay, page) =>
      razorpay.settlements.reports({ ...asked, ...page }),
    );
    for await (const { settlement_id, settled_at, currency, debit, credit, fee } of lines) {
      const atMs = (settled_at ?? 0) * 1000;
      if (!settlement_id || atMs < day.fromMs || atMs >= day.toMs) continue;
      const before = found.get(settlement_id);
      found.set(settlement_id, {
        ref: settlement_id,
        atMs,
        feeMinor: (before?.feeMinor ?? 0) + (fee ?? 0),
        amount: amountOf((before?.amount.minor ?? 0) + credit - debit, currency),
      });
    }
  }
  yield* [...found.values()].sort((a, b) => a.atMs - b.atMs);
}

const indianDay = (ms: number): number => Math.floor((ms + INDIA_MS) / DAY_MS);
