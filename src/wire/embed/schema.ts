/**
 * Requests and answers of the two embedding formats: OpenAI's (API reference, "Create embeddings") and our own, which also
 * says what the vectors are for. Unknown members are passed on, or dropped and named.
 */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";
import type { InputType } from "./neutral.ts";

/** By every name that clients know them under: ours, Cohere's, Jina's and Voyage's. */
const INPUT_TYPES: Readonly<Record<string, InputType>> = {
  query: "query",
  document: "document",
  classification: "classification",
  clustering: "clustering",
  similarity: "similarity",
  search_query: "query",
  search_document: "document",
  passage: "document",
};

const INPUT_TYPE_NAMES = Object.keys(INPUT_TYPES);

export const inputTypeOf = (name: unknown): InputType | undefined =>
  typeof name === "string" && Object.hasOwn(INPUT_TYPES, name) ? INPUT_TYPES[name] : undefined;

export type EmbeddingsInput =
  | string
  | readonly string[]
  /** Token ids. */
  | readonly number[]
  | readonly (readonly number[])[];

const isTokenList = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0);

/** By hand: a list of a million token ids takes a schema of unions a hundred times as long. */
export function isEmbeddingsInput(value: unknown): value is EmbeddingsInput {
  if (typeof value === "string") return true;
  if (!Array.isArray(value) || value.length === 0) return false;
  const first: unknown = value[0];
  if (typeof first === "string") return value.every((text) => typeof text === "string");
  return Array.isArray(first) ? value.every(isTokenList) : isTokenList(value);
}

export const INPUT_KINDS = "must be a text, a list of texts, a list of token ids, or a list of such lists";

const INPUT = "What the model is to read: a text, or several.";
const tokens = { type: "array", items: { type: "integer" } } as const;

/** Metering must know how much it is; what else an upstream takes (texts and pictures as objects) is its own matter. */
const isAnyInput = (value: unknown): boolean =>
  typeof value === "string" || (typeof value === "object" && value !== null && !isEmptyList(value));

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

export const streamSchema = z.boolean().nullish().describe("`true` is refused: these answers come whole.");

export const embeddingsRequestSchema = z.looseObject({
  model: call.model("openai/text-embedding-3-small"),
  input: z.custom<unknown>(isAnyInput, INPUT_KINDS).meta({
    description: INPUT,
    anyOf: [
      { type: "string" },
      { type: "array", items: { type: "string" } },
      tokens,
      { type: "array", items: tokens },
    ],
    examples: ["Hello"],
  }),
  dimensions: call.dimensions,
  encoding_format: unread(
    z.enum(["float", "base64"]).describe("`float`: numbers; `base64`: their bytes."),
  ).optional(),
  user: unread(call.user).optional(),
  stream: streamSchema,
  svc: svcSchema.optional(),
});

export type EmbeddingsBody = z.output<typeof embeddingsRequestSchema>;

/** True only for requests that the schema accepts unchanged. */
export function isUsualEmbeddings(value: unknown): value is EmbeddingsBody {
  const body = value as Record<string, unknown>;
  const { dimensions } = body;
  return (
    body.svc === undefined &&
    body.stream === undefined &&
    typeof body.model === "string" &&
    body.model !== "" &&
    isAnyInput(body.input) &&
    (dimensions === undefined || (Number.isSafeInteger(dimensions) && (dimensions as number) > 0))
  );
}

const EMBEDDINGS = "An embedding of each input, in their order.";

export const embeddingsReplySchema = z.looseObject({
  object: field.objectOf("list"),
  model: field.modelId,
  data: z
    .array(
      z.looseObject({
        object: field.objectOf("embedding"),
        index: call.index,
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe("Numbers; base64 of little-endian 32-bit floats where `encoding_format` is `base64`."),
      }),
    )
    .describe(EMBEDDINGS),
  usage: z
    .looseObject({ prompt_tokens: call.promptTokens, total_tokens: call.totalTokens })
    .describe(call.USAGE),
  svc: svcReplySchema,
});

/** The native request is ours: what it does not know is refused, and our options stand at its top. */
export const embedRequestSchema = z.strictObject({
  model: call.model("openai/text-embedding-3-small"),
  input: z
    .array(z.string())
    .min(1)
    .describe(INPUT)
    .meta({ examples: [["Hello"]] }),
  input_type: z
    .enum(INPUT_TYPE_NAMES)
    .nullish()
    .describe("What the vectors are for, where the model knows the difference."),
  dimensions: call.dimensions,
  stream: streamSchema,
  ...svcSchema.shape,
});

export type EmbedBody = z.output<typeof embedRequestSchema>;

export const embedReplySchema = z.object({
  object: field.objectOf("list"),
  id: field.id,
  model: field.modelId,
  data: z
    .array(
      z.object({
        index: call.index,
        embedding: z.array(z.number()).describe("The numbers of one input."),
        dimensions: z.int().describe("How many numbers these are."),
      }),
    )
    .describe(EMBEDDINGS),
  usage: z
    .object({ input_tokens: call.promptTokens, total_tokens: call.totalTokens, source: field.usageSource })
    .describe(call.USAGE),
  resolved: call.resolved,
  cost: call.cost,
  warnings: field.warnings,
});
