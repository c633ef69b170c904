/**
 * State of the installation, not of a data folder: it is the same in every process of an installation, whatever its
 * folder. All of it is defined here or derived from it:
 * - the master key, from the environment or a file of the data folder: it encrypts orgs' credentials
 *   (`account/provider-keys/vault.ts`);
 * - the secrets that authenticate cursors and protect console sessions, and a cell's operator key and secret of the first owner: derived
 *   from the master key;
 * - the ids of price versions: derived from their content (`catalog/models/price-versions.ts`), so that processes need not
 *   coordinate;
 * - the first org: created once, at the first start on an empty store (`account/first-start.ts`), with all that belongs
 *   to it.
 */
import { hkdfSync, type KeyObject } from "node:crypto";
import { type MasterKeyOptions, readMasterKeys } from "./master-key.ts";

const SECRET_BYTES = 32;

export interface Installation {
  /** The first key encrypts; each decrypts what it encrypted. */
  readonly masterKeys: readonly [KeyObject, ...KeyObject[]];
  /** 32 bytes for one purpose, equal in every process and independent of those for other purposes (HKDF, RFC 5869). */
  secret(purpose: "cursors" | "csrf" | "first-owner" | "login" | "operator"): Uint8Array;
}

/**
 * Call after `openStore` has claimed the data folder. A new master key is on disk before this returns.
 * @throws Error with a line for the operator where the file contains no key.
 */
export function openInstallation(options: MasterKeyOptions): Installation {
  const masterKeys = readMasterKeys(options);
  return {
    masterKeys,
    secret: (purpose) =>
      new Uint8Array(hkdfSync("sha256", masterKeys[0], "", `weir: ${purpose}`, SECRET_BYTES)),
  };
}
