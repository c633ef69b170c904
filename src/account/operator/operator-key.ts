/** The operator's secret for scripts: a file of the data folder, made at the first start, that only this user can read. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { readSecret, saveSecret } from "../../base/process/secret-file.ts";

export const OPERATOR_KEY_FILE = "operator-key";
const PREFIX = "svc-operator-";

/**
 * @param shared of a cell: any cell must know what an operator sends, so the secret is derived from what all have; a file with
 *   another one, of the time when its folder was a gateway's own, is replaced
 * @returns whether a bearer credential is the secret; compared in constant time
 */
export function operatorSecret(dataDir: string, shared?: Uint8Array): (sent: string) => boolean {
  const path = join(dataDir, OPERATOR_KEY_FILE);
  const kept = readSecret(path);
  const made = (bytes: Uint8Array) => `${PREFIX}${Buffer.from(bytes).toString("base64url")}`;
  const secret = shared === undefined ? (kept ?? made(randomBytes(32))) : made(shared);
  if (kept !== secret) saveSecret(path, secret);
  const right = digest(secret);
  return (sent) => sent.startsWith(PREFIX) && timingSafeEqual(digest(sent), right);
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
