/** Runs of bytes in memory that is used again: of a read of an upstream, and of what is sent of it. */

/** Shorter runs are copied byte by byte: a call of Node's takes as long as some thirty of them. */
const SHORT = 32;

/** Copies bytes of `from` to `at` in `into`, which has the room. */
export function putRun(from: Buffer, start: number, end: number, into: Buffer, at: number): void {
  if (end - start > SHORT) {
    from.copy(into, at, start, end);
    return;
  }
  for (let i = start, to = at; i < end; i++, to++) into[to] = from[i] as number;
}

let viewed: Buffer = Buffer.alloc(0);
let view: DataView = new DataView(viewed.buffer, 0, 0);

/** A view on all of the memory. The last one is kept, as reads come to one memory: to make it takes longer than to read an event. */
export function viewOf(memory: Buffer): DataView {
  if (memory !== viewed) {
    viewed = memory;
    view = new DataView(memory.buffer, memory.byteOffset, memory.length);
  }
  return view;
}

const NUMBER_BYTES = 8;

/**
 * Whether bytes of two memories are the same, both being within them. They are compared as numbers of eight bytes, with one difference:
 * bytes that are no number equal none, and zero equals minus zero. Neither is text: those have no byte 0xff, and no eight bytes of zero.
 */
export function sameRun(one: DataView, at: number, other: DataView, from: number, length: number): boolean {
  if (length < NUMBER_BYTES) {
    for (let i = 0; i < length; i++) if (one.getUint8(at + i) !== other.getUint8(from + i)) return false;
    return true;
  }
  const last = length - NUMBER_BYTES;
  for (let i = 0; i < last; i += NUMBER_BYTES)
    if (one.getFloat64(at + i, true) !== other.getFloat64(from + i, true)) return false;
  return one.getFloat64(at + last, true) === other.getFloat64(from + last, true);
}
