/**
 * Signatures of webhooks that carry their time, as Stripe's do: `t=<seconds>,v1=<hex>[,v1=<hex>]`, each the HMAC-SHA256 of
 * the seconds, a dot and the raw body. The simulated service signs the same way.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { fail } from "../../base/errors.ts";
import { jsonIn } from "../../base/json.ts";

/** As much as the libraries of Stripe allow, into the past and into the future. */
const TOLERANCE_S = 300;
const MAX_HEADER = 2000;
const MAX_SIGNATURES = 10;

/**
 * @param secrets any of them may have signed: two while one is rotated
 * @throws WeirError 400 `invalid_value`, the same whatever is wrong
 */
export function checkTimedSignature(
  bytes: Buffer,
  header: string,
  secrets: readonly string[],
  nowMs: number,
): void {
  const parts = header.length > MAX_HEADER ? [] : header.split(",");
  const seconds = parts.find((part) => part.startsWith("t="))?.slice(2) ?? "";
  const signatures = parts.filter((part) => part.startsWith("v1=")).slice(0, MAX_SIGNATURES);
  const isTimely = /^\d{1,12}$/.test(seconds) && Math.abs(nowMs / 1000 - Number(seconds)) <= TOLERANCE_S;
  if (!isTimely || signatures.length === 0) throw badSignature();
  const isSigned = secrets.some((secret) => {
    const expected = createHmac("sha256", secret).update(`${seconds}.`).update(bytes).digest();
    return signatures.some((signature) => isSameDigest(signature.slice("v1=".length), expected));
  });
  if (!isSigned) throw badSignature();
}

/** In a time that says nothing of where they differ. @param hex from outside */
export function isSameDigest(hex: string, expected: Buffer): boolean {
  if (!/^[0-9a-f]{64}$/i.test(hex)) return false;
  return timingSafeEqual(Buffer.from(hex, "hex"), expected);
}

export const badSignature = () => fail("invalid_value", "The webhook's signature is not valid.");

/** Body of a webhook whose signature was right. @throws WeirError 400 `invalid_json` */
export function webhookJson(bytes: Buffer): unknown {
  const value = jsonIn(bytes.toString("utf8"));
  if (value === undefined) throw fail("invalid_json", "The webhook's body is not JSON.");
  return value;
}
