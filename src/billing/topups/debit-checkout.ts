/**
 * A debit of a mandate as a checkout with one payment, so that it is settled like any other top-up. A debit that nobody confirmed is
 * open; one whose failure is not final is under way; one that the payer did not want has ended without a failure.
 */
import type { Checkout, Method, PaymentGateway } from "../payments/gateway.ts";
import { isFinal } from "./debit-times.ts";
import type { TopupRow } from "./topup.ts";

/** @param row its `method` is that of the mandate until it is paid */
export async function readDebit(
  gateway: PaymentGateway,
  row: Pick<TopupRow, "gatewayRef" | "method" | "createdAtMs">,
  signal: AbortSignal,
  nowMs: number,
): Promise<Checkout> {
  const ref = row.gatewayRef;
  const payment = await gateway.readDebit(ref, { signal });
  if (payment === undefined) return { ref, state: "open", payments: [] };
  if (payment.state !== "failed") return { ref, state: "complete", payments: [payment] };
  const kind = payment.failure?.kind ?? "soft";
  if (kind === "opt_out") return { ref, state: "expired", payments: [] };
  // The method that the payment gateway tells may be missing.
  const method = payment.method === "" ? row.method : payment.method;
  const isOpen = method !== "" && !isFinal(method as Method, kind, row.createdAtMs, nowMs);
  return { ref, state: "complete", payments: [isOpen ? { ...payment, state: "processing" } : payment] };
}
