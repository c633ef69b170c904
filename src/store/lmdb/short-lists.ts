/**
 * Rows that are lists of numbers and short texts, such as the ledger's entries: as MessagePack, byte for byte what msgpackr makes of
 * them, in a third of the instructions. They are written into slabs: a buffer for each row would cost more than to write it.
 */

/** A row holds its slab in memory until LMDB has it, a tenth of a second later. */
const SLAB_BYTES = 64 * 1024;
let buffer = new ArrayBuffer(0);
let slab = new Uint8Array(buffer);
let view = new DataView(buffer);
let used = 0;

/** Longer lists and texts are left to msgpackr. */
const MOST_PARTS = 15;
const LONGEST_TEXT = 63;
/** The most that a list takes: its head, and for each part a head and a text or a double. */
const MOST_BYTES = 1 + MOST_PARTS * (2 + LONGEST_TEXT);

/** Taken once: strings come in many kinds, and V8 would look the method up anew for each character. */
const { charCodeAt } = String.prototype;

/** A row that is being written: `seal` takes the bytes between. */
interface Written {
  readonly view: DataView;
  /** Where the space before the list begins. */
  readonly from: number;
  readonly to: number;
}

const written = { view, from: 0, to: 0 };

/**
 * Writes a list with space before it. @returns where, in one object for all of them; undefined for a value that is no list of such parts
 * @param space bytes before the list
 */
export function writeList(value: unknown, space: number): Written | undefined {
  if (!Array.isArray(value) || value.length > MOST_PARTS) return undefined;
  if (used + space + MOST_BYTES > slab.length) {
    buffer = new ArrayBuffer(SLAB_BYTES);
    slab = new Uint8Array(buffer);
    view = new DataView(buffer);
    used = 0;
  }
  let at = used + space;
  view.setUint8(at++, 0x90 | value.length);
  for (let i = 0; i < value.length; i++) {
    const part: unknown = value[i];
    if (typeof part === "number") at = writeNumber(part, at);
    else if (typeof part === "string") at = writeText(part, at);
    else return undefined;
    if (at < 0) return undefined;
  }
  written.view = view;
  written.from = used;
  written.to = at;
  return written;
}

/** The bytes of the list that was just written, and the space before it: nothing is written there again. */
export function takeWritten(): Uint8Array {
  const { from, to } = written;
  used = to;
  return new Uint8Array(buffer, from, to - from);
}

function writeNumber(value: number, at: number): number {
  if (value >>> 0 === value) return writeUnsigned(value, at);
  if (value >> 0 === value) return writeNegative(value, at);
  view.setUint8(at, 0xcb);
  view.setFloat64(at + 1, value);
  return at + 9;
}

function writeUnsigned(value: number, at: number): number {
  if (value < 0x80) {
    view.setUint8(at, value);
    return at + 1;
  }
  if (value < 0x100) {
    view.setUint8(at, 0xcc);
    view.setUint8(at + 1, value);
    return at + 2;
  }
  if (value < 0x1_0000) {
    view.setUint8(at, 0xcd);
    view.setUint16(at + 1, value);
    return at + 3;
  }
  view.setUint8(at, 0xce);
  view.setUint32(at + 1, value);
  return at + 5;
}

function writeNegative(value: number, at: number): number {
  if (value >= -0x20) {
    view.setInt8(at, value);
    return at + 1;
  }
  if (value >= -0x80) {
    view.setUint8(at, 0xd0);
    view.setInt8(at + 1, value);
    return at + 2;
  }
  if (value >= -0x8000) {
    view.setUint8(at, 0xd1);
    view.setInt16(at + 1, value);
    return at + 3;
  }
  view.setUint8(at, 0xd2);
  view.setInt32(at + 1, value);
  return at + 5;
}

/** @returns -1 for a text that is long or has characters beyond ASCII */
function writeText(part: string, at: number): number {
  const text = `${part}`;
  const { length } = text;
  if (length > LONGEST_TEXT) return -1;
  let to = at;
  if (length < 0x20) slab[to++] = 0xa0 | length;
  else {
    slab[to++] = 0xd9;
    slab[to++] = length;
  }
  for (let i = 0; i < length; i++) {
    const code = charCodeAt.call(text, i);
    if (code > 0x7f) return -1;
    slab[to++] = code;
  }
  return to;
}
