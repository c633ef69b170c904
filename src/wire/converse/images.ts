/** Images of a streamed Converse answer: a block begins with its format, and its bytes come in deltas, each base64 of its own. */
import { fail } from "../../base/errors.ts";
import { madeOf } from "../media/made.ts";
import type { MediaReplyPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, objectOf, stringOf } from "../neutral/reader.ts";

/** Media of a whole block; undefined where it has none. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html */
export function readMedia(block: JsonObject): MediaReplyPart | undefined {
  if (isObject(block.image)) {
    const data = stringOf(objectOf(block.image.source).bytes);
    return data === "" ? { type: "media", kind: "image" } : madeOf(typeOf(block.image), data);
  }
  if (isObject(block.audio)) return { type: "media", kind: "audio" };
  return isObject(block.video) ? { type: "media", kind: "video" } : undefined;
}

const typeOf = ({ format }: JsonObject): string => `image/${stringOf(format) || "png"}`;

interface OpenImage {
  readonly type: string;
  readonly pieces: Buffer[];
}

/** The images that have begun and not ended, by the index of their block. */
export class OpenImages {
  readonly #open = new Map<number, OpenImage>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param maxBytes of all that are open */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  begin(index: number, image: JsonObject): void {
    this.#open.set(index, { type: typeOf(image), pieces: [] });
  }

  /** @throws WeirError `upstream_invalid_response` beyond the bound */
  grow(index: number, image: JsonObject): void {
    if (!this.#open.has(index)) this.begin(index, image);
    const piece = Buffer.from(stringOf(objectOf(image.source).bytes), "base64");
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      throw fail("upstream_invalid_response", "The provider sent an image larger than the gateway takes.");
    }
    this.#open.get(index)?.pieces.push(piece);
  }

  /** The image whose block has ended; undefined where none is open there. */
  end(index: number): MediaReplyPart | undefined {
    const image = this.#open.get(index);
    if (image === undefined) return undefined;
    this.#open.delete(index);
    const bytes = Buffer.concat(image.pieces);
    this.#bytes -= bytes.length;
    return bytes.length === 0
      ? { type: "media", kind: "image" }
      : madeOf(image.type, bytes.toString("base64"));
  }

  get indexes(): readonly number[] {
    return [...this.#open.keys()];
  }
}
