/**
 * Decompresses bodies, off the event loop. The size limit applies to the decompressed bytes (T56), behind each coding of a list: the
 * bytes between two codings count against the limit, and against the budget while they are there.
 */
import type { Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { asWeirError, fail, WeirError } from "../../base/errors.ts";
import type { BodyShare } from "./body-budget.ts";
import { BodyBuffer, tooLarge } from "./body-buffer.ts";
import type { Coding } from "./codings.ts";
import { MAX_WINDOW_LOG, zstdFrames } from "./zstd-frames.ts";

/** Chunk size of a decoder: larger chunks copy more in one turn of the event loop, smaller ones need more turns. */
const CHUNK = { chunkSize: 64 * 1024 };
const ZSTD = { ...CHUNK, params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } };

/** A decoder of the bytes that follow; "deflate" is sent with zlib's header, as RFC 9110 has it, and without. */
const DECODERS: Readonly<Record<Coding, (input: Buffer) => Transform & { readonly bytesWritten: number }>> = {
  gzip: () => createGunzip(CHUNK),
  deflate: (input) => (hasZlibHeader(input) ? createInflate(CHUNK) : createInflateRaw(CHUNK)),
  br: () => createBrotliDecompress(CHUNK),
  zstd: () => createZstdDecompress(ZSTD),
};

/** RFC 1950, section 2.2: method 8, and a checksum over both bytes. */
function hasZlibHeader(input: Buffer): boolean {
  const [method = 0, flags = 0] = input;
  return method % 16 === 8 && (method * 256 + flags) % 31 === 0;
}

type Done = (body: Buffer | WeirError) => void;

/**
 * Calls `done` once, unless it is stopped before.
 * @param codings in the order in which they were applied
 * @param share budget of the decompressed bytes, in addition to the compressed ones
 * @returns a function that stops decoding: nothing more is taken from the share
 */
export function decode(
  body: Buffer,
  codings: readonly Coding[],
  share: BodyShare,
  maxBytes: number,
  done: Done,
): () => void {
  let stopStep = () => {};
  const step = (input: Buffer, left: readonly Coding[], release: () => void): void => {
    const coding = left.at(-1);
    if (coding === undefined) {
      done(input);
      return;
    }
    const rest = left.slice(0, -1);
    const own = rest.length === 0 ? undefined : share.beside();
    const stop = decodeOne(input, coding, own ?? share, maxBytes, (decoded) => {
      release();
      if (Buffer.isBuffer(decoded)) {
        step(decoded, rest, () => own?.release());
        return;
      }
      own?.release();
      done(decoded);
    });
    stopStep = () => {
      stop();
      release();
      own?.release();
    };
  };
  step(body, codings, () => {});
  return () => stopStep();
}

/** @returns as `decode` */
function decodeOne(
  input: Buffer,
  coding: Coding,
  share: BodyShare,
  maxBytes: number,
  done: Done,
): () => void {
  const parts = coding === "zstd" ? zstdFrames(input) : [input];
  const decoded = new BodyBuffer(-1, maxBytes, share);
  let decoder: Transform | undefined;
  let isOver = false;
  const stop = () => {
    isOver = true;
    decoder?.destroy();
  };
  const give = (result: Buffer | WeirError) => {
    if (isOver) return;
    stop();
    done(result);
  };
  const take = (chunk: Buffer) => {
    if (isOver) return;
    try {
      if (!decoded.add(chunk)) give(tooLarge(maxBytes, " once decompressed"));
    } catch (error) {
      give(asWeirError(error));
    }
  };
  const next = (left: readonly Buffer[]): void => {
    const [part, ...rest] = left;
    if (part === undefined) {
      give(decoded.whole());
      return;
    }
    const current = DECODERS[coding](part);
    decoder = current;
    current.on("data", take);
    current.on("error", ({ code }: NodeJS.ErrnoException) =>
      give(code === "Z_BUF_ERROR" ? cut(coding) : damaged(coding)),
    );
    current.on("end", () => {
      if (isOver) return;
      if (current.bytesWritten < part.length) give(damaged(coding));
      else next(rest);
    });
    current.end(part);
  };
  if (parts === undefined) give(cut(coding));
  else if (parts instanceof WeirError) give(parts);
  else next(parts);
  return stop;
}

const damaged = (coding: Coding): WeirError => fail("invalid_json", `The body is not valid ${coding}.`);

const cut = (coding: Coding): WeirError =>
  fail("invalid_json", `The body is not valid ${coding}: it is cut, or damaged.`);
