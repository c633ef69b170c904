/**
 * Keys of LMDB as bytes: what the lmdb package writes for a key, quicker for the keys of rows that each call writes. The package looks
 * `charCodeAt` up anew for each character of strings of many kinds, which was two fifths of a row on its way to LMDB.
 */
import type { Key } from "lmdb";

/** The view is the package's own; it makes it with the first key. */
type Target = Uint8Array & { readonly dataView?: DataView };
export type WriteKey = (key: Key, target: Target, position: number, inSequence?: boolean) => number;

/** Taken once: see above. */
const { charCodeAt } = String.prototype;

/** Lower characters are written with an escape, and so are texts that begin with others of them. */
const LEAST_PLAIN = 28;
/** The package writes longer texts with an encoder. */
const LONGEST_PLAIN = 63;

const float = new Float64Array(1);
const halves = new Int32Array(float.buffer);

/** @param others the package's own function, for all other keys. @returns a function that writes the same bytes as that */
export const quickKeys =
  (others: WriteKey): WriteKey =>
  (key, target, position, inSequence) => {
    const view = target.dataView;
    if (view === undefined || inSequence === true || !Array.isArray(key) || key.length !== 2)
      return others(key, target, position, inSequence);
    const afterFirst = plainText(key[0], target, position);
    if (afterFirst < 0) return others(key, target, position);
    target[afterFirst] = 0;
    const second: unknown = key[1];
    const end =
      typeof second === "number"
        ? positive(second, view, afterFirst + 1)
        : plainText(second, target, afterFirst + 1);
    if (end < 0) return others(key, target, position);
    // LMDB compares four bytes at a time.
    view.setUint32(end, 0);
    return end;
  };

/** @returns the position behind it; -1 where it is no short text of plain characters */
function plainText(part: unknown, target: Uint8Array, position: number): number {
  if (typeof part !== "string") return -1;
  const text = `${part}`;
  const { length } = text;
  if (length === 0 || length > LONGEST_PLAIN || position + length > target.length) return -1;
  for (let i = 0; i < length; i++) {
    const code = charCodeAt.call(text, i);
    if (code < LEAST_PLAIN || code > 0x7f) return -1;
    target[position + i] = code;
  }
  return position + length;
}

/** A number is written as its double, after a head of four bits, with its last bits in a byte of their own. */
function positive(value: number, view: DataView, position: number): number {
  if (!(value >= 0)) return -1;
  float[0] = value;
  const [low, high] = [halves[0] as number, halves[1] as number];
  view.setInt32(position, (high >>> 4) | 0x1000_0000);
  view.setInt32(position + 4, (low >>> 4) | (high << 28));
  view.setInt32(position + 8, (low & 0xf) << 4, true);
  return position + 9;
}
