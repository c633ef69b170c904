/** The operator's secret for scripts: a file of the data folder, made at the first start, that only this user can read. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { readSecret, saveSecret } from "../process/secret-file.ts";

export const OPERATOR_KEY_FILE = "operator-key";
const PREFIX = "svc-operator-";

/** @returns whether a bearer credential is the secret; compared in constant time */
export function operatorSecret(dataDir: string): (sent: string) => boolean {
  const path = join(dataDir, OPERATOR_KEY_FILE);
  const kept = readSecret(path);
  const secret = kept ?? `${PREFIX}${randomBytes(32).toString("base64url")}`;
  if (kept === undefined) saveSecret(path, secret);
  const right = digest(secret);
  return (sent) => sent.startsWith(PREFIX) && timingSafeEqual(digest(sent), right);
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
