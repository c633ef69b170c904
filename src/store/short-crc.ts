/** CRC-32 of what is short, as zlib's: calling zlib takes more than summing up a hundred bytes. */
import { crc32 } from "node:zlib";

const POLYNOMIAL = 0xedb8_8320;

/** The sum of each byte, and of each byte with one, two and three zeros behind it. */
const TABLE = tables();

function tables(): Int32Array {
  const table = new Int32Array(1024);
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0);
    table[byte] = sum;
  }
  for (let at = 256; at < 1024; at++) {
    const before = table[at - 256] as number;
    table[at] = (before >>> 8) ^ (table[before & 0xff] as number);
  }
  return table;
}

/** Taken once: strings come in many kinds, and V8 would look the method up anew for each character. */
const { charCodeAt } = String.prototype;

/** Longer texts are summed up by zlib. */
const LONGEST = 128;

export function crcOfText(text: string): number {
  if (text === joined) return ~continued(~sumOfFirst, second) >>> 0;
  const { length } = text;
  if (length > LONGEST) return crc32(text);
  let sum = -1;
  for (let i = 0; i < length; i++) {
    const code = charCodeAt.call(text, i);
    if (code > 0x7f) return crc32(text);
    sum = (TABLE[(sum ^ code) & 0xff] as number) ^ (sum >>> 8);
  }
  return ~sum >>> 0;
}

/** The text that was joined last of two parts, the sum of the first, and the second, which is ASCII. */
let joined = "";
let sumOfFirst = 0;
let second = "";

/** The sum of this text will be asked for next, perhaps: of its two parts the sum of the first is known, and the second is short ASCII. */
export function noteJoined(text: string, firstSum: number, rest: string): void {
  joined = text;
  sumOfFirst = firstSum;
  second = rest;
}

function continued(from: number, text: string): number {
  let sum = from;
  for (let i = 0; i < text.length; i++)
    sum = (TABLE[(sum ^ charCodeAt.call(text, i)) & 0xff] as number) ^ (sum >>> 8);
  return sum;
}

/** The sum of one byte or more of a view. @param seed the sum of what is before them */
export function crcOfView(view: DataView, from: number, to: number, seed: number): number {
  let sum = ~seed;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    sum ^= view.getInt32(at, true);
    sum =
      (TABLE[768 + (sum & 0xff)] as number) ^
      (TABLE[512 + ((sum >>> 8) & 0xff)] as number) ^
      (TABLE[256 + ((sum >>> 16) & 0xff)] as number) ^
      (TABLE[sum >>> 24] as number);
  }
  for (; at < to; at++) sum = (TABLE[(sum ^ view.getUint8(at)) & 0xff] as number) ^ (sum >>> 8);
  return ~sum >>> 0;
}
