/**
 * OpenAI's embeddings route, and the two variants of it that Voyage and Jina serve on the same path. A `/voyage` or
 * `/jina` segment before `/v1` picks the variant, because they differ in their fields, their usage and their errors.
 * Shapes: https://platform.openai.com/docs/api-reference/embeddings,
 * https://docs.voyageai.com/reference/embeddings-api, https://api.jina.ai/docs
 */
import { fail } from "../src/base/errors.ts";
import { openaiError } from "./chat.ts";
import type { ReportedError } from "./dialect.ts";
import { isObject, type JsonObject } from "./schema.ts";
import {
  type RouteRequest,
  readRoute,
  routeUsage,
  type SimulatedRoute,
  shown,
  tokensOf,
} from "./simulated-route.ts";
import { base64Of, dimensionsOf, NUMBER_TYPES, type NumberType, numbersOf, vectorOf } from "./vectors.ts";

interface Input {
  /** The text that determines the vector. */
  readonly text: string;
  readonly tokens: number;
}

interface Wanted {
  readonly model: string;
  readonly inputs: readonly Input[];
  readonly dimensions: number;
  readonly encoding: NumberType | "base64";
}

type EmbeddingsRequest = Wanted & RouteRequest;

const MAX_INPUTS = 2_048;

/** @throws WeirError `invalid_value` unless the body names a model */
export function modelOf(json: JsonObject): string {
  if (typeof json.model !== "string" || json.model === "") {
    throw fail("invalid_value", "you must provide a model parameter", { param: "model" });
  }
  return json.model;
}

/** One text, several, one list of token ids, or several. */
function openaiInputs(input: unknown): Input[] {
  const isTokens = (value: unknown) => Array.isArray(value) && value.every(Number.isSafeInteger);
  const inputs: unknown = typeof input === "string" || isTokens(input) ? [input] : input;
  if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > MAX_INPUTS) throw wrongInput();
  return inputs.map((one: unknown): Input => {
    if (one === "" || (Array.isArray(one) && one.length === 0)) throw wrongInput();
    if (typeof one === "string") return { text: one, tokens: tokensOf([one]) };
    if (Array.isArray(one) && isTokens(one)) return { text: one.join(" "), tokens: one.length };
    throw wrongInput();
  });
}

const wrongInput = () => fail("invalid_value", "'$.input' is invalid.", { param: "input" });

/** Only texts, as the variants accept; Jina also as objects `{text}`. */
function textInputs(input: unknown): Input[] {
  const inputs: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (inputs.length === 0 || inputs.length > MAX_INPUTS) throw wrongInput();
  return inputs.map((one) => {
    const text = isObject(one) ? one.text : one;
    if (typeof text !== "string" || text === "") throw wrongInput();
    return { text, tokens: tokensOf([text]) };
  });
}

function oneOf<Value extends string>(json: JsonObject, name: string, allowed: readonly Value[]) {
  const value = json[name] ?? undefined;
  if (value === undefined) return undefined;
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  const accepted = allowed.map((one) => `'${one}'`).join(" or ");
  const message = `Value '${shown(value)}' supplied for argument '${name}' is not valid -- accepted values are ${accepted}.`;
  throw fail("invalid_value", message, { param: name });
}

function listOf({ inputs, dimensions, encoding }: Wanted) {
  return inputs.map(({ text }, index) => {
    const vector = vectorOf(text, dimensions);
    const embedding = encoding === "base64" ? base64Of(vector) : numbersOf(vector, encoding);
    return { object: "embedding", index, embedding };
  });
}

const tokensIn = ({ inputs }: Wanted): number => inputs.reduce((sum, input) => sum + input.tokens, 0);

/** The errors of Voyage and Jina. */
export const detailError = ({ message }: ReportedError): string => JSON.stringify({ detail: message });

function readOpenai(json: JsonObject): Wanted {
  return {
    model: modelOf(json),
    inputs: openaiInputs(json.input),
    dimensions: dimensionsOf(json, "dimensions"),
    encoding: oneOf(json, "encoding_format", ["float", "base64"]) ?? "float",
  };
}

export const embeddings: SimulatedRoute<EmbeddingsRequest> = {
  path: /^(.*)\/v1\/embeddings$/,
  read: (body) => readRoute(body, readOpenai),
  reply(request, instruction) {
    const usage = routeUsage(instruction, tokensIn(request), (tokens) => ({
      prompt_tokens: tokens,
      total_tokens: tokens,
    }));
    return JSON.stringify({ object: "list", data: listOf(request), model: request.model, usage });
  },
  error: openaiError,
};

const VOYAGE_FIELDS = new Set([
  "input",
  "model",
  "input_type",
  "truncation",
  "encoding_format",
  "output_dimension",
  "output_dtype",
]);

/** Refuses unknown fields, including OpenAI's `dimensions` and `user`. */
function readVoyage(json: JsonObject): Wanted {
  const model = modelOf(json);
  const stranger = Object.keys(json).find((field) => !VOYAGE_FIELDS.has(field));
  if (stranger !== undefined) {
    const message = `Request to model '${model}' failed. Argument '${stranger}' is not supported by our API.`;
    throw fail("invalid_value", message, { param: stranger });
  }
  oneOf(json, "input_type", ["query", "document"]);
  const dtype = oneOf(json, "output_dtype", NUMBER_TYPES) ?? "float";
  return {
    model,
    inputs: textInputs(json.input),
    dimensions: dimensionsOf(json, "output_dimension"),
    encoding: oneOf(json, "encoding_format", ["base64"]) ?? dtype,
  };
}

export const voyageEmbeddings: SimulatedRoute<EmbeddingsRequest> = {
  path: /^(.*\/voyage(?:\/.*)?)\/v1\/embeddings$/,
  read: (body) => readRoute(body, readVoyage),
  reply(request, instruction) {
    const usage = routeUsage(instruction, tokensIn(request), (tokens) => ({ total_tokens: tokens }));
    return JSON.stringify({ object: "list", data: listOf(request), model: request.model, usage });
  },
  error: detailError,
};

const JINA_TASKS = ["retrieval.query", "retrieval.passage", "separation", "classification", "text-matching"];

function readJina(json: JsonObject): Wanted {
  oneOf(json, "task", JINA_TASKS);
  return {
    model: modelOf(json),
    inputs: textInputs(json.input),
    dimensions: dimensionsOf(json, "dimensions"),
    encoding: oneOf(json, "embedding_type", ["float", "base64", "binary", "ubinary"]) ?? "float",
  };
}

export const jinaEmbeddings: SimulatedRoute<EmbeddingsRequest> = {
  path: /^(.*\/jina(?:\/.*)?)\/v1\/embeddings$/,
  read: (body) => readRoute(body, readJina),
  reply(request, instruction) {
    const usage = routeUsage(instruction, tokensIn(request), (tokens) => ({
      total_tokens: tokens,
      prompt_tokens: tokens,
    }));
    return JSON.stringify({ model: request.model, object: "list", usage, data: listOf(request) });
  },
  error: detailError,
};
