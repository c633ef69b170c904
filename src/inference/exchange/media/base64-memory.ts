/**
 * Base64 of bytes that come in chunks, in memory that threads share: a picture of megabytes is encoded as it arrives, and neither
 * copied nor encoded as a whole. A small one has a plain buffer: the system allows a process only some ten thousand shared ones.
 */
import { grownMemory, sharedMemory } from "../../../base/shared-memory.ts";

const FIRST_BYTES = 4096;
/** More is shared. */
const MAX_PLAIN_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** Length of the base64 of so many bytes, padding included. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

export class Base64Memory {
  readonly #mostBytes: number;
  #memory: Buffer = NOTHING;
  #filled = 0;
  /** Up to two bytes that wait for the third. */
  #rest = NOTHING;

  /** @param maxBytes that are encoded at most */
  constructor(maxBytes: number) {
    this.#mostBytes = base64Length(maxBytes);
  }

  /** @throws RangeError beyond the bound */
  add(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    // A copy: the chunk's memory is larger.
    this.#rest = Buffer.from(bytes.subarray(whole));
    this.#write(bytes.subarray(0, whole));
  }

  /** The whole, after the last chunk. */
  end(): Buffer {
    this.#write(this.#rest);
    this.#rest = NOTHING;
    return this.#memory.subarray(0, this.#filled);
  }

  #write(bytes: Buffer): void {
    const filled = this.#filled + base64Length(bytes.length);
    if (filled > this.#memory.length) this.#grow(filled);
    this.#memory.write(bytes.toString("base64"), this.#filled, "latin1");
    this.#filled = filled;
  }

  #grow(filled: number): void {
    if (filled > this.#mostBytes) throw new RangeError("There are more bytes than were to come.");
    const wanted = Math.max(filled, this.#memory.length * 2, FIRST_BYTES);
    const size = Math.min(
      this.#mostBytes,
      filled > MAX_PLAIN_BYTES ? wanted : Math.min(wanted, MAX_PLAIN_BYTES),
    );
    if (this.#memory.length > MAX_PLAIN_BYTES) {
      this.#memory = grownMemory(this.#memory, size);
      return;
    }
    // Not of the pool: a buffer is copied to a thread with all that it is a part of.
    const memory = size > MAX_PLAIN_BYTES ? sharedMemory(size, this.#mostBytes) : Buffer.alloc(size);
    memory.set(this.#memory.subarray(0, this.#filled));
    this.#memory = memory;
  }
}
