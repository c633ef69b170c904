/**
 * Codings of an answer's content (RFC 9110, 8.4). None is asked for, and some servers compress all the same, say that they did when they
 * did not, or the other way round: what the first bytes say counts.
 */

import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { contentStart, formOf } from "../../wire/forms/first-bytes.ts";

/** How content is to be decoded; undefined: it is not coded. */
type NewDecoder = (() => Transform) | undefined;

/** No server applies more codings than this: of a longer list the last ones are removed. */
const MAX_CODINGS = 3;
/** Names of a header that are looked at. */
const MAX_NAMES = 32;
/** Bytes that show a coding that has a magic number. */
const MAGIC_BYTES = 4;
/** Bytes that tell text, and frames of AWS's, from a coding that has none. */
const SHOWING_BYTES = 16;

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

const { constants } = zlib;
/** Some servers leave out the end of the coding. So the decoder gives all that arrived, and the reader of the content sees whether that is whole. */
const newGunzip = () => zlib.createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
const newInflate = () => zlib.createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
const newInflateRaw = () => zlib.createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH });
const newBrotli = () => zlib.createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
const newZstd = () => zlib.createZstdDecompress({ finishFlush: constants.ZSTD_e_flush });

/** Names of codings in `Content-Encoding`: the registered ones, and others that servers use. Any other name is ignored. */
const CODINGS: ReadonlyMap<string, string> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["x-deflate", "deflate"],
  ["zlib", "deflate"],
  ["br", "br"],
  ["brotli", "br"],
  ["zstd", "zstd"],
  ["x-zstd", "zstd"],
]);

/** What the coding is called where no header names it. */
export const UNNAMED = "";

/** The codings that a header names, in the order in which they were applied; none where it names no known one. */
export function codingsOf(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(",", MAX_NAMES)
    .flatMap((name) => CODINGS.get((name.split(";", 1)[0] ?? "").replaceAll(/["'\s]/g, "")) ?? [])
    .slice(-MAX_CODINGS);
}

/** Whether content that begins with this byte may be coded although its head does not say so. */
export const mayBeCoded = (first: number): boolean => first === GZIP[0] || first === ZSTD[0];

const hasNoMagic = (coding: string): boolean => coding === "br" || coding === "deflate";

/** Whether the first bytes of content are enough to see how it is coded. */
export const isShown = (coding: string, head: Buffer): boolean =>
  head.length >= (hasNoMagic(coding) ? SHOWING_BYTES : MAGIC_BYTES);

/**
 * @param coding one of `codingsOf`, or {@link UNNAMED}
 * @param head the first bytes of the content, as many as show it, or all of it
 * @param mayBeText text of any kind is taken as it is, not only what answers begin with
 */
export function decoderOf(coding: string, head: Buffer, mayBeText = false): NewDecoder {
  if (head.subarray(0, GZIP.length).equals(GZIP)) return newGunzip;
  if (head.subarray(0, ZSTD.length).equals(ZSTD)) return newZstd;
  // What says gzip or zstd and is neither is not coded.
  if (!hasNoMagic(coding) || head.length === 0 || isPlain(head, mayBeText)) return undefined;
  if (coding === "br") return newBrotli;
  return isZlib(head) ? newInflate : newInflateRaw;
}

/** Whether content begins as answers do that are not coded. */
function isPlain(head: Buffer, mayBeText: boolean): boolean {
  if (mayBeText && isText(head)) return true;
  const text = head.toString("latin1");
  const form = formOf(text);
  if (form === "frames") return isFrame(head);
  if (form === "other" || !isText(head)) return false;
  // Large bodies in brotli begin with an opening bracket.
  return form !== "json" || /^.\s*(?:["[\]{}]|$)/.test(text.slice(contentStart(text)));
}

/** Bytes before a frame's headers. */
const PRELUDE_BYTES = 12;

/** A frame of AWS's begins with its length, that of its headers, and the checksum of both (Smithy, "Amazon Event Stream"). */
const isFrame = (head: Buffer): boolean =>
  head.length >= PRELUDE_BYTES && zlib.crc32(head.subarray(0, 8)) === head.readUInt32BE(8);

/** Whether bytes are text, though its last character may be cut. */
function isText(bytes: Buffer): boolean {
  // No text has control characters other than white space. Bytes in a coding soon have one.
  if (/[^\t\n\r\u0020-\u007e\u0080-\u00ff]/.test(bytes.toString("latin1"))) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** The header of zlib's format (RFC 1950, 2.2). Some servers send deflate without it. */
const isZlib = (head: Buffer): boolean =>
  head.length > 1 && ((head[0] as number) & 0x0f) === 8 && head.readUInt16BE(0) % 31 === 0;
