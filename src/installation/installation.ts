/**
 * What belongs to the installation and not to a data folder: every process of an installation has the same, whatever folder it works
 * on. All of it comes from here or follows from what is here:
 *
 * - the master key, from the environment or a file of the data folder: it seals what orgs entrust to us (`account/vault.ts`);
 * - the secret that cursors are authenticated with: derived from the master key;
 * - the ids of price versions: made of their content (`catalog/price-versions.ts`), so that nobody has to agree on them;
 * - the first org: made once, at the first start on an empty store (`account/first-start.ts`), with all that belongs to it.
 */
import { hkdfSync, type KeyObject } from "node:crypto";
import { type MasterKeyOptions, readMasterKeys } from "./master-key.ts";

const SECRET_BYTES = 32;

export interface Installation {
  /** The first one seals; each opens what it sealed. */
  readonly masterKeys: readonly [KeyObject, ...KeyObject[]];
  /** 32 bytes for one purpose, the same in each process; nothing follows from them for another purpose (HKDF, RFC 5869). */
  secret(purpose: "cursors"): Uint8Array;
}

/**
 * Call it once the data folder is this process's own (`openStore` claims it). A master key that it makes is on disk before
 * this returns.
 * @throws Error with a line for the operator where the file holds no key.
 */
export function openInstallation(options: MasterKeyOptions): Installation {
  const masterKeys = readMasterKeys(options);
  return {
    masterKeys,
    secret: (purpose) =>
      new Uint8Array(hkdfSync("sha256", masterKeys[0], "", `weir: ${purpose}`, SECRET_BYTES)),
  };
}
