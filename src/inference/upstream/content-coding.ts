/**
 * Codings of an answer's content (RFC 9110, 8.4). None is asked for, and some servers compress all the same, say that they did when they
 * did not, or the other way round: what the first bytes say counts.
 */

import type { Transform } from "node:stream";
import * as zlib from "node:zlib";

/** How content is to be decoded; undefined: it is not coded. */
export type NewDecoder = (() => Transform) | undefined;

/** No server applies more codings than this: an answer that names more is not read. */
const MAX_CODINGS = 3;
/** Bytes that show the coding. */
export const SHOWING_BYTES = 5;

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Node 20 has no zstd. */
const newZstd: NewDecoder =
  typeof zlib.createZstdDecompress === "function" ? zlib.createZstdDecompress : undefined;

const KNOWN: ReadonlySet<string> = new Set(["gzip", "x-gzip", "deflate", "br", "zstd"]);

/**
 * The codings that a header names, in the order in which they were applied.
 * @returns undefined where there are too many
 */
export function codingsOf(header: string): readonly string[] | undefined {
  const codings = header
    .toLowerCase()
    .split(",", MAX_CODINGS + 1)
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  return codings.length > MAX_CODINGS ? undefined : codings;
}

/** Whether a read may be coded although its head does not say so. */
export const mayBeCoded = (read: Buffer): boolean => read[0] === GZIP[0] || read[0] === ZSTD[0];

/** Whether the first bytes of content are enough to see how it is coded. */
export const isShown = (head: Buffer): boolean => head.length >= SHOWING_BYTES;

/**
 * @param coding as the header names it; "" where it names none
 * @param head the first {@link SHOWING_BYTES} of the content, or all of it
 * @throws Error where the content is in a coding that the gateway cannot decode
 */
export function decoderOf(coding: string, head: Buffer): NewDecoder {
  if (head.subarray(0, GZIP.length).equals(GZIP)) return zlib.createGunzip;
  if (head.subarray(0, ZSTD.length).equals(ZSTD)) {
    if (newZstd === undefined) throw new Error("zstd");
    return newZstd;
  }
  if (coding === "" || head.length === 0 || isText(head)) return undefined;
  if (coding === "deflate") return isZlib(head) ? zlib.createInflate : zlib.createInflateRaw;
  if (coding === "br") return zlib.createBrotliDecompress;
  // It says gzip or zstd, and is neither.
  if (KNOWN.has(coding)) return undefined;
  throw new Error("unknown coding");
}

/** How answers begin that are not coded. No content in deflate or brotli begins so. */
const TEXT = /^(?:\s*\{\s*["}]|\s*\[\s*\{|data:|event|: )/;

const isText = (head: Buffer): boolean => TEXT.test(head.toString("latin1"));

/** The header of zlib's format (RFC 1950, 2.2). Some servers send deflate without it. */
const isZlib = (head: Buffer): boolean =>
  head.length > 1 && ((head[0] as number) & 0x0f) === 8 && head.readUInt16BE(0) % 31 === 0;
