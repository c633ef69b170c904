/** Logs at rest: read with the key of their call alone, at their own place alone. */
import { createSecretKey, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { logCiphers } from "../../../../../src/inference/exchange/detached/log-cipher.ts";

const key = () => createSecretKey(randomBytes(32));
const text = Buffer.from("id: 7\ndata: what was said\n\n");

test("what is sealed holds nothing of the text, and opens at its place alone", () => {
  const cipherOf = logCiphers([key()]);
  const sealed = cipherOf("A").seal(7, text);
  expect(Buffer.from(sealed).includes("said")).toBe(false);
  expect(cipherOf("A").open(7, sealed)).toEqual(text);
  expect(cipherOf("A").open(8, sealed)).toBe(undefined);
  expect(cipherOf("B").open(7, sealed)).toBe(undefined);
  expect(cipherOf("A").open(7, sealed.subarray(0, 9))).toBe(undefined);
  sealed[5] = (sealed[5] as number) ^ 1;
  expect(cipherOf("A").open(7, sealed)).toBe(undefined);
});

test("the same place is never sealed twice with one nonce", () => {
  const cipher = logCiphers([key()])("A");
  const [first, second] = [cipher.seal(7, text), cipher.seal(7, text)];
  expect(first).not.toEqual(second);
  expect([cipher.open(7, first), cipher.open(7, second)]).toEqual([text, text]);
});

test("after a change of the master key what was sealed before still opens", () => {
  const [old, fresh] = [key(), key()];
  const sealed = logCiphers([old])("A").seal(0, text);
  expect(logCiphers([fresh, old])("A").open(0, sealed)).toEqual(text);
  expect(logCiphers([fresh])("A").open(0, sealed)).toBe(undefined);
});
