/**
 * Simulated embeddings and relevance: derived from the text alone, so that equal texts have equal vectors in every
 * dialect, encoding and process. Vectors have unit length.
 */
import { hash } from "node:crypto";
import { seededRandom } from "../src/base/clock.ts";
import { fail } from "../src/base/errors.ts";
import type { JsonObject } from "./schema.ts";

/** Small, to keep bodies readable; real models have some hundred to some thousand. */
const DEFAULT_DIMENSIONS = 8;
const MAX_DIMENSIONS = 4_096;

/** Unit length up to the rounding of its 32-bit floats. */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const random = seededRandom(Number.parseInt(hash("sha256", text, "hex").slice(0, 8), 16));
  const raw = Float64Array.from({ length: dimensions }, () => 2 * random() - 1);
  const length = Math.hypot(...raw) || 1;
  return Float32Array.from(raw, (value) => value / length);
}

/** @throws WeirError `invalid_value` unless the member is absent, null, or a valid number of dimensions */
export function dimensionsOf(json: JsonObject, name: string): number {
  const value = json[name] ?? DEFAULT_DIMENSIONS;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > MAX_DIMENSIONS) {
    throw fail("invalid_value", `'${name}' must be an integer from 1 to ${MAX_DIMENSIONS}.`, { param: name });
  }
  return value;
}

/** Little-endian 32-bit floats, as OpenAI, Voyage and Cohere send them. */
export function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => {
    bytes.writeFloatLE(value, i * 4);
  });
  return bytes.toString("base64");
}

/** Encodings of a vector's numbers: floats, bytes, or one bit per dimension packed into bytes. */
export const NUMBER_TYPES = ["float", "int8", "uint8", "binary", "ubinary"] as const;
export type NumberType = (typeof NUMBER_TYPES)[number];

/** @throws WeirError `invalid_value` where bits do not fill whole bytes */
export function numbersOf(vector: Float32Array, type: NumberType): number[] {
  const values = Array.from(vector);
  switch (type) {
    case "float":
      return values;
    case "int8":
      return values.map((value) => Math.round(value * 127));
    case "uint8":
      return values.map((value) => Math.round((value + 1) * 127.5));
    case "ubinary":
      return packed(values);
    case "binary":
      return packed(values).map((byte) => byte - 128);
  }
}

/** One bit per dimension, set where the value is positive, first dimension in the highest bit. */
function packed(values: readonly number[]): number[] {
  if (values.length % 8 !== 0) throw fail("invalid_value", "Packed bits need a multiple of 8 dimensions.");
  const bytes: number[] = [];
  for (let at = 0; at < values.length; at += 8) {
    bytes.push(values.slice(at, at + 8).reduce((byte, value) => (byte << 1) | (value > 0 ? 1 : 0), 0));
  }
  return bytes;
}

export interface Ranked {
  /** Position in the documents of the request, from 0. */
  readonly index: number;
  /** 0 to 1: share of the query's words in the document, reduced by other words. */
  readonly relevance: number;
}

/** The documents, most relevant first; equals in the order of the request. */
export function ranked(query: string, documents: readonly string[], count?: number): Ranked[] {
  const wanted = wordsOf(query);
  const scored = documents.map((document, index): Ranked => {
    const words = wordsOf(document);
    const shared = [...wanted].filter((word) => words.has(word)).length;
    const coverage = shared / Math.max(1, wanted.size);
    const density = shared / Math.max(1, words.size);
    return { index, relevance: Math.round((0.9 * coverage + 0.1 * density) * 1e6) / 1e6 };
  });
  return scored.sort((a, b) => b.relevance - a.relevance || a.index - b.index).slice(0, count);
}

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
