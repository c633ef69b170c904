/**
 * Media of answers in chat completions. Images are in `images` beside the content, as OpenRouter has them
 * (https://openrouter.ai/docs/features/multimodal/image-generation), with Google's signature where OpenAI's clients keep it; sound is in
 * `audio` (OpenAI API reference, "The chat completion object").
 */
import { addressOf, sourceOfAddress } from "../media/made.ts";
import type { MediaReplyPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { extraContentOf, readExtraSeal } from "./reasoning.ts";

/** Images of a message or a delta, also where they are parts of its content. */
export function readImages({ images, content }: JsonObject): MediaReplyPart[] {
  if (images === undefined && !Array.isArray(content)) return [];
  return [...listOf(content), ...listOf(images)].flatMap((item) => {
    const image = objectOf(item);
    const url = stringOf(isObject(image.image_url) ? image.image_url.url : image.image_url);
    if (url === "") return [];
    const seal = readExtraSeal(image.extra_content);
    return {
      type: "media",
      kind: "image",
      source: sourceOfAddress(url),
      ...(seal !== undefined && { seal }),
    };
  });
}

/** Whether a message or a delta has sound, which no other format has a place for. */
export const hasSound = ({ audio }: JsonObject): boolean => isObject(audio);

/** @param index among the images of the message */
export const imageOf = ({ source, seal }: MediaReplyPart, index: number) => ({
  type: "image_url" as const,
  image_url: { url: (source && addressOf(source)) ?? "" },
  index,
  ...extraContentOf(seal),
});

export const takesMedia = ({ kind, source }: MediaReplyPart): boolean =>
  kind === "image" && source !== undefined && source.kind !== "file";
