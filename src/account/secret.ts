/**
 * Secrets of keys and of directories: `svc-live-`, `svc-test-` or `svc-scim-`, then 43 base-62 characters of which the last 6 are a checksum. Only the
 * SHA-256 of a secret is stored; the secret itself leaves this process once, in the answer to its creation.
 */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Random, systemRandom } from "../base/clock.ts";

export type Environment = "live" | "test";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = "svc-live-".length;
/** All prefixes are equally long. */
export const SECRET_LENGTH = PREFIX_LENGTH + 43;
const SHAPE = /^svc-(?:live|test)-[0-9A-Za-z]{43}$/;

/** A new secret: 37 uniformly random characters (220 bits), then their checksum. */
export function newSecret(kind: Environment | "scim", random: Random = systemRandom): string {
  let rest = `svc-${kind}-`;
  while (rest.length < SECRET_LENGTH - CHECKSUM_LENGTH) {
    const byte = Math.floor(random() * 256);
    // 248 = 4 × 62: larger bytes would favour the first eight characters.
    if (byte < 248) rest += ALPHABET.charAt(byte % 62);
  }
  return rest + checksum(rest);
}

/**
 * CRC-32 (IEEE) of everything before it, prefix included, as six base-62 digits (0-9, A-Z, a-z), most significant
 * first. A CRC detects every change within 32 neighbouring bits, so every mistyped character and every swap of two
 * neighbours; only a swap of the last character with the first digit is missed by chance (1 in 2^32). It guards against
 * typos, not forgery: the look-up by hash does that.
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

/** What can be said of a secret without a look-up: not one of ours, one of ours with a typo, or possibly valid. */
export function inspectSecret(secret: string): "foreign" | "mistyped" | "well_formed" {
  if (!SHAPE.test(secret)) return "foreign";
  const cut = SECRET_LENGTH - CHECKSUM_LENGTH;
  return checksum(secret.slice(0, cut)) === secret.slice(cut) ? "well_formed" : "mistyped";
}

/** SHA-256, base64url: always 43 characters, whatever the input. Keys are stored and looked up by it. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "base64url");

/** The part of a secret that may be shown: its prefix, `…` and its last four characters. */
export const secretHint = (secret: string): string => `${secret.slice(0, PREFIX_LENGTH)}…${secret.slice(-4)}`;
