/** Answers of the `simulated` payment service: those of the port, and one state more for debits that nobody confirmed. */
import { z } from "zod";
import { METHODS } from "../gateway.ts";

const ref = z.string().max(200);
const ms = z.int().nonnegative();
const amount = z.object({ currency: z.enum(["INR", "USD"]), minor: z.int() });
const method = z.enum(METHODS).or(z.literal(""));
const failure = z.object({
  code: z.string(),
  message: z.string(),
  kind: z.enum(["hard", "soft", "opt_out"]),
});

export const pageAnswer = z.object({ ref: ref.min(1), url: z.url({ protocol: /^https?$/ }) });
export const refAnswer = z.object({ ref: ref.min(1) });
export const anyAnswer = z.object({});

export const paymentAnswer = z.object({
  ref,
  reference: ref,
  total: amount,
  feeMinor: z.int(),
  method,
  paidAtMs: ms.nullable(),
  state: z.enum(["prepared", "processing", "authorized", "paid", "failed", "returned"]),
  failure: failure.nullable(),
  refundedMinor: z.int().nonnegative(),
});

export const checkoutAnswer = z.object({
  ref,
  state: z.enum(["open", "complete", "expired"]),
  payments: z.array(paymentAnswer).max(1000),
});

export const refundAnswer = z.object({
  ref,
  reference: ref,
  paymentRef: ref,
  total: amount,
  failure: failure.nullable(),
  createdAtMs: ms,
  state: z.enum(["pending", "refunded", "failed"]),
});
export const refundsAnswer = z.object({ data: z.array(refundAnswer).max(10_000) });

export const disputeAnswer = z.object({
  ref,
  paymentRef: ref,
  amount,
  reason: z.string(),
  state: z.enum(["warning", "open", "withdrawn", "reinstated", "lost", "won"]),
});

export const mandateAnswer = z.object({
  ref,
  tokenRef: ref,
  reference: ref,
  method,
  cap: amount,
  state: z.enum(["pending", "active", "paused", "failed", "cancelled"]),
  // A simulator of an earlier release says nothing of it.
  isSubmitted: z.boolean().default(false),
});

export const linesAnswer = z.object({
  next: z.int().nullable(),
  data: z.array(
    z.object({
      kind: z.enum(["payment", "refund", "dispute"]),
      ref,
      paymentRef: ref,
      reference: ref,
      amount,
      feeMinor: z.int(),
      atMs: ms,
    }),
  ),
});

export const settlementsAnswer = z.object({
  next: z.int().nullable(),
  data: z.array(z.object({ ref, amount, feeMinor: z.int(), atMs: ms })),
});

/** `id` of the event is unique; `ref` is empty where only our reference is known. */
export const webhookBody = z.object({
  id: z.string().min(1).max(200),
  kind: z.string().max(40),
  ref,
  reference: ref,
});
