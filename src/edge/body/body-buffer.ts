/**
 * Assembles a body from its chunks. Its memory grows with the bytes that have arrived; the request's `Content-Length`
 * only bounds it.
 */
import { fail, type WeirError } from "../../base/errors.ts";
import { grownMemory, sharedMemory } from "../../base/shared-memory.ts";
import type { BodyShare } from "./body-budget.ts";

const EMPTY = Buffer.alloc(0);
/** Small bodies share slabs: a separate allocation costs more than the rest of reading one. */
const SLAB_BYTES = 256 * 1024;
let slab: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
let slabUsed = 0;
const FIRST_BYTES = SLAB_BYTES / 16;

export class BodyBuffer {
  readonly #maxBytes: number;
  readonly #share: BodyShare;
  #bytes: Buffer = EMPTY;
  #filled = 0;

  /**
   * @param announced `Content-Length` in bytes; -1 where unknown.
   * @param share budget that the memory is taken from
   * @throws WeirError 429 `concurrency`
   */
  constructor(announced: number, maxBytes: number, share: BodyShare) {
    this.#maxBytes = announced >= 0 ? Math.min(announced, maxBytes) : maxBytes;
    this.#share = share;
    if (announced > 0 && announced <= FIRST_BYTES) {
      share.take(announced);
      this.#bytes = slabFor(announced);
    }
  }

  /** Bytes so far. */
  get filled(): number {
    return this.#filled;
  }

  /** False where the body would exceed its limit. @throws WeirError 429 `concurrency` */
  add(piece: Uint8Array): boolean {
    const filled = this.#filled + piece.length;
    if (filled > this.#maxBytes) return false;
    if (filled > this.#bytes.length) this.#grow(filled);
    this.#bytes.set(piece, this.#filled);
    this.#filled = filled;
    return true;
  }

  whole(): Buffer {
    return this.#filled === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#filled);
  }

  /** Small buffers double, so that copying stays proportional; large ones grow in place, by a quarter. */
  #grow(needed: number): void {
    const old = this.#bytes;
    const factor = old.length > SLAB_BYTES ? 1.25 : 2;
    const size = Math.min(this.#maxBytes, Math.max(needed, Math.ceil(old.length * factor), FIRST_BYTES));
    this.#share.take(size - old.length);
    if (old.length > SLAB_BYTES) {
      this.#bytes = grownMemory(old, size);
      return;
    }
    // Large bodies are parsed in a worker thread: shared memory need not be copied to it.
    this.#bytes = size > SLAB_BYTES ? sharedMemory(size, this.#maxBytes) : Buffer.allocUnsafeSlow(size);
    old.copy(this.#bytes, 0, 0, this.#filled);
  }
}

function slabFor(bytes: number): Buffer {
  if (slabUsed + bytes > SLAB_BYTES) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    slabUsed = 0;
  }
  slabUsed += bytes;
  return slab.subarray(slabUsed - bytes, slabUsed);
}

export const tooLarge = (maxBytes: number, when = ""): WeirError =>
  fail("payload_too_large", `The body is larger than ${maxBytes} bytes${when}.`, {
    details: { max_bytes: maxBytes },
  });
