/** Log probabilities of tokens, read from whatever an upstream sends (OpenAI API reference, "logprobs"). */
import type { Logprob } from "../neutral.ts";
import { isObject, listOf } from "../reader.ts";

type Token = Omit<Logprob, "top_logprobs">;

/** Undefined where there are none. */
export function readLogprobs(value: unknown): readonly Logprob[] | undefined {
  const read: Logprob[] = [];
  for (const item of listOf(value)) {
    const token = readToken(item);
    if (token === undefined || !isObject(item)) continue;
    const top = listOf(item.top_logprobs).flatMap((other) => readToken(other) ?? []);
    read.push({ ...token, top_logprobs: top });
  }
  return read.length === 0 ? undefined : read;
}

function readToken(value: unknown): Token | undefined {
  if (!isObject(value)) return undefined;
  const { token, logprob, bytes } = value;
  if (typeof token !== "string" || typeof logprob !== "number") return undefined;
  return { token, logprob, bytes: isBytes(bytes) ? bytes : null };
}

const isBytes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((byte) => typeof byte === "number");
