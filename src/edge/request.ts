/**
 * Reads requests: headers while they can be read, bodies once and bounded. The bound counts bytes after decompression
 * (T56); a body beyond it is drained, so that its sender gets to read the 413.
 */

import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, type ZlibOptions } from "node:zlib";
import { fail, type WeirError } from "../errors.ts";
import type { CallKind } from "../exchange/formats.ts";
import { grownMemory, sharedMemory } from "../shared-memory.ts";

type FormatName = CallKind["format"]["name"];

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

const HOST = /^[\w.-]{1,253}(:\d{1,5})?$|^\[[\da-f:.]{2,45}\](:\d{1,5})?$/i;

/**
 * The address that the client called, as it may be shown to it again; empty where its `Host` is no host. A proxy in front says
 * by `X-Forwarded-Proto` that it was called by https.
 */
export function servedAddress(req: HttpRequest): string {
  const host = req.getHeader("host");
  if (!HOST.test(host)) return "";
  return `${req.getHeader("x-forwarded-proto") === "https" ? "https" : "http"}://${host}`;
}

/** The credential as Anthropic's clients send it, or undefined where none came. */
export const apiKey = (req: HttpRequest): string | undefined => req.getHeader("x-api-key") || undefined;

/** The header by which a client of a format asks its provider for what is not in the body. */
const PASSING: Partial<Readonly<Record<FormatName, string>>> = {
  messages: "anthropic-beta",
  responses: "openai-beta",
};
const NONE: Readonly<Record<string, string>> = Object.freeze({});
/** Names of features, separated by commas: nothing else passes. */
const FEATURES = /^[\w.,=; -]{1,1000}$/;

/** Headers that go on to an upstream of the client's own dialect. */
export function passingHeaders(req: HttpRequest, format: FormatName): Readonly<Record<string, string>> {
  const name = PASSING[format];
  if (name === undefined) return NONE;
  const value = req.getHeader(name);
  return FEATURES.test(value) ? { [name]: value } : NONE;
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
  const announced = head.contentLength <= maxBytes ? head.contentLength : 0;
  let body: Gathering | undefined = new Gathering(announced, maxBytes);
  const refuse = () => {
    body = undefined;
    const details = { max_bytes: maxBytes };
    done(fail("payload_too_large", `The body is larger than ${maxBytes} bytes.`, { details }));
  };
  res.onData((piece, isLast) => {
    if (body === undefined) return;
    if (!body.add(new Uint8Array(piece))) refuse();
    else if (isLast) decode(body.whole(), head.contentEncoding, maxBytes, done);
  });
  // Not before `onData`: the answer ends the response, which may not be touched from then on.
  if (head.contentLength > maxBytes) refuse();
}

const EMPTY = Buffer.alloc(0);
/** Small bodies share slabs: an allocation of its own costs more than the rest of reading one. */
const SLAB_BYTES = 256 * 1024;
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let slabUsed = 0;

/** Puts a body together from its pieces. Each byte is copied once, where the size was announced or is large. */
class Gathering {
  readonly #maxBytes: number;
  #bytes: Buffer;
  #filled = 0;

  /** @param announced bytes; 0 where unknown. */
  constructor(announced: number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = announced > 0 ? roomFor(announced) : EMPTY;
  }

  /** False where the body would be larger than it may be. */
  add(piece: Uint8Array): boolean {
    const filled = this.#filled + piece.length;
    if (filled > this.#maxBytes) return false;
    if (filled > this.#bytes.length) this.#grow(filled);
    this.#bytes.set(piece, this.#filled);
    this.#filled = filled;
    return true;
  }

  whole(): Buffer {
    return this.#filled === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#filled);
  }

  /** Doubles, so that copies stay in proportion. */
  #grow(needed: number): void {
    const size = Math.min(this.#maxBytes, Math.max(needed, this.#bytes.length * 2, 16 * 1024));
    const old = this.#bytes;
    if (old.length > SLAB_BYTES) {
      this.#bytes = grownMemory(old, size);
      return;
    }
    this.#bytes = size > SLAB_BYTES ? sharedMemory(size, this.#maxBytes) : Buffer.allocUnsafeSlow(size);
    old.copy(this.#bytes, 0, 0, this.#filled);
  }
}

/** Large bodies are read in a worker thread: memory that it shares need not be copied to it. */
function roomFor(bytes: number): Buffer {
  if (bytes > SLAB_BYTES) return sharedMemory(bytes);
  if (bytes > SLAB_BYTES / 16) return Buffer.allocUnsafeSlow(bytes);
  if (slabUsed + bytes > SLAB_BYTES) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    slabUsed = 0;
  }
  slabUsed += bytes;
  return slab.subarray(slabUsed - bytes, slabUsed);
}

const DECODERS: Readonly<Record<string, (options: ZlibOptions) => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: ({ chunkSize }) => createBrotliDecompress(chunkSize === undefined ? {} : { chunkSize }),
};
/** Of what a decoder hands over at a time: fewer are more copying in one turn, more are more turns. */
const CHUNK_BYTES = 64 * 1024;

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
  const name = encoding.toLowerCase();
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]?.({ chunkSize: CHUNK_BYTES }) : undefined;
  if (decoder === undefined) {
    done(fail("unsupported_media_type", `Content-Encoding "${encoding.slice(0, 40)}" is not supported.`));
    return;
  }
  const decoded = new Gathering(0, maxBytes);
  let over = false;
  const give = (result: Buffer | WeirError) => {
    if (over) return;
    over = true;
    decoder.destroy();
    done(result);
  };
  decoder.on("data", (chunk: Buffer) => {
    if (over || decoded.add(chunk)) return;
    const details = { max_bytes: maxBytes };
    give(
      fail("payload_too_large", `The body is larger than ${maxBytes} bytes once decompressed.`, { details }),
    );
  });
  decoder.on("end", () => give(decoded.whole()));
  decoder.on("error", () => give(fail("invalid_json", `The body is not valid ${encoding}.`)));
  decoder.end(body);
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
