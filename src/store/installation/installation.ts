/**
 * State of the installation, not of a data folder: it is the same in every process of an installation, whatever its
 * folder. All of it is defined here or derived from it:
 * - the master key, from the environment or a file of the data folder: it encrypts orgs' credentials
 *   (`account/provider-keys/vault.ts`);
 * - the secrets that authenticate cursors and protect console sessions, and a cell's operator key and secret of the first owner: derived
 *   from the master key;
 * - each org's secret, by which values of its requests are replaced where an upstream would refuse them: derived from the master
 *   key and the org's id, so that a value is replaced by the same one in every process and after a restart;
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
  /** 32 bytes of one org, equal in every process and independent of those of other orgs. Derived once and kept. */
  orgSecret(orgId: string): Uint8Array;
}

/**
 * Call after `openStore` has claimed the data folder. A new master key is on disk before this returns.
 * @throws Error with a line for the operator where the file contains no key.
 */
export function openInstallation(options: MasterKeyOptions): Installation {
  const masterKeys = readMasterKeys(options);
  const secret = (purpose: string) =>
    new Uint8Array(hkdfSync("sha256", masterKeys[0], "", `weir: ${purpose}`, SECRET_BYTES));
  return { masterKeys, secret, orgSecret: keptByOrg((orgId) => secret(`org ${orgId}`)) };
}

/** No more are kept, so that the number of orgs does not decide how much memory they take. */
const MOST_KEPT = 10_000;

function keptByOrg(derive: (orgId: string) => Uint8Array): (orgId: string) => Uint8Array {
  const known = new Map<string, Uint8Array>();
  return (orgId) => {
    const kept = known.get(orgId);
    if (kept !== undefined) return kept;
    if (known.size >= MOST_KEPT) known.clear();
    const derived = derive(orgId);
    known.set(orgId, derived);
    return derived;
  };
}
