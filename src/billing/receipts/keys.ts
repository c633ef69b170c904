/**
 * The keys that sign receipts: Ed25519, one that signs and all that ever did. The private half is stored encrypted with the
 * master key and overwritten at a rotation, so a master key that leaks later signs no receipt of an earlier time. Public halves
 * stay for good: a receipt must verify as long as somebody keeps it.
 */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from "jose";
import type { Vault } from "../../account/provider-keys/vault.ts";
import type { Clock } from "../../base/clock.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Store, Table } from "../../store/store.ts";

/** RFC 8037; `EdDSA` is what libraries of today know, RFC 9864's `Ed25519` is not yet. */
export const RECEIPT_ALG = "EdDSA";

/** A key signs for a year, then the next receipt is signed by a new one. */
export const ROTATE_AFTER_MS = 365 * DAY_MS;
/** After a rotation that was asked for, another one waits: so no script fills the list of keys. */
export const LEAST_AGE_MS = 60_000;

/** A public key as published, RFC 7517 and RFC 8037. */
export interface PublicKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** Base64url, 32 bytes. */
  readonly x: string;
  /** Thumbprint, RFC 7638. */
  readonly kid: string;
  readonly alg: typeof RECEIPT_ALG;
  readonly use: "sig";
}

interface KeyRow {
  readonly kid: string;
  readonly x: string;
  readonly createdAtMs: number;
  /** From when on another one signed; null while it signs. */
  readonly retiredAtMs: number | null;
}

interface SigningRow {
  readonly kid: string;
  readonly sealed: Uint8Array;
  readonly createdAtMs: number;
}

export interface Signer {
  readonly kid: string;
  readonly key: Awaited<ReturnType<typeof importJWK>>;
  readonly createdAtMs: number;
}

export interface ReceiptKeysDeps {
  readonly store: Pick<Store, "act" | "table" | "forgetRemoved">;
  readonly clock: Clock;
  readonly vault: Vault;
  /** Told where the stored key cannot be decrypted any more: another one is made. */
  readonly onNotice: (line: string) => void;
}

const CURRENT = ["current"];
const ownerOf = (kid: string) => ({ orgId: "", id: `receipts/${kid}` });

export class ReceiptKeys {
  readonly #deps: ReceiptKeysDeps;
  readonly #keys: Table<KeyRow>;
  readonly #signing: Table<SigningRow>;
  #signer: Promise<Signer> | undefined;

  constructor(deps: ReceiptKeysDeps) {
    this.#deps = deps;
    this.#keys = deps.store.table("receipts.keys");
    this.#signing = deps.store.table("receipts.signing");
  }

  /** The key that signs now; made where there is none, replaced where it is a year old. */
  async signer(): Promise<Signer> {
    const signer = await this.#known();
    if (this.#deps.clock.now() - signer.createdAtMs < ROTATE_AFTER_MS) return signer;
    return await this.rotate(signer.kid);
  }

  /** A new key signs from now on. @param kid of the one to be replaced: asked by many at once, it is replaced once */
  async rotate(kid: string): Promise<Signer> {
    const asked = this.#known();
    const known = await asked;
    if (known.kid !== kid) return known;
    // Another one rotated meanwhile.
    if (this.#signer !== asked) return await this.#known();
    const signer = await this.#remembered(this.#make());
    // The private half of before leaves the files, not only the table.
    await this.#deps.store.forgetRemoved();
    return signer;
  }

  /** All that ever signed, the newest first. */
  published(): PublicKey[] {
    const rows = Array.from(this.#keys.range({}), ({ value }) => value);
    return rows
      .sort((a, b) => b.createdAtMs - a.createdAtMs)
      .map(({ kid, x }) => ({ kty: "OKP", crv: "Ed25519", x, kid, alg: RECEIPT_ALG, use: "sig" }));
  }

  #known(): Promise<Signer> {
    return this.#signer ?? this.#remembered(this.#load());
  }

  /** Forgotten again where it fails. */
  #remembered(signer: Promise<Signer>): Promise<Signer> {
    this.#signer = signer;
    signer.catch(() => {
      if (this.#signer === signer) this.#signer = undefined;
    });
    return signer;
  }

  async #load(): Promise<Signer> {
    const { vault, onNotice } = this.#deps;
    const row = this.#signing.get(CURRENT);
    if (row === undefined) return await this.#make();
    const text = vault.open(row.sealed, ownerOf(row.kid));
    if (text === undefined) {
      onNotice("the key that signs receipts cannot be decrypted with this master key: another one is made");
      return await this.#make();
    }
    return {
      kid: row.kid,
      key: await importJWK(JSON.parse(text), RECEIPT_ALG),
      createdAtMs: row.createdAtMs,
    };
  }

  async #make(): Promise<Signer> {
    const { store, clock, vault } = this.#deps;
    const pair = await generateKeyPair(RECEIPT_ALG, { crv: "Ed25519", extractable: true });
    const [jwk, { x = "" }] = [await exportJWK(pair.privateKey), await exportJWK(pair.publicKey)];
    const kid = await calculateJwkThumbprint({ kty: "OKP", crv: "Ed25519", x });
    const createdAtMs = clock.now();
    const sealed = vault.seal(JSON.stringify(jwk), ownerOf(kid));
    await store.act(() => {
      const before = this.#keys.get([this.#signing.get(CURRENT)?.kid ?? ""]);
      if (before !== undefined) this.#keys.put([before.kid], { ...before, retiredAtMs: createdAtMs });
      this.#keys.put([kid], { kid, x, createdAtMs, retiredAtMs: null });
      this.#signing.put(CURRENT, { kid, sealed, createdAtMs });
    });
    return { kid, key: await importJWK(jwk, RECEIPT_ALG), createdAtMs };
  }
}
