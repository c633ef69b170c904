/** `WEIR_SECRETS_KEY`: 32 bytes, such as from `openssl rand -base64 32`. Errors never repeat the value. */
import { createSecretKey } from "node:crypto";
import { z } from "zod";

export const secretsKeyField = z.string().transform((text, context) => {
  if (/^[0-9a-f]{64}$/i.test(text)) return createSecretKey(Buffer.from(text, "hex"));
  if (/^[\w+/-]{43}=?$/.test(text)) return createSecretKey(Buffer.from(text, "base64"));
  context.addIssue({ code: "custom", message: "must be 32 bytes in base64 or hex", input: "" });
  return z.NEVER;
});
