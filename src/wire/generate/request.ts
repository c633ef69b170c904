/** Reads a native request, which has our options as members beside the messages. */
import { type BodyRules, promptTextsOf, readBody } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import { nativeExtras } from "../extras/scan.ts";
import type { ClientRequest, PromptText } from "../format.ts";
import { isNoImageAddress, saysNoImage } from "../media/uncounted.ts";
import { type Extras, NO_EXTRAS } from "../neutral/asked-extras.ts";
import { NATIVE_OPTIONS } from "../svc-schema.ts";
import { type GenerateBody, generateRequestSchema, type NativePart } from "./schema.ts";

/** Members that no model gets to read. */
const NO_PROMPT: readonly string[] = ["model", "stream", "generation", ...NATIVE_OPTIONS];

const RULES: BodyRules<GenerateBody> = {
  schema: generateRequestSchema,
  ours: NATIVE_OPTIONS,
  svcOf: (body: GenerateBody) => body,
  noPrompt: NO_PROMPT,
  media: ["messages"],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readGenerateRequest(bytes: Buffer): ClientRequest {
  const { read, value, proseBytes, hasNoImage } = readBody(bytes, RULES);
  const images = count(value, "image");
  const audio = count(value, "audio");
  return {
    ...read,
    extras: extrasOf(value),
    facts: {
      model: value.model,
      stream: value.stream ?? false,
      choices: value.generation?.candidates ?? 1,
      maxTokens: value.generation?.max_tokens,
      promptTokens: estimatePromptTokens(proseBytes, images),
      hasTools: (value.tools?.length ?? 0) > 0,
      parallelTools: value.parallel_tools === true,
      hasImages: images > 0,
      imageCount: images,
      hasAudio: audio > 0,
      hasSchema: value.format?.type === "json_schema",
      hasUncounted:
        hasNoImage ||
        audio + count(value, "video") + count(value, "document") + count(value, "image", isOther) > 0,
      searchUnits: 0,
    },
  };
}

/** The format has one extra: the tier, in the words of any dialect. */
const extrasOf = ({ generation }: GenerateBody): Extras =>
  generation?.service_tier === undefined ? NO_EXTRAS : nativeExtras(generation.service_tier);

/** See {@link promptTextsOf}. */
export const promptTexts = (request: ClientRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);

/** An image part by its type, and not by what it holds. */
const isOther = (part: NativePart): boolean =>
  part.type === "image" &&
  (saysNoImage(part.media_type) || isNoImageAddress(part.url) || isNoImageAddress(part.file_id));

/** Parts of a type, those in tool results included. */
function count({ messages }: GenerateBody, type: string, fits = (_: NativePart) => true): number {
  let found = 0;
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (part.type === type && fits(part)) found++;
      if (part.type === "tool_result" && typeof part.content !== "string")
        found += part.content.filter((inner) => inner.type === type && fits(inner)).length;
    }
  }
  return found;
}
