/** The requests of both embedding formats in neutral terms. */
import { fail } from "../../base/errors.ts";
import { optional, stringAt, wrong } from "../neutral/fields.ts";
import type { FieldValue } from "../neutral/neutral.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { type EmbedRequest, type NeutralEmbedRequest, vectorEncoding } from "./neutral.ts";
import { NO_PROMPT } from "./request.ts";
import { INPUT_KINDS, inputTypeOf, isEmbeddingsInput } from "./schema.ts";
import { strangersIn } from "./task.ts";
/** OpenAI's request. Its clients also send `input_type`, which other gateways accept. */
export function embeddingsNeutral(request: EmbedRequest, source: Source): NeutralEmbedRequest {
  const dropped = strangersIn(request, ["input", ...NO_PROMPT]);
  const type = objectOf(source.value).input_type;
  if (type != null && inputTypeOf(type) === undefined) dropped.push("/input_type");
  refuseUntranslatable(request, objectOf(source.value));
  return neutralOf(request, source, dropped);
}

/** Checks, before a translation, what a splice leaves to the upstream to check. @throws WeirError 400 naming the field */
function refuseUntranslatable({ encoding }: EmbedRequest, body: JsonObject): void {
  const { input, user } = body;
  if (!isEmbeddingsInput(input)) throw fail("invalid_value", `/input: ${INPUT_KINDS}.`, { param: "/input" });
  if (encoding === "other") throw wrong("/encoding_format", "float or base64");
  optional(user, "/user", stringAt);
}

/** The native request: all of it is known. */
export const embedNeutral = (request: EmbedRequest, source: Source): NeutralEmbedRequest =>
  neutralOf(request, source, []);

function neutralOf(request: EmbedRequest, source: Source, dropped: readonly string[]): NeutralEmbedRequest {
  const body = objectOf(source.value);
  const inputType = inputTypeOf(body.input_type);
  return {
    input: inputOf(body.input),
    encoding: vectorEncoding(request),
    dropped,
    ...(inputType !== undefined && { inputType: fieldValue(inputType, "/input_type") }),
    ...(typeof body.dimensions === "number" && { dimensions: fieldValue(body.dimensions, "/dimensions") }),
    ...(typeof body.user === "string" && { user: fieldValue(body.user, "/user") }),
  };
}

const fieldValue = <T>(value: T, at: string): FieldValue<T> => ({ value, at });

function inputOf(input: unknown): NeutralEmbedRequest["input"] {
  const list = Array.isArray(input) ? listOf(input) : [input];
  const [first] = list;
  if (typeof first === "number") return { kind: "tokens", tokens: [list as number[]] };
  if (Array.isArray(first)) return { kind: "tokens", tokens: list as number[][] };
  return { kind: "texts", texts: list.map(stringOf) };
}
