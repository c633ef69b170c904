/**
 * Key secrets: `svc-live-` or `svc-test-`, then 43 base-62 characters of which the last 6 are a checksum.
 * Only the SHA-256 of a secret is ever stored; the secret itself leaves this process once, in the answer that made it.
 */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Random, systemRandom } from "../clock.ts";

export type Environment = "live" | "test";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = "svc-live-".length;
/** Both prefixes are equally long. */
export const SECRET_LENGTH = PREFIX_LENGTH + 43;
const SHAPE = /^svc-(?:live|test)-[0-9A-Za-z]{43}$/;

/** A new secret: 37 characters drawn evenly (220 bits), then their checksum. */
export function newSecret(environment: Environment, random: Random = systemRandom): string {
  let rest = `svc-${environment}-`;
  while (rest.length < SECRET_LENGTH - CHECKSUM_LENGTH) {
    const byte = Math.floor(random() * 256);
    // 248 = 4 × 62: a byte above it would favour the first eight characters.
    if (byte < 248) rest += ALPHABET.charAt(byte % 62);
  }
  return rest + checksum(rest);
}

/**
 * CRC-32 (IEEE) of everything before it, prefix included, as six base-62 digits (0-9, A-Z, a-z), greatest first.
 * A CRC misses no change within 32 neighbouring bits, so every mistyped character and every swap of two neighbours
 * is caught; only a swap of the last character with the first digit is left to chance (1 in 2^32).
 * It guards against typos, not forgers: those meet the lookup by hash.
 */
function checksum(rest: string): string {
  let left = crc32(rest);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(left % 62) + digits;
    left = Math.floor(left / 62);
  }
  return digits;
}

/** What a secret's text alone tells: not one of ours, one of ours with a typo, or one that may exist. */
export function inspectSecret(secret: string): "foreign" | "mistyped" | "well_formed" {
  if (!SHAPE.test(secret)) return "foreign";
  const cut = SECRET_LENGTH - CHECKSUM_LENGTH;
  return checksum(secret.slice(0, cut)) === secret.slice(cut) ? "well_formed" : "mistyped";
}

/** SHA-256, base64url: always 43 characters, whatever was sent. What keys are stored and looked up by. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "base64url");

/** What may be shown of a secret: `svc-live-…` and its last four characters. */
export const secretHint = (secret: string): string => `${secret.slice(0, PREFIX_LENGTH)}…${secret.slice(-4)}`;
