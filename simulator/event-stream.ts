/**
 * AWS's binary event stream: one frame per event, with CRC32 checksums of its lengths and content. Format:
 * https://smithy.io/2.0/aws/amazon-eventstream.html
 */
import { crc32 } from "node:zlib";

export const EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream";

/** Length of the frame, length of its headers, and the checksum of these two. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** The only header type that services send in these streams. */
const TEXT_HEADER = 7;

/** A frame with text headers, in their order, and a JSON payload. */
export function eventStreamFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value)));
  const body = Buffer.from(payload);
  const frame = Buffer.alloc(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(head.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  head.copy(frame, PRELUDE_BYTES);
  body.copy(frame, PRELUDE_BYTES + head.length);
  const end = frame.length - CHECKSUM_BYTES;
  frame.writeUInt32BE(crc32(frame.subarray(0, end)), end);
  return frame;
}

function headerBytes(name: string, value: string): Buffer {
  const text = Buffer.from(value);
  const length = Buffer.from([TEXT_HEADER, text.length >> 8, text.length & 0xff]);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name, "latin1"), length, text]);
}
