/**
 * One file of the journal, as bytes. All numbers are little-endian.
 *
 * - Head (`HEADER_BYTES`): "weir-jnl", version (u32), salt (u32), number of the segment (f64), number of the newest
 *   frame before it (f64), size of the file (f64), crc32 of all that (u32). The file has its full size from the start,
 *   so that truncation is detected.
 * - Frame: length of the payload (u32), sum of the payload with the salt as its seed (u32), payload, whose first
 *   eight bytes are the number of the frame (f64; numbers have no gaps). The salt prevents clients from forging frames
 *   within the data they send.
 * - Tail (`TAIL_BYTES`), after the newest frame: a mark and the number of the newest frame, repeated for more than a
 *   page: without any one page of it, two units in a row remain. The next frame overwrites it. So the loss of the newest frames is detected: a mark remains that names a later
 *   frame than the last readable one.
 * - End mark: like a frame, with the highest bit of the length set; its payload is the number of the next segment (f64)
 *   and that of the newest frame (f64). It is written once the next file exists.
 *
 * Version 1 had neither head nor tail nor end mark, its salt was 0, and its files grew with their frames. In it and in version 2 a sum
 * was a crc32. Both are still read.
 */
import { crc32 } from "node:zlib";
import { LaterRelease } from "../tables/later-release.ts";
import { sumOf } from "./sum.ts";

export const HEADER_BYTES = 48;
/** Space for length and checksum before a payload. */
export const HEAD_BYTES = 8;
/** Space for the tail after a payload: more than a page of 4 KiB and a unit, wherever the frame ends. */
export const TAIL_BYTES = 4096 + 64;
/** Size of an end mark. */
export const END_BYTES = HEAD_BYTES + 16;

const MAGIC = Buffer.from("weir-jnl");
const VERSION = 3;
type Version = 1 | 2 | 3;

/** What the frames of a file are sealed with. */
interface Seal {
  readonly version: Version;
  readonly salt: number;
}
const END_FLAG = 0x8000_0000;
/** Maximum length of a frame; a greater length is damage. */
const LONGEST_FRAME = 0x4000_0000;
const UNIT_BYTES = 16;
/** After damage, a frame's number is at most this much above the last readable one. */
const NUMBERS_AHEAD = 10_000_000;
/**
 * Limit of bytes checked by the search after damage, as a multiple of the file size: client data may look like frame
 * heads.
 */
const SEARCH_FACTOR = 16;

export interface SegmentHead {
  readonly salt: number;
  readonly number: number;
  /** The number of the newest frame before this segment. */
  readonly base: number;
  /** Bytes of the whole file. */
  readonly size: number;
}

export interface SegmentEnd {
  readonly next: number;
  readonly newest: number;
}

/** What follows the first unreadable position. */
interface BadPlace {
  /** Its offset in the file. */
  readonly byte: number;
  /** Bytes from there to the last written one. */
  readonly bytes: number;
  /** Readable frames after it; almost always exactly the committed ones. */
  readonly behind: readonly Buffer[];
  /** The highest frame number found after it; that of the last readable frame before it where there is none. */
  readonly reached: number;
}

export interface SegmentContent {
  readonly version: Version;
  /** Undefined for version 1. */
  readonly head: SegmentHead | undefined;
  /** Payloads, oldest first, without gaps in their numbers. */
  readonly frames: readonly Buffer[];
  readonly end: SegmentEnd | undefined;
  /** Set where the file, after `frames`, neither ends properly nor continues with zeros only. */
  readonly bad: BadPlace | undefined;
}

export const frameNumber = (frame: Buffer): number => frame.readDoubleLE(0);

/** Contents of a new file: its head and the first tail. */
export function newSegment(head: SegmentHead): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + TAIL_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeUInt32LE(head.salt, 12);
  bytes.writeDoubleLE(head.number, 16);
  bytes.writeDoubleLE(head.base, 24);
  bytes.writeDoubleLE(head.size, 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40);
  bytes.fill(tailUnit(head.salt, head.base), HEADER_BYTES);
  return bytes;
}

