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
 * A text to find in memory: its bytes as numbers of eight bytes each, of which the last two may overlap, or of one byte each if there are
 * fewer than eight. Numbers in a list are read faster than those of other memory.
 */
export interface KnownRun {
  readonly length: number;
  readonly numbers: readonly number[];
}

/** @param text latin1, without the characters 0 and 255: bytes that are no number equal none, and zero equals minus zero */
export function knownRun(text: string): KnownRun {
  const { length } = text;
  if (length < NUMBER_BYTES) return { length, numbers: Array.from(text, (c) => c.charCodeAt(0)) };
  const bytes = Buffer.from(text, "latin1");
  const numbers: number[] = [];
  const last = length - NUMBER_BYTES;
  for (let i = 0; i < last; i += NUMBER_BYTES) numbers.push(bytes.readDoubleLE(i));
  numbers.push(bytes.readDoubleLE(last));
  return { length, numbers };
}

/** Whether the text is in memory from `at` on. The memory must have as many bytes there. */
export function hasRun(memory: DataView, at: number, { length, numbers }: KnownRun): boolean {
  if (length < NUMBER_BYTES) {
    for (let i = 0; i < length; i++) if (memory.getUint8(at + i) !== numbers[i]) return false;
    return true;
  }
  const last = numbers.length - 1;
  let i = 0;
  let from = at;
  for (; i + 1 < last; i += 2, from += 2 * NUMBER_BYTES) {
    if (memory.getFloat64(from, true) !== numbers[i]) return false;
    if (memory.getFloat64(from + NUMBER_BYTES, true) !== numbers[i + 1]) return false;
  }
  if (i < last && memory.getFloat64(from, true) !== numbers[i]) return false;
  return memory.getFloat64(at + length - NUMBER_BYTES, true) === numbers[last];
}
