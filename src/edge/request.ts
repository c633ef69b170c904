/**
 * Reads requests: headers while they can be read, bodies once and bounded. The bound counts bytes after decompression
 * (T56); a body beyond it is drained, so that its sender gets to read the 413.
 */

import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";
import { fail, type WeirError } from "../errors.ts";

/** What reading a body takes of the head: uWebSockets.js takes the request object back when its handler returns. */
export interface BodyHead {
  readonly contentEncoding: string;
  /** -1 where unknown (a chunked body). */
  readonly contentLength: number;
}

export function bodyHead(req: HttpRequest): BodyHead {
  const length = req.getHeader("content-length");
  return {
    contentEncoding: req.getHeader("content-encoding"),
    contentLength: length === "" ? -1 : Number(length),
  };
}

/** The bearer credential, or undefined where none came. RFC 6750: the scheme in any case, one space or more. */
export function bearer(req: HttpRequest): string | undefined {
  const value = req.getHeader("authorization");
  if (value.length < 8 || value.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return value.slice(7).trim();
}

/** The credential as Anthropic's clients send it, or undefined where none came. */
export const apiKey = (req: HttpRequest): string | undefined => req.getHeader("x-api-key") || undefined;

/** Headers by which a client asks a provider of its own dialect for what is not in the body. */
const PASSING = ["anthropic-beta", "openai-beta"] as const;
const NONE: Readonly<Record<string, string>> = Object.freeze({});
/** Names of features, separated by commas: nothing else passes. */
const FEATURES = /^[\w.,=; -]{1,1000}$/;

export function passingHeaders(req: HttpRequest): Readonly<Record<string, string>> {
  let found: Record<string, string> | undefined;
  for (const name of PASSING) {
    const value = req.getHeader(name);
    if (value === "" || !FEATURES.test(value)) continue;
    found ??= {};
    found[name] = value;
  }
  return found ?? NONE;
}

/** Empty where none came. @throws WeirError 400 `idempotency_key_invalid` */
export function idempotencyKey(req: HttpRequest): string {
  const key = req.getHeader("idempotency-key");
  if (key === "" || /^[\x21-\x7e]{1,128}$/.test(key)) return key;
  throw fail(
    "idempotency_key_invalid",
    "Idempotency-Key must be 1 to 128 printable characters without spaces.",
    {
      param: "Idempotency-Key",
    },
  );
}

/**
 * Collects the body and calls `done` once, with the bytes (ours to keep) or the error. Never calls after an abort:
 * the caller's reply knows of that.
 */
export function readBody(
  res: HttpResponse,
  head: BodyHead,
  maxBytes: number,
  done: (body: Buffer | WeirError) => void,
): void {
  let refused = false;
  const refuse = () => {
    refused = true;
    body = EMPTY;
    const details = { max_bytes: maxBytes };
    done(fail("payload_too_large", `The body is larger than ${maxBytes} bytes.`, { details }));
  };
  const announced = head.contentLength <= maxBytes ? head.contentLength : 0;
  // One copy: into a buffer of the announced size. Its pages are not touched before bytes arrive.
  let body: Buffer = announced > 0 ? roomFor(announced) : EMPTY;
  let filled = 0;
  res.onData((piece, isLast) => {
    if (refused) return;
    const bytes = new Uint8Array(piece);
    if (filled + bytes.length > maxBytes) {
      refuse();
      return;
    }
    if (filled + bytes.length > body.length) body = grown(body, filled, filled + bytes.length, maxBytes);
    body.set(bytes, filled);
    filled += bytes.length;
    if (!isLast) return;
    decode(filled === body.length ? body : body.subarray(0, filled), head.contentEncoding, maxBytes, done);
  });
  // Not before `onData`: the answer ends the response, which may not be touched from then on.
  if (head.contentLength > maxBytes) refuse();
}

const EMPTY = Buffer.alloc(0);
/** Small bodies share slabs: an allocation of its own costs more than the rest of reading one. */
const SLAB_BYTES = 256 * 1024;
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let slabUsed = 0;

function roomFor(bytes: number): Buffer {
  if (bytes > SLAB_BYTES / 16) return alone(bytes);
  if (slabUsed + bytes > SLAB_BYTES) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    slabUsed = 0;
  }
  slabUsed += bytes;
  return slab.subarray(slabUsed - bytes, slabUsed);
}

/** Large bodies are read in a worker thread: memory that it shares need not be copied to it. */
const alone = (bytes: number): Buffer =>
  bytes > SLAB_BYTES ? Buffer.from(new SharedArrayBuffer(bytes)) : Buffer.allocUnsafeSlow(bytes);

/** For chunked bodies: doubles, so that the copies stay in proportion. */
function grown(body: Buffer, filled: number, needed: number, maxBytes: number): Buffer {
  const size = Math.min(maxBytes, Math.max(needed, body.length * 2, 16 * 1024));
  const larger = alone(size);
  body.copy(larger, 0, 0, filled);
  return larger;
}

type Decompress = (
  data: Buffer,
  options: ZlibOptions,
  done: (error: NodeJS.ErrnoException | null, result: Buffer) => void,
) => void;

const DECOMPRESS: Readonly<Record<string, Decompress>> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  deflate: inflate,
  br: brotliDecompress,
};

function decode(
  body: Buffer,
  encoding: string,
  maxBytes: number,
  done: (body: Buffer | WeirError) => void,
): void {
  if (encoding === "" || encoding === "identity") {
    done(body);
    return;
  }
  const decompress = DECOMPRESS[encoding.toLowerCase()];
  if (decompress === undefined) {
    done(fail("unsupported_media_type", `Content-Encoding "${encoding.slice(0, 40)}" is not supported.`));
    return;
  }
  decompress(body, { maxOutputLength: maxBytes }, (error, result) => {
    if (error === null) done(result);
    else if (error.code === "ERR_BUFFER_TOO_LARGE") {
      done(fail("payload_too_large", `The body is larger than ${maxBytes} bytes once decompressed.`));
    } else {
      done(fail("invalid_json", `The body is not valid ${encoding}.`));
    }
  });
}

/**
 * /24 of an IPv4, /48 of an IPv6 address: enough to see where from, not who.
 * @param address its 4 or 16 bytes; an IPv4 address that an IPv6 socket took (`::ffff:a.b.c.d`) counts as what it is.
 */
export function ipPrefix(address: ArrayBuffer): string {
  const bytes = new Uint8Array(address);
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.0/24`;
  if (bytes.length !== 16) return "";
  if (isMapped(bytes)) return `${bytes[12]}.${bytes[13]}.${bytes[14]}.0/24`;
  const group = (at: number) => (((bytes[at] as number) << 8) | (bytes[at + 1] as number)).toString(16);
  return `${group(0)}:${group(2)}:${group(4)}::/48`;
}

const isMapped = (bytes: Uint8Array): boolean =>
  bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((byte) => byte === 0);
