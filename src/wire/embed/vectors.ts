/**
 * Vectors in answers: lists of numbers, or base64 of little-endian 32-bit floats (OpenAI's
 * `encoding_format`). What is written is always finite: JSON has no other numbers.
 */
import { endianness } from "node:os";
import { fail } from "../../base/errors.ts";
import { isObject } from "../neutral/reader.ts";

export type VectorEncoding = "float" | "base64";

/** Numbers, or their base64. */
export type Vector = number[] | string;

const FLOAT_BYTES = 4;
const SWAPPED = endianness() === "BE";

/** The vector in the encoding that the client asked for. @throws WeirError `upstream_invalid_response` */
export function encoded(vector: Vector, encoding: VectorEncoding): Vector {
  if (encoding === "base64") return typeof vector === "string" ? vector : base64Of(vector);
  return typeof vector === "string" ? floatsOf(vector) : vector;
}

export function base64Of(numbers: readonly number[]): string {
  const bytes = Buffer.from(Float32Array.from(numbers).buffer);
  return (SWAPPED ? bytes.swap32() : bytes).toString("base64");
}

/**
 * The numbers of 32-bit floats; of signed bytes where the provider quantised them (Perplexity's `base64_int8`).
 * @throws WeirError `upstream_invalid_response` where the text is no such encoding.
 */
export function floatsOf(base64: string): number[] {
  // Copied to its own memory, so that its offset is aligned for floats.
  const bytes = Buffer.from(new Uint8Array(Buffer.from(base64, "base64")).buffer);
  if (bytes.length % FLOAT_BYTES !== 0) throw noVectors();
  const floats = Buffer.from(new Uint8Array(bytes).buffer);
  if (SWAPPED) floats.swap32();
  const numbers = Array.from(new Float32Array(floats.buffer));
  if (areBytes(numbers)) return [...new Int8Array(bytes.buffer)];
  if (!isVector(numbers)) throw noVectors();
  return numbers;
}

/** No model's vectors hold larger numbers. */
const LARGE = 1e15;
/** No model that quantises has fewer dimensions. */
const FEWEST_BYTES = 128;

/**
 * Whether floats are signed bytes in truth: the last of four bytes is negative in every second, which makes the float huge.
 */
function areBytes(numbers: readonly number[]): boolean {
  let large = 0;
  for (const number of numbers) if (!(Math.abs(number) < LARGE)) large++;
  return large * 8 > numbers.length && numbers.length * FLOAT_BYTES >= FEWEST_BYTES;
}

/** @throws WeirError `upstream_invalid_response` unless the value is a list of vectors. */
export function readVectors(value: unknown): Vector[] {
  if (!Array.isArray(value) || !value.every(isVector)) throw noVectors();
  return value;
}

/**
 * The vectors of OpenAI's `data` list, in the order of the inputs: each has its index, or is at it.
 * @throws WeirError `upstream_invalid_response`
 */
export function readIndexed(data: unknown): Vector[] {
  if (!Array.isArray(data)) throw noVectors();
  const vectors: (Vector | undefined)[] = new Array(data.length).fill(undefined);
  for (const [position, item] of data.entries()) {
    if (!isObject(item) || !isVector(item.embedding)) throw noVectors();
    const index = item.index ?? position;
    // An index beyond the list, or a repeated one: its input is unknown.
    if (typeof index !== "number" || !(index in vectors) || vectors[index] !== undefined) throw noVectors();
    vectors[index] = item.embedding;
  }
  return vectors as Vector[];
}

function isVector(value: unknown): value is Vector {
  if (typeof value === "string") return true;
  if (!Array.isArray(value)) return false;
  for (const number of value) if (!Number.isFinite(number)) return false;
  return true;
}

export const noVectors = () => fail("upstream_invalid_response", "The provider's answer holds no vectors.");
