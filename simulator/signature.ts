/**
 * Signatures over reasoning, so that reasoning altered by a byte is detected. They are digests, not secrets: equal text
 * has equal signatures, and no call is remembered. All are base64 containing `+`, `/` and `=`: treating them as
 * base64url or decoding them on the way breaks them.
 */
import { hash } from "node:crypto";

/** Three bytes whose base64 is `++//`. */
const MARK = Buffer.from([0xfb, 0xef, 0xff]);
const DIGEST_BYTES = 32;

const digest = (purpose: string, data: string | Buffer): Buffer =>
  Buffer.from(hash("sha256", Buffer.concat([Buffer.from(`${purpose}\n`), Buffer.from(data)]), "hex"), "hex");

/** The signature of a text sent beside it. */
export const signatureOf = (text: string): string =>
  Buffer.concat([MARK, digest("signature", text)]).toString("base64");

/** Stands for a text that is not sent; whether it is intact can be checked without the text, see {@link isSeal}. */
export function sealOf(text: string): string {
  const content = digest("content", text);
  return Buffer.concat([MARK, content, digest("seal", content)]).toString("base64");
}

/** Whether the value is an unaltered result of {@link sealOf}, for any text. */
export function isSeal(value: string): boolean {
  const bytes = Buffer.from(value, "base64");
  const content = bytes.subarray(MARK.length, MARK.length + DIGEST_BYTES);
  const made = Buffer.concat([MARK, content, digest("seal", content)]);
  return made.toString("base64") === value;
}
