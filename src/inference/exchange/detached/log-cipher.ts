/**
 * Encryption of the logs of detached calls: AES-256-GCM with a key of each call, which is derived from the installation's master key. The
 * nonce of a part is the number of its first event and some random bytes: a part that a kill tore off the journal, and one that a start
 * puts in its place, share the number.
 */
import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomFillSync } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Which master key it is: as the vault of provider keys tells its keys apart, by a byte that is derived from the key. */
const MARK_BYTES = 1;
const SALT_BYTES = 6;
const NUMBER_BYTES = NONCE_BYTES - SALT_BYTES;
const HEAD_BYTES = MARK_BYTES + SALT_BYTES;
/** What a part takes beside its events. */
export const SEAL_BYTES = HEAD_BYTES + TAG_BYTES;

export interface LogCipher {
  /** @param first number of the first event in `bytes` */
  seal(first: number, bytes: Uint8Array): Uint8Array;
  /** Undefined where no master key of this gateway opens it. */
  open(first: number, sealed: Uint8Array): Buffer | undefined;
}

/** @param masterKeys the first encrypts; each opens what it encrypted */
export function logCiphers(masterKeys: readonly [KeyObject, ...KeyObject[]]): (callId: string) => LogCipher {
  const masters = masterKeys.map((key) => ({ key, mark: markOf(key) }));
  return (callId) => {
    const keys = masters.map(({ key, mark }) => ({ mark, key: callKey(key, callId) }));
    return {
      seal: (first, bytes) => seal(keys[0] as CallKey, first, bytes),
      open(first, sealed) {
        for (const key of keys) {
          const bytes = key.mark === sealed[0] ? open(key, first, sealed) : undefined;
          if (bytes !== undefined) return bytes;
        }
        return undefined;
      },
    };
  };
}

interface CallKey {
  readonly mark: number;
  readonly key: Buffer;
}

const markOf = (master: KeyObject): number =>
  createHmac("sha256", master).update("weir: which key of logs").digest()[0] as number;

const callKey = (master: KeyObject, callId: string): Buffer =>
  createHmac("sha256", master).update(`weir: log of call ${callId}`).digest();

/** Salts of parts to come: random bytes are a system call, and a part is sealed some times a second for each call that runs. */
const salts = Buffer.alloc(SALT_BYTES * 1024);
let saltsUsed = salts.length;

function nextSalt(): Buffer {
  if (saltsUsed === salts.length) {
    randomFillSync(salts);
    saltsUsed = 0;
  }
  saltsUsed += SALT_BYTES;
  return salts.subarray(saltsUsed - SALT_BYTES, saltsUsed);
}

function nonceOf(first: number, salt: Uint8Array): Buffer {
  const nonce = Buffer.allocUnsafe(NONCE_BYTES);
  nonce.set(salt);
  nonce.writeUIntBE(first, SALT_BYTES, NUMBER_BYTES);
  return nonce;
}

function seal({ mark, key }: CallKey, first: number, bytes: Uint8Array): Uint8Array {
  const salt = nextSalt();
  const cipher = createCipheriv(CIPHER, key, nonceOf(first, salt));
  const body = cipher.update(bytes);
  cipher.final();
  return Buffer.concat([Buffer.of(mark), salt, body, cipher.getAuthTag()]);
}

function open({ key }: CallKey, first: number, sealed: Uint8Array): Buffer | undefined {
  const end = sealed.length - TAG_BYTES;
  if (end < HEAD_BYTES) return undefined;
  const nonce = nonceOf(first, sealed.subarray(MARK_BYTES, HEAD_BYTES));
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(end));
  const body = decipher.update(sealed.subarray(HEAD_BYTES, end));
  try {
    decipher.final();
    return body;
  } catch {
    return undefined;
  }
}
