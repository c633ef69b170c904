/**
 * Memory for large bodies, shared between threads so that none copies them. The collector does not count shared memory: what
 * a gateway drops of it would stay until something else fills the heap, which a gateway does not do for hours.
 */

/**
 * For each shared memory as many bytes that nobody writes to, so that they take room on paper only: the collector counts them,
 * looks for garbage accordingly, and finds both at once. A memory that grew has several: one anew, for all of its bytes, would make
 * garbage of those before, and a large upload would have the collector search the heap a dozen times.
 */
const twins = new WeakMap<SharedArrayBuffer, Twins>();

interface Twins {
  /** Of all of them. */
  bytes: number;
  readonly parts: ArrayBuffer[];
}

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
  if (!(buffer instanceof SharedArrayBuffer)) return bytes;
  const counting = twins.get(buffer) ?? { bytes: 0, parts: [] };
  const more = buffer.byteLength - counting.bytes;
  if (more <= 0) return bytes;
  counting.parts.push(new ArrayBuffer(more, { maxByteLength: more }));
  counting.bytes += more;
  twins.set(buffer, counting);
  return bytes;
}
