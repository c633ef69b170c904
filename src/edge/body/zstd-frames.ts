/**
 * The frames of a zstd body (RFC 8878, section 3.1), found by their lengths: Node's decoder takes a cut frame for a whole one, and stops
 * behind the first. What it does not take is told by name; it says of all that it fails.
 */
import { fail, type WeirError } from "../../base/errors.ts";

const MAGIC = 0xfd2fb528;
/** Sixteen numbers for frames that a decoder skips. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const CHECKSUM_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
/** The coding's window (RFC 9659): a frame may ask for as much memory as it likes. As a power of two. */
export const MAX_WINDOW_LOG = 23;
const MAX_WINDOW_BYTES = 2 ** MAX_WINDOW_LOG;
/** A block that is one byte, repeated. */
const REPEATED = 1;

/** Each frame has a decoder of its own. */
const MOST_FRAMES = 64;
/** A block holds up to 128 KiB, so that few bodies have as many; walking over them takes a millisecond. */
const MOST_BLOCKS = 100_000;

/**
 * The frames with content, one after another; undefined where the body ends within one, or is no zstd; an error where a frame needs what
 * is not taken.
 */
export function zstdFrames(body: Buffer): readonly Buffer[] | WeirError | undefined {
  const frames: Buffer[] = [];
  const walked = { blocks: 0 };
  for (let at = 0; at < body.length; ) {
    if (body.length - at < 8 || frames.length === MOST_FRAMES || ++walked.blocks > MOST_BLOCKS)
      return undefined;
    const magic = body.readUInt32LE(at);
    const isSkipped = (magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC;
    const end = isSkipped
      ? at + 8 + body.readUInt32LE(at + 4)
      : magic === MAGIC
        ? endOf(body, at, walked)
        : 0;
    const fault = magic === MAGIC ? notTaken(body, at) : undefined;
    if (fault !== undefined) return fault;
    if (end <= at || end > body.length) return undefined;
    if (!isSkipped) frames.push(body.subarray(at, end));
    at = end;
  }
  return frames.length > 0 ? frames : undefined;
}

/** Why the frame is not taken, by its header. */
function notTaken(body: Buffer, start: number): WeirError | undefined {
  const descriptor = body[start + 4] as number;
  if (dictionaryOf(body, start, descriptor) !== 0)
    return fail("invalid_json", "The body's zstd needs a dictionary: send it without one.");
  const windowBytes = windowOf(body, start, descriptor);
  if (windowBytes === undefined || windowBytes <= MAX_WINDOW_BYTES) return undefined;
  return fail(
    "invalid_json",
    `The body's zstd needs a window of ${windowBytes} bytes: ${MAX_WINDOW_BYTES} at most are taken.`,
    { details: { max_window_bytes: MAX_WINDOW_BYTES } },
  );
}

const isSingle = (descriptor: number): boolean => (descriptor & 0x20) !== 0;
/** Where the dictionary's id is. */
const dictionaryAt = (start: number, descriptor: number): number => start + (isSingle(descriptor) ? 5 : 6);

/** 0: none. */
function dictionaryOf(body: Buffer, start: number, descriptor: number): number {
  const bytes = DICTIONARY_ID_BYTES[descriptor & 3] as number;
  const at = dictionaryAt(start, descriptor);
  return bytes === 0 || at + bytes > body.length ? 0 : body.readUIntLE(at, bytes);
}

/** Bytes; undefined where the header is cut. A single segment has the window of its content. */
function windowOf(body: Buffer, start: number, descriptor: number): number | undefined {
  if (!isSingle(descriptor)) {
    const window = body[start + 5] as number;
    const base = 2 ** (10 + (window >> 3));
    return base + (base / 8) * (window & 7);
  }
  const at = dictionaryAt(start, descriptor) + (DICTIONARY_ID_BYTES[descriptor & 3] as number);
  const bytes = contentSizeBytes(descriptor);
  if (at + bytes > body.length) return undefined;
  if (bytes === 8) return Number(body.readBigUInt64LE(at));
  return body.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0);
}

const contentSizeBytes = (descriptor: number): number =>
  isSingle(descriptor) && descriptor >> 6 === 0 ? 1 : (CONTENT_SIZE_BYTES[descriptor >> 6] as number);

/** Where the frame ends; beyond the body where it is cut, 0 where it is none. */
function endOf(body: Buffer, start: number, walked: { blocks: number }): number {
  const descriptor = body[start + 4] as number;
  let at =
    dictionaryAt(start, descriptor) +
    (DICTIONARY_ID_BYTES[descriptor & 3] as number) +
    contentSizeBytes(descriptor);
  for (;;) {
    if (at + BLOCK_HEADER_BYTES > body.length) return Number.POSITIVE_INFINITY;
    if (++walked.blocks > MOST_BLOCKS) return 0;
    const header = body.readUIntLE(at, BLOCK_HEADER_BYTES);
    const type = (header >> 1) & 3;
    at += BLOCK_HEADER_BYTES + (type === REPEATED ? 1 : header >> 3);
    if ((header & 1) === 1) return at + ((descriptor & 4) === 0 ? 0 : CHECKSUM_BYTES);
  }
}
