/**
 * The master key: from the environment, or from a file of the data folder that is created at the first start and never
 * overwritten. With a key in the environment, an existing file still decrypts what was encrypted with it.
 */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { join } from "node:path";
import { readSecret, saveSecret } from "../../base/process/secret-file.ts";

/** In the data folder, mode 0600: the master key in base64 and a newline. */
export const MASTER_KEY_FILE = "secrets.key";

const MASTER_KEY_BYTES = 32;

export interface MasterKeyOptions {
  readonly dataDir: string;
  /** From the environment; undefined: use the one in the data folder, which is created if missing. */
  readonly masterKey: KeyObject | undefined;
}

/** @throws Error with a line for the operator where the file contains no key. */
export function readMasterKeys({ dataDir, masterKey }: MasterKeyOptions): [KeyObject, ...KeyObject[]] {
  const path = join(dataDir, MASTER_KEY_FILE);
  const onFile = readMasterKey(path);
  if (masterKey === undefined) return [onFile ?? newMasterKey(path)];
  return onFile === undefined ? [masterKey] : [masterKey, onFile];
}

function readMasterKey(path: string): KeyObject | undefined {
  const text = readSecret(path);
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, "base64");
  // Not overwritten: everything encrypted with it would be lost. The operator must check it.
  if (bytes.length !== MASTER_KEY_BYTES) {
    throw new Error(`${path} does not hold 32 bytes in base64: restore it, or move it away to begin anew`);
  }
  return createSecretKey(bytes);
}

function newMasterKey(path: string): KeyObject {
  const bytes = randomBytes(MASTER_KEY_BYTES);
  saveSecret(path, bytes.toString("base64"));
  return createSecretKey(bytes);
}
