/** Stripe's webhooks: what an event says has changed. The object in it is not believed; it is read again by its id. */
import { z } from "zod";
import { fail } from "../../../base/errors.ts";
import type { Notice } from "../gateway.ts";
import { checkTimedSignature, webhookJson } from "../timed-signature.ts";

const text = z.string().max(500);
const eventBody = z.object({
  id: text.min(1),
  type: text,
  data: z.object({
    object: z.object({
      id: text.optional(),
      mode: text.nullish(),
      client_reference_id: text.nullish(),
      metadata: z.object({ reference: text.optional() }).nullish(),
    }),
  }),
});

type EventBody = z.output<typeof eventBody>;

/** @param secrets two while one is rotated @throws WeirError 400 */
export function noticesOf(
  bytes: Buffer,
  signature: string,
  secrets: readonly string[],
  nowMs: number,
): readonly Notice[] {
  checkTimedSignature(bytes, signature, secrets, nowMs);
  const parsed = eventBody.safeParse(webhookJson(bytes));
  if (!parsed.success) throw fail("invalid_value", "The webhook's body is not an event.");
  return [{ eventId: parsed.data.id, subject: subjectOf(parsed.data) }];
}

/** Beginnings of types, the first that fits. */
const SUBJECTS = [
  ["payment_intent.", "payment"],
  ["refund.", "refund"],
  ["charge.refund.", "refund"],
  ["charge.dispute.", "dispute"],
  ["radar.early_fraud_warning.", "dispute"],
] as const;

function subjectOf({ type, data: { object } }: EventBody): Notice["subject"] {
  const { id: ref = "", metadata } = object;
  const reference = object.client_reference_id ?? metadata?.reference ?? "";
  if (ref === "") return { kind: "none" };
  if (type.startsWith("checkout.session."))
    return { kind: object.mode === "setup" ? "mandate" : "checkout", ref, reference };
  const found = SUBJECTS.find(([start]) => type.startsWith(start));
  return found === undefined ? { kind: "none" } : { kind: found[1], ref, reference };
}
