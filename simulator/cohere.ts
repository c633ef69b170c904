/**
 * Cohere's second API version: embeddings by type, and reranking billed in search units.
 * Shapes: https://docs.cohere.com/reference/embed, https://docs.cohere.com/reference/rerank
 */
import { hash } from "node:crypto";
import { fail } from "../src/base/errors.ts";
import type { ReportedError } from "./dialect.ts";
import { modelOf } from "./embeddings.ts";
import { documentsOf, queryOf } from "./rerank.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { wholeNumber } from "./simulated-request.ts";
import {
  type RouteRequest,
  readRoute,
  routeUsage,
  type SimulatedRoute,
  tokensOf,
} from "./simulated-route.ts";
import {
  base64Of,
  dimensionsOf,
  NUMBER_TYPES,
  type NumberType,
  numbersOf,
  ranked,
  vectorOf,
} from "./vectors.ts";

type Encoding = NumberType | "base64";

interface EmbedWanted {
  readonly id: string;
  readonly texts: readonly string[];
  readonly encodings: readonly Encoding[];
  readonly dimensions: number;
}

interface RerankWanted {
  readonly id: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** Maximum number of results; undefined: all. */
  readonly count: number | undefined;
}

const INPUT_TYPES = ["search_document", "search_query", "classification", "clustering", "image"];
const MAX_TEXTS = 96;
/** A search unit is a query with up to this many documents. */
const DOCUMENTS_A_UNIT = 100;
const API_VERSION = Object.freeze({ version: "2" });

/** Derived from the body, in the form of a UUID. */
function idOf(json: JsonObject): string {
  const digest = hash("sha256", JSON.stringify(json), "hex");
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function textsOf(json: JsonObject): string[] {
  const texts = json.texts ?? (Array.isArray(json.inputs) ? json.inputs.map(inputText) : undefined);
  if (!Array.isArray(texts) || texts.length === 0 || texts.length > MAX_TEXTS) {
    const message = `invalid request: total number of texts must be at least 1 and at most ${MAX_TEXTS}`;
    throw fail("invalid_value", message, { param: "texts" });
  }
  return texts.map((text: unknown, i) => {
    if (typeof text === "string") return text;
    throw fail("invalid_value", `invalid request: texts[${i}] is not a text`, { param: `texts[${i}]` });
  });
}

/** The text parts of an input. */
function inputText(input: unknown): string | undefined {
  if (!isObject(input) || !Array.isArray(input.content)) return undefined;
  return input.content.map((part: unknown) => (isObject(part) ? (part.text ?? "") : "")).join("");
}

const ENCODINGS: readonly Encoding[] = [...NUMBER_TYPES, "base64"];

function encodingsOf(json: JsonObject): Encoding[] {
  const types: unknown = json.embedding_types ?? ["float"];
  const found = Array.isArray(types)
    ? types.map((type: unknown) => ENCODINGS.find((encoding) => encoding === type))
    : [];
  const known = found.filter((encoding) => encoding !== undefined);
  if (known.length > 0 && known.length === found.length) return known;
  throw fail("invalid_value", "invalid request: embedding_types is not a list of known types", {
    param: "embedding_types",
  });
}

function readEmbed(json: JsonObject): EmbedWanted {
  modelOf(json);
  if (typeof json.input_type !== "string" || !INPUT_TYPES.includes(json.input_type)) {
    const message = "invalid request: valid input_type must be provided with the provided model";
    throw fail("invalid_value", message, { param: "input_type" });
  }
  const dimensions = dimensionsOf(json, "output_dimension");
  return { id: idOf(json), texts: textsOf(json), encodings: encodingsOf(json), dimensions };
}

export const cohereEmbed: SimulatedRoute<EmbedWanted & RouteRequest> = {
  path: /^(.*)\/v2\/embed$/,
  read: (body) => readRoute(body, readEmbed),
  reply({ id, texts, encodings, dimensions }, instruction) {
    const vectors = texts.map((text) => vectorOf(text, dimensions));
    const encoded = encodings.map((encoding) => [
      encoding,
      vectors.map((vector) => (encoding === "base64" ? base64Of(vector) : numbersOf(vector, encoding))),
    ]);
    const billed = routeUsage(instruction, tokensOf(texts), (tokens) => ({ input_tokens: tokens }));
    return JSON.stringify({
      id,
      embeddings: Object.fromEntries(encoded),
      texts,
      meta: { api_version: API_VERSION, billed_units: billed },
      response_type: "embeddings_by_type",
    });
  },
  error: cohereError,
};

function readRerank(json: JsonObject): RerankWanted {
  modelOf(json);
  const count = wholeNumber(json, "top_n");
  return { id: idOf(json), query: queryOf(json), documents: documentsOf(json), count };
}

export const cohereRerank: SimulatedRoute<RerankWanted & RouteRequest> = {
  path: /^(.*)\/v2\/rerank$/,
  read: (body) => readRoute(body, readRerank),
  reply({ id, query, documents, count }, instruction) {
    const results = ranked(query, documents, count).map(({ index, relevance }) => ({
      index,
      relevance_score: relevance,
    }));
    // Cohere bills searches, so `prompt_tokens` is ignored.
    const { prompt_tokens: _, ...told } = instruction;
    const units = Math.ceil(documents.length / DOCUMENTS_A_UNIT);
    const billed = routeUsage(told, units, (search_units) => ({ search_units }));
    return JSON.stringify({ id, results, meta: { api_version: API_VERSION, billed_units: billed } });
  },
  error: cohereError,
};

function cohereError({ message }: ReportedError): string {
  return JSON.stringify({ id: idOf({ message }), message });
}
