/**
 * The frames of a zstd body (RFC 8878, section 3.1), found by their lengths: Node's decoder takes a cut frame for a whole one, and stops
 * behind the first.
 */

const MAGIC = 0xfd2fb528;
/** Sixteen numbers for frames that a decoder skips. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const CHECKSUM_BYTES = 4;
const BLOCK_HEADER_BYTES = 3;
/** A block that is one byte, repeated. */
const REPEATED = 1;

/** Each frame has a decoder of its own. */
const MOST_FRAMES = 64;
/** A block holds up to 128 KiB, so that few bodies have as many; walking over them takes a millisecond. */
const MOST_BLOCKS = 100_000;

/** The frames with content, one after another; undefined where the body ends within one, or is no zstd. */
export function zstdFrames(body: Buffer): readonly Buffer[] | undefined {
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
    if (end <= at || end > body.length) return undefined;
    if (!isSkipped) frames.push(body.subarray(at, end));
    at = end;
  }
  return frames.length > 0 ? frames : undefined;
}

/** Where the frame ends; beyond the body where it is cut, 0 where it is none. */
function endOf(body: Buffer, start: number, walked: { blocks: number }): number {
  const descriptor = body[start + 4] as number;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizes = descriptor >> 6;
  const contentSize = isSingleSegment && sizes === 0 ? 1 : (CONTENT_SIZE_BYTES[sizes] as number);
  let at =
    start + 5 + (isSingleSegment ? 0 : 1) + (DICTIONARY_ID_BYTES[descriptor & 3] as number) + contentSize;
  for (;;) {
    if (at + BLOCK_HEADER_BYTES > body.length) return Number.POSITIVE_INFINITY;
    if (++walked.blocks > MOST_BLOCKS) return 0;
    const header = body.readUIntLE(at, BLOCK_HEADER_BYTES);
    const type = (header >> 1) & 3;
    at += BLOCK_HEADER_BYTES + (type === REPEATED ? 1 : header >> 3);
    if ((header & 1) === 1) return at + ((descriptor & 4) === 0 ? 0 : CHECKSUM_BYTES);
  }
}
