/** Verifies a receipt without the gateway: by published keys that somebody kept. */
import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";
import { RECEIPT_ALG } from "./keys.ts";
import { RECEIPT_TYP, type Receipt, receiptSchema } from "./receipt.ts";

/** A receipt is a few kilobytes: more is none. */
export const MOST_RECEIPT_BYTES = 64 * 1024;

/** The message says why, in words for whoever holds the receipt. */
export class NotVerified extends Error {
  override readonly name = "NotVerified";
}

export interface Verified {
  readonly receipt: Receipt;
  readonly kid: string;
}

/**
 * @param text a JWS in compact form; white space around it does not matter
 * @throws NotVerified
 */
export async function verifyReceipt(text: string, keys: JSONWebKeySet): Promise<Verified> {
  const compact = text.trim();
  if (compact.length > MOST_RECEIPT_BYTES) throw new NotVerified("it is too long for a receipt");
  assertCanonical(compact);
  try {
    const { payload, protectedHeader } = await compactVerify(compact, createLocalJWKSet(keys), {
      algorithms: [RECEIPT_ALG],
    });
    if (protectedHeader.typ !== RECEIPT_TYP) throw new NotVerified("what was signed is not a receipt");
    const parsed = receiptSchema.safeParse(
      JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload)),
    );
    if (!parsed.success) throw new NotVerified("it is signed, but of a version that is not known here");
    return { receipt: parsed.data, kid: protectedHeader.kid ?? "" };
  } catch (error) {
    throw error instanceof NotVerified ? error : new NotVerified(reasonOf(error), { cause: error });
  }
}

/**
 * The last character of base64url may carry bits that no byte has. Decoders ignore them, so a receipt with another last character
 * would verify too: only the one form that RFC 4648, section 3.5, calls canonical is accepted.
 */
function assertCanonical(compact: string): void {
  const parts = compact.split(".");
  const isCanonical = parts.every((part) => Buffer.from(part, "base64url").toString("base64url") === part);
  if (parts.length !== 3 || !isCanonical) throw new NotVerified("it is not a JWS in compact form");
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWKSNoMatchingKey) return "none of the keys signed it";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "the signature is wrong: it was changed";
  return "it is not a receipt";
}
