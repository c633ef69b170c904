/**
 * Memory for large bodies, shared between threads so that none copies them. The garbage collector does not count shared
 * memory: what is dropped would stay until something else fills the heap, which in a gateway takes hours.
 */

/**
 * For each shared memory, unshared buffers of the same size that are never written, so that they use only address
 * space: the collector counts them, runs accordingly, and frees both together. Memory that grew has several, one per
 * step: replacing them by one would turn the earlier ones into garbage, and a large upload would trigger a dozen
 * collections.
 */
const ballast = new WeakMap<SharedArrayBuffer, Ballast>();

interface Ballast {
  /** Total bytes of the buffers. */
  bytes: number;
  readonly parts: ArrayBuffer[];
}

/** New zeroed memory; untouched pages use no memory. @param maxBytes how far {@link grownMemory} may extend it. */
export function sharedMemory(bytes: number, maxBytes = bytes): Buffer {
  const memory = new SharedArrayBuffer(bytes, { maxByteLength: maxBytes });
  return counted(Buffer.from(memory, 0, bytes));
}

/** The same memory, larger and in place. @throws RangeError beyond its bound. */
export function grownMemory(memory: Buffer, bytes: number): Buffer {
  const shared = memory.buffer as ArrayBufferLike as SharedArrayBuffer;
  shared.grow(bytes);
  return counted(Buffer.from(shared, 0, bytes));
}

/** Concatenates the parts in new shared memory. */
export function sharedConcat(parts: readonly Uint8Array[]): Buffer {
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  const memory = sharedMemory(bytes);
  let filled = 0;
  for (const part of parts) {
    memory.set(part, filled);
    filled += part.length;
  }
  return memory;
}

/**
 * Must be called in each thread that receives the memory: each has its own collector. Unshared memory is counted
 * anyway.
 */
export function counted<T extends Uint8Array>(bytes: T): T {
  const { buffer } = bytes;
  if (!(buffer instanceof SharedArrayBuffer)) return bytes;
  const counting = ballast.get(buffer) ?? { bytes: 0, parts: [] };
  const more = buffer.byteLength - counting.bytes;
  if (more <= 0) return bytes;
  counting.parts.push(new ArrayBuffer(more, { maxByteLength: more }));
  counting.bytes += more;
  ballast.set(buffer, counting);
  return bytes;
}
