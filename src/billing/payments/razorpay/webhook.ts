/**
 * Razorpay's webhooks: the HMAC-SHA256 of the raw body in `X-Razorpay-Signature`, and an id in `X-Razorpay-Event-Id` that is
 * the same when an event is sent again. No time is signed, so an id must never be forgotten.
 */
import { createHmac } from "node:crypto";
import { z } from "zod";
import { fail } from "../../../base/errors.ts";
import type { Notice } from "../gateway.ts";
import { badSignature, isSameDigest, webhookJson } from "../timed-signature.ts";

const MAX_ID = 200;
const text = z.string().max(500);
const entity = z
  .object({
    entity: z.object({
      id: text,
      reference_id: text.nullish(),
      receipt: text.nullish(),
      notes: z.object({ reference: text.optional() }).catch({}),
    }),
  })
  .optional()
  .catch(undefined);

const eventBody = z.object({
  event: text,
  payload: z.object({
    payment: entity,
    payment_link: entity,
    refund: entity,
    dispute: entity,
    invoice: entity,
  }),
});

type EventBody = z.output<typeof eventBody>;

/** @param secrets two while one is rotated @throws WeirError 400 */
export function noticesOf(
  bytes: Buffer,
  header: (name: string) => string,
  secrets: readonly string[],
): readonly Notice[] {
  const signature = header("x-razorpay-signature");
  // Junk is refused before anything is computed over its body.
  if (!/^[0-9a-f]{64}$/i.test(signature)) throw badSignature();
  const isSigned = secrets.some((secret) =>
    isSameDigest(signature, createHmac("sha256", secret).update(bytes).digest()),
  );
  if (!isSigned) throw badSignature();
  const eventId = header("x-razorpay-event-id");
  const parsed = eventBody.safeParse(webhookJson(bytes));
  if (!parsed.success || eventId === "" || eventId.length > MAX_ID)
    throw fail("invalid_value", "The webhook is not an event with an id.");
  return [{ eventId, subject: subjectOf(parsed.data) }];
}

/** Beginnings of events, the first that fits; of invoices only those of registration links are ours. */
const SUBJECTS = [
  ["payment_link.", "payment_link", "checkout"],
  ["payment.dispute.", "dispute", "dispute"],
  ["payment.", "payment", "payment"],
  ["refund.", "refund", "refund"],
  ["invoice.", "invoice", "mandate"],
] as const;

function subjectOf({ event, payload }: EventBody): Notice["subject"] {
  const found = SUBJECTS.find(([start]) => event.startsWith(start));
  const object = found === undefined ? undefined : payload[found[1]]?.entity;
  if (found === undefined || object === undefined || object.id === "") return { kind: "none" };
  const { id: ref, reference_id, receipt, notes } = object;
  const isLinked = found[2] === "checkout" || found[2] === "mandate";
  const ours = isLinked ? (reference_id ?? receipt) : undefined;
  return { kind: found[2], ref, reference: notes.reference ?? ours ?? "" };
}
