/** Decompresses bodies. The bound counts what they become (T56). */
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, type ZlibOptions } from "node:zlib";
import { asWeirError, fail, type WeirError } from "../errors.ts";
import type { BodyShare } from "./body-budget.ts";
import { Gathering, tooLarge } from "./gathering.ts";

const DECODERS: Readonly<Record<string, (options: ZlibOptions) => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: ({ chunkSize }) => createBrotliDecompress(chunkSize === undefined ? {} : { chunkSize }),
};
/** Of what a decoder hands over at a time: fewer are more copying in one turn, more are more turns. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Calls `done` once, unless it is stopped before.
 * @param share what the decompressed bytes are taken of, beside the compressed ones
 * @returns stops it: nothing more is taken of the share
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
  const decoded = new Gathering(-1, maxBytes, share);
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
