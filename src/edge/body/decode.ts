/** Decompresses bodies. The size limit applies to the decompressed bytes (T56). */
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, type ZlibOptions } from "node:zlib";
import { asWeirError, fail, type WeirError } from "../../base/errors.ts";
import type { BodyShare } from "./body-budget.ts";
import { BodyBuffer, tooLarge } from "./body-buffer.ts";

const DECODERS: Readonly<Record<string, (options: ZlibOptions) => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: ({ chunkSize }) => createBrotliDecompress(chunkSize === undefined ? {} : { chunkSize }),
};
/** Chunk size of a decoder: larger chunks copy more in one turn of the event loop, smaller ones need more turns. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Calls `done` once, unless it is stopped before.
 * @param share budget of the decompressed bytes, in addition to the compressed ones
 * @returns a function that stops decoding: nothing more is taken from the share
 */
export function decode(
  body: Buffer,
  encoding: string,
  share: BodyShare,
  maxBytes: number,
  done: (body: Buffer | WeirError) => void,
): () => void {
  const name = encoding.toLowerCase();
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]?.({ chunkSize: CHUNK_BYTES }) : undefined;
  if (decoder === undefined) {
    done(fail("unsupported_media_type", `Content-Encoding "${encoding.slice(0, 40)}" is not supported.`));
    return () => {};
  }
  const decoded = new BodyBuffer(-1, maxBytes, share);
  let over = false;
  const stop = () => {
    over = true;
    decoder.destroy();
  };
  const give = (result: Buffer | WeirError) => {
    if (over) return;
    stop();
    done(result);
  };
  decoder.on("data", (chunk: Buffer) => {
    if (over) return;
    try {
      if (!decoded.add(chunk)) give(tooLarge(maxBytes, " once decompressed"));
    } catch (error) {
      give(asWeirError(error));
    }
  });
  decoder.on("end", () => give(decoded.whole()));
  decoder.on("error", () => give(fail("invalid_json", `The body is not valid ${encoding}.`)));
  decoder.end(body);
  return stop;
}