/** Fills in head and tail of a payload that has `HEAD_BYTES` of space before and `TAIL_BYTES` after it. */
export function sealFrame(frame: Buffer, salt: number, unit: Buffer, number: number): void {
  const end = frame.length - TAIL_BYTES;
  frame.writeUInt32LE(end - HEAD_BYTES, 0);
  frame.writeUInt32LE(sumOf(frame.subarray(HEAD_BYTES, end), salt), 4);
  unit.writeDoubleLE(number, 8);
  frame.fill(unit, end);
}

/** The unit that the tail of a segment with this salt repeats. */
export function tailUnit(salt: number, number: number): Buffer {
  const unit = Buffer.alloc(UNIT_BYTES);
  // Both halves depend on the salt, so that nobody can forge it without knowing the salt.
  unit.writeUInt32LE(crc32("weir", salt), 0);
  unit.writeUInt32LE(crc32("tail", salt), 4);
  unit.writeDoubleLE(number, 8);
  return unit;
}

export function endMark(salt: number, { next, newest }: SegmentEnd): Buffer {
  const mark = Buffer.alloc(END_BYTES);
  mark.writeDoubleLE(next, HEAD_BYTES);
  mark.writeDoubleLE(newest, HEAD_BYTES + 8);
  mark.writeUInt32LE((END_FLAG | 16) >>> 0, 0);
  mark.writeUInt32LE(sumOf(mark.subarray(HEAD_BYTES), salt), 4);
  return mark;
}

/** Reads a whole file. Returns undefined where the head is unreadable: no frame of the file can be trusted. */
export function readSegment(bytes: Buffer): SegmentContent | undefined {
  if (isVersion1(bytes)) return readFrames(bytes, { version: 1, salt: 0 }, 0);
  const found = readHead(bytes);
  if (found === undefined) return undefined;
  const { version, head } = found;
  return readFrames(bytes, { version, salt: head.salt }, HEADER_BYTES, head);
}

/** Whether the file was never written: its creation was interrupted. */
export const isBlank = (bytes: Buffer): boolean => written(bytes, 0) === 0;

/**
 * Version 1 has no magic: its file begins with a readable frame. If that frame is damaged, nothing of the file can be
 * read.
 */
function isVersion1(bytes: Buffer): boolean {
  if (bytes.length < HEAD_BYTES || bytes.subarray(0, MAGIC.length).equals(MAGIC)) return false;
  const length = bytes.readUInt32LE(0);
  if (length === 0 || length > bytes.length - HEAD_BYTES) return false;
  return crc32(bytes.subarray(HEAD_BYTES, HEAD_BYTES + length)) === bytes.readUInt32LE(4);
}

function readHead(bytes: Buffer): { readonly version: 2 | 3; readonly head: SegmentHead } | undefined {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const version = bytes.readUInt32LE(8);
  if (bytes.readUInt32LE(40) !== crc32(bytes.subarray(0, 40))) return undefined;
  if (version > VERSION) throw new LaterRelease(`a file of version ${version}`, "journal");
  if (version !== 2 && version !== 3) return undefined;
  const head = {
    salt: bytes.readUInt32LE(12),
    number: bytes.readDoubleLE(16),
    base: bytes.readDoubleLE(24),
    size: bytes.readDoubleLE(32),
  };
  return { version, head };
}

function readFrames(bytes: Buffer, seal: Seal, first: number, head?: SegmentHead): SegmentContent {
  const { version } = seal;
  const frames: Buffer[] = [];
  let newest = head?.base;
  for (let at = first; ; ) {
    const payload = payloadAt(bytes, at, seal);
    if (payload === undefined) {
      const bad = badPlace(bytes, at, seal, newest ?? 0);
      return { version, head, frames, end: undefined, bad };
    }
    if (isEnd(bytes, at)) {
      const end = { next: payload.readDoubleLE(0), newest: payload.readDoubleLE(8) };
      return { version, head, frames, end, bad: undefined };
    }
    const number = frameNumber(payload);
    if (newest !== undefined && number !== newest + 1) {
      const bad = badPlace(bytes, at, seal, newest);
      return { version, head, frames, end: undefined, bad };
    }
    frames.push(payload);
    newest = number;
    at += HEAD_BYTES + payload.length;
  }
}

