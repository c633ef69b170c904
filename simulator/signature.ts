/**
 * Signatures over reasoning, so that a client that brings reasoning back altered by a byte is found out.
 * They are digests and no secrets: equal text has equal signatures, and no call is remembered.
 * All are base64 with `+`, `/` and `=` in it: who takes them for base64url or decodes them on the way spoils them.
 */
import { hash } from "node:crypto";

/** Three bytes whose base64 is `++//`. */
const MARK = Buffer.from([0xfb, 0xef, 0xff]);
const DIGEST_BYTES = 32;

const digest = (purpose: string, data: string | Buffer): Buffer =>
  Buffer.from(hash("sha256", Buffer.concat([Buffer.from(`${purpose}\n`), Buffer.from(data)]), "hex"), "hex");

/** The signature of a text that travels beside it. */
export const signatureOf = (text: string): string =>
  Buffer.concat([MARK, digest("signature", text)]).toString("base64");

/** Stands for a text that travels without it: whether it is whole shows from itself, see {@link isSeal}. */
export function sealOf(text: string): string {
  const content = digest("content", text);
  return Buffer.concat([MARK, content, digest("seal", content)]).toString("base64");
}

/** The value is a seal that {@link sealOf} made, of whatever text, not altered by a byte. */
export function isSeal(value: string): boolean {
  const bytes = Buffer.from(value, "base64");
  const content = bytes.subarray(MARK.length, MARK.length + DIGEST_BYTES);
  const made = Buffer.concat([MARK, content, digest("seal", content)]);
  return made.toString("base64") === value;
}
