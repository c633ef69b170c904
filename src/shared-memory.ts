/**
 * Memory for large bodies, shared between threads so that none copies them. The collector does not count shared memory: what
 * a gateway drops of it would stay until something else fills the heap, which a gateway does not do for hours.
 */

/**
 * Of each shared memory a twin that is never written to, so that it takes room on paper only: the collector counts it, looks
 * for garbage accordingly, and finds both at once.
 */
const twins = new WeakMap<ArrayBufferLike, ArrayBuffer>();

/**
 * New memory, all zeros; what is not written to takes no room.
 * @param maxBytes how far {@link grownMemory} may go.
 */
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

/** One after the other, in memory of their own. */
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

/** Must be called in each thread that gets the memory: each has a collector of its own. Other memory is counted anyway. */
export function counted<T extends Uint8Array>(bytes: T): T {
  const { buffer } = bytes;
  if (buffer instanceof SharedArrayBuffer && twins.get(buffer)?.byteLength !== buffer.byteLength) {
    const { byteLength } = buffer;
    twins.set(buffer, new ArrayBuffer(byteLength, { maxByteLength: byteLength }));
  }
  return bytes;
}
