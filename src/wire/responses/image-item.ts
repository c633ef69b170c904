/**
 * Images that a model made, as items `image_generation_call` (OpenAI API reference, "Responses", output): base64 in `result`.
 */
import { madeOf } from "../media/made.ts";
import type { ImagePart, MediaReplyPart } from "../neutral/neutral.ts";
import { type JsonObject, stringOf } from "../neutral/reader.ts";

const IMAGE = "image_generation_call";

/** The image in an item; undefined where it is another item, or has no image. */
export function readImage(item: JsonObject): MediaReplyPart | undefined {
  const data = item.type === IMAGE && item.status !== "generating" ? stringOf(item.result) : "";
  return data === "" ? undefined : madeOf(typeOf(item), data);
}

/** The same in a request: an earlier answer's. */
export function readImageInput(item: JsonObject, at: string): ImagePart | undefined {
  const data = item.type === IMAGE ? stringOf(item.result) : "";
  if (data === "") return undefined;
  return { type: "image", source: { kind: "data", mediaType: typeOf(item), data }, at };
}

const FORMATS = ["png", "jpeg", "webp", "gif"] as const;

const typeOf = ({ output_format: format }: JsonObject): string => `image/${stringOf(format) || "png"}`;

export const takesMedia = ({ kind, source }: MediaReplyPart): boolean =>
  kind === "image" && source?.kind === "data";

export type ImageItem = ReturnType<typeof imageItem>;

/** @param media undefined before the image has come */
export const imageItem = (id: string, media: MediaReplyPart | undefined) => {
  const source = media?.source;
  const data = source?.kind === "data" ? source : undefined;
  const format = FORMATS.find((known) => data?.mediaType === `image/${known}`);
  return {
    id,
    type: "image_generation_call" as const,
    status: media === undefined ? ("in_progress" as const) : ("completed" as const),
    result: data?.data ?? null,
    ...(format !== undefined && { output_format: format }),
  };
};