const isEnd = (bytes: Buffer, at: number): boolean => (bytes.readUInt32LE(at) & END_FLAG) !== 0;

/** The payload of the frame or end mark at this offset; undefined where there is none. */
function payloadAt(bytes: Buffer, at: number, { version, salt }: Seal): Buffer | undefined {
  if (at + HEAD_BYTES > bytes.length) return undefined;
  const length = (bytes.readUInt32LE(at) & ~END_FLAG) >>> 0;
  if (length < 8 || length > LONGEST_FRAME || at + HEAD_BYTES + length > bytes.length) return undefined;
  if (isEnd(bytes, at) && length !== 16) return undefined;
  const payload = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
  const sum = version === VERSION ? sumOf(payload, salt) : crc32(payload, salt);
  return sum === bytes.readUInt32LE(at + 4) ? payload : undefined;
}

/** Compared as a whole: byte by byte, the zeros behind the last frame of 16 MB take a start tens of milliseconds. */
const ZEROS = Buffer.alloc(65_536);

/** Offset from which only zeros follow to the end of the file. */
function written(bytes: Buffer, from: number): number {
  let end = bytes.length;
  while (end - from >= ZEROS.length && bytes.subarray(end - ZEROS.length, end).equals(ZEROS))
    end -= ZEROS.length;
  while (end > from && bytes[end - 1] === 0) end--;
  return end;
}

/** Undefined where the file continues as it should: with its tail and zeros. */
function badPlace(bytes: Buffer, at: number, seal: Seal, newest: number): BadPlace | undefined {
  const end = written(bytes, at);
  if (end <= at) return undefined;
  const unit = tailUnit(seal.salt, newest);
  const hasMarks = seal.version !== 1;
  const marked = hasMarks ? highestMark(bytes, at, unit) : newest;
  const whole = hasMarks && bytes.subarray(at, at + UNIT_BYTES).equals(unit);
  const { frames, highest } = framesBehind(bytes, at, end, seal, newest);
  const reached = Math.max(marked, highest);
  if (whole && reached === newest) return undefined;
  return { byte: at, bytes: end - at, behind: frames, reached };
}

/**
 * The highest frame number in a tail unit that is repeated. A write that a kill cut short may leave a mark before bytes of the tail
 * that was there, which make any number, once. Where a page of a tail is lost, two units in a row are left of it.
 */
function highestMark(bytes: Buffer, from: number, unit: Buffer): number {
  const mark = unit.subarray(0, 8);
  let highest = unit.readDoubleLE(8);
  for (let at = bytes.indexOf(mark, from); at >= 0; at = bytes.indexOf(mark, at + UNIT_BYTES)) {
    const next = at + UNIT_BYTES;
    if (next + UNIT_BYTES > bytes.length) break;
    if (bytes.compare(bytes, at, next, next, next + UNIT_BYTES) !== 0) continue;
    highest = Math.max(highest, bytes.readDoubleLE(at + 8));
  }
  return highest;
}

/** Every readable frame between two offsets, starting at any byte, in file order. */
function framesBehind(
  bytes: Buffer,
  from: number,
  end: number,
  seal: Seal,
  newest: number,
): { readonly frames: Buffer[]; readonly highest: number } {
  const frames: Buffer[] = [];
  let budget = bytes.length * SEARCH_FACTOR;
  let highest = newest;
  for (let at = from; at + HEAD_BYTES + 8 <= end; at++) {
    // Most of a file is zeros, and no frame number ends with a zero byte.
    if (bytes[at + HEAD_BYTES + 7] === 0) continue;
    const number = bytes.readDoubleLE(at + HEAD_BYTES);
    if (!(number > highest && number <= highest + NUMBERS_AHEAD) || !Number.isInteger(number)) continue;
    const length = bytes.readUInt32LE(at);
    if (length > end - at) continue;
    budget -= length;
    // Too much looks like frames: whether one is there is unknown, so it must not be dropped.
    if (budget < 0) return { frames, highest: highest + 1 };
    const payload = payloadAt(bytes, at, seal);
    if (payload === undefined || isEnd(bytes, at)) continue;
    frames.push(payload);
    highest = number;
    at += HEAD_BYTES + payload.length - 1;
  }
  return { frames, highest };
}
