/**
 * A seal as one string, for formats whose only place for opaque reasoning data is another maker's: `weir.<maker>.<data>`.
 * Their own maker's seals stand there raw.
 */
import type { Seal, SealMaker } from "./neutral.ts";

const PACKED = /^weir\.(anthropic|google|openai)\.([\s\S]*)$/;

/** @param own whose seals the format carries raw. */
export const packSeal = (seal: Seal, own: SealMaker): string =>
  seal.by === own ? seal.data : `weir.${seal.by}.${seal.data}`;

export function unpackSeal(text: string, own: SealMaker): Seal {
  const packed = PACKED.exec(text);
  return packed === null
    ? { by: own, data: text }
    : { by: packed[1] as SealMaker, data: packed[2] as string };
}
