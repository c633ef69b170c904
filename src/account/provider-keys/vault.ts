/**
 * Encryption at rest: orgs' credentials are stored only encrypted (AES-256-GCM), bound to owner and row, with the
 * master key of the installation.
 */
import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomBytes } from "node:crypto";
import type { Installation } from "../../store/installation/installation.ts";

const CIPHER = "aes-256-gcm";
/** 96 random bits, the size GCM is designed for (NIST SP 800-38D, 8.2.2; sound for 2^32 encryptions with one key). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/**
 * Encrypted text: one byte that identifies the master key, the nonce, the ciphertext, the tag. The owner (org and row)
 * is authenticated too, so that the text cannot be decrypted for another row or org.
 */
export interface Vault {
  seal(text: string, owner: VaultOwner): Uint8Array;
  /** The text; undefined where no master key of this gateway decrypts it, or it was encrypted for another owner. */
  open(sealed: Uint8Array, owner: VaultOwner): string | undefined;
}

export interface VaultOwner {
  readonly orgId: string;
  readonly id: string;
}

export function openVault({ masterKeys }: Pick<Installation, "masterKeys">): Vault {
  const ring = masterKeys.map(numbered);
  return {
    seal: (text, owner) => seal(ring[0] as NumberedKey, text, owner),
    open(sealed, owner) {
      for (const key of ring) {
        const text = key.number === sealed[0] ? open(key, sealed, owner) : undefined;
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

interface NumberedKey {
  readonly number: number;
  readonly key: KeyObject;
}

/** A byte derived from the key itself: keys need no manual numbering, and a restored key is recognised. */
const numbered = (key: KeyObject): NumberedKey => ({
  number: createHmac("sha256", key).update("weir: which master key").digest()[0] as number,
  key,
});

const boundTo = ({ orgId, id }: VaultOwner): Buffer => Buffer.from(`${orgId}/${id}`);

function seal({ number, key }: NumberedKey, text: string, owner: VaultOwner): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(owner));
  const body = cipher.update(text, "utf8");
  const last = cipher.final();
  return Buffer.concat([Buffer.of(number), nonce, body, last, cipher.getAuthTag()]);
}

function open({ key }: NumberedKey, sealed: Uint8Array, owner: VaultOwner): string | undefined {
  const bytes = Buffer.from(sealed);
  if (bytes.length < HEAD_BYTES + TAG_BYTES) return undefined;
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(1, HEAD_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(owner)).setAuthTag(bytes.subarray(end));
  const body = decipher.update(bytes.subarray(HEAD_BYTES, end));
  try {
    return Buffer.concat([body, decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
