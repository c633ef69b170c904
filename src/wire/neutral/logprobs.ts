/** Log probabilities of tokens as OpenAI writes them (API reference, "logprobs"), read from whatever an upstream sends. */
import type { Logprob } from "./neutral.ts";
import { listOf, objectOf } from "./reader.ts";

/** Undefined where there are none. */
export function readLogprobs(value: unknown): readonly Logprob[] | undefined {
  const read = listOf(value).flatMap((item) => {
    const token = readToken(item);
    if (token === undefined) return [];
    return [
      { ...token, top_logprobs: listOf(objectOf(item).top_logprobs).flatMap((top) => readToken(top) ?? []) },
    ];
  });
  return read.length === 0 ? undefined : read;
}

function readToken(value: unknown): Omit<Logprob, "top_logprobs"> | undefined {
  const { token, logprob, bytes } = objectOf(value);
  if (typeof token !== "string" || typeof logprob !== "number") return undefined;
  return { token, logprob, bytes: isBytes(bytes) ? bytes : null };
}

const isBytes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((byte) => typeof byte === "number");
