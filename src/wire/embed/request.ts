/** Reads the bodies of both embedding formats as far as every call needs them. */
import { type AnyBody, type BodyRules, promptTextsOf, type ReadBody, readBody, SVC_MEMBER } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import { bodyTable } from "../extras/tables.ts";
import type { PromptText } from "../format.ts";
import { type Member, memberOf } from "../json/json.ts";
import { NATIVE_OPTIONS } from "../svc-schema.ts";
import type { EmbedRequest } from "./neutral.ts";
import {
  type EmbedBody,
  type EmbeddingsBody,
  type EmbeddingsInput,
  embeddingsRequestSchema,
  embedRequestSchema,
  isEmbeddingsInput,
  isUsualEmbeddings,
} from "./schema.ts";
import { factsOf, longStringsIn, refuseStream } from "./task.ts";

/** Members that no model gets to read. All others count as prompt, those we do not know included. */
export const NO_PROMPT: readonly string[] = [
  "model",
  "dimensions",
  "encoding_format",
  "input_type",
  "stream",
  "user",
  "svc",
];

/** The same of the native format. */
const NATIVE_NO_PROMPT: readonly string[] = [
  "model",
  "dimensions",
  "input_type",
  "stream",
  ...NATIVE_OPTIONS,
];

/** No input is media: base64 in one is prose to an embedding model. */
const EMBEDDINGS_RULES: BodyRules<EmbeddingsBody> = {
  ...SVC_MEMBER,
  schema: embeddingsRequestSchema,
  isUsual: isUsualEmbeddings,
  noPrompt: NO_PROMPT,
  extras: bodyTable("openai_embeddings"),
  media: [],
};
const EMBED_RULES: BodyRules<EmbedBody> = {
  schema: embedRequestSchema,
  ours: NATIVE_OPTIONS,
  svcOf: (body) => body,
  noPrompt: NATIVE_NO_PROMPT,
  media: [],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readEmbeddingsRequest(bytes: Buffer): EmbedRequest {
  const read = readBody(bytes, EMBEDDINGS_RULES);
  return requestOf(read, read.value.input, encodingOf(read.value.encoding_format));
}

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readEmbedRequest(bytes: Buffer): EmbedRequest {
  const read = readBody(bytes, EMBED_RULES);
  return requestOf(read, read.value.input, "float");
}

function requestOf(
  { read, text, value: { model }, proseBytes }: ReadBody<AnyBody>,
  input: unknown,
  encoding: EmbedRequest["encoding"],
): EmbedRequest {
  refuseStream(text, read.members);
  const member = memberOf(read.members, "input") as Member;
  if (!isEmbeddingsInput(input)) return ofAnotherKind({ read, proseBytes }, model, input, encoding);
  const { kind, inputs, longest, total } = sizesOf(input);
  if (kind === "tokens") {
    const prose = estimatePromptTokens(proseBytes - (member.valueEnd - member.valueStart), 0);
    const facts = factsOf(model, prose + total, longest);
    // They are counted already, and no tokenizer can count them again.
    return { ...read, hasOpaque: true, inputs, encoding, facts };
  }
  const longestBytes = Math.max(longest, ...longStringsIn(read.elided, member));
  // Models put marks around each input and bill them: in a batch of words they are most of it.
  const prompt = estimatePromptTokens(proseBytes, 0) + inputs;
  const facts = factsOf(model, prompt, estimatePromptTokens(longestBytes, 0));
  return { ...read, inputs, encoding, facts };
}

/** Input that only some providers take, such as pictures: how much it is they alone know, so the hold is for the most. */
function ofAnotherKind(
  { read, proseBytes }: Pick<ReadBody<AnyBody>, "read" | "proseBytes">,
  model: string,
  input: unknown,
  encoding: EmbedRequest["encoding"],
): EmbedRequest {
  const { opaqueBytes } = memberOf(read.members, "input") as Member;
  const inputs = Array.isArray(input) ? input.length : 1;
  const facts = factsOf(model, estimatePromptTokens(proseBytes - opaqueBytes, 0) + inputs, 1);
  const separateInputs = Math.max(1, elementsIn(input));
  return {
    ...read,
    hasOpaque: true,
    inputs,
    encoding,
    facts: { ...facts, hasUncounted: true, separateInputs },
  };
}

/** Elements of all lists in a value: which of them are inputs by themselves only the provider knows. */
function elementsIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const isList = Array.isArray(value);
  let elements = isList ? value.length : 0;
  for (const inner of isList ? value : Object.values(value)) elements += elementsIn(inner);
  return elements;
}

function encodingOf(name: unknown): EmbedRequest["encoding"] {
  if (name == null) return undefined;
  return name === "float" || name === "base64" ? name : "other";
}

/** See {@link promptTextsOf}. */
export const embeddingsTexts = (request: EmbedRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);

/** See {@link promptTextsOf}. */
export const embedTexts = (request: EmbedRequest): PromptText[] => promptTextsOf(request, NATIVE_NO_PROMPT);

export interface Sizes {
  readonly kind: "texts" | "tokens";
  readonly inputs: number;
  /** Bytes of texts, or tokens. */
  readonly longest: number;
  /** The same of all of them. */
  readonly total: number;
}

/** Sizes of texts or token lists in either form. Long texts count as nothing here: they are not in the skeleton. */
export function sizesOf(input: EmbeddingsInput): Sizes {
  if (typeof input === "string")
    return { kind: "texts", inputs: 1, longest: input.length, total: input.length };
  if (typeof input[0] === "number")
    return { kind: "tokens", inputs: 1, longest: input.length, total: input.length };
  let longest = 0;
  let total = 0;
  for (const { length } of input as readonly (string | readonly number[])[]) {
    if (length > longest) longest = length;
    total += length;
  }
  return { kind: typeof input[0] === "string" ? "texts" : "tokens", inputs: input.length, longest, total };
}
