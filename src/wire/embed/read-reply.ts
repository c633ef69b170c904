/** The answer of OpenAI's embeddings, which Jina and Voyage share: `data` of vectors with their place, `usage` of tokens. */
import { objectOf } from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import type { NeutralEmbedReply } from "./neutral.ts";
import { readPromptUsage } from "./usage.ts";
import { readIndexed } from "./vectors.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no list of embeddings. */
export function readOpenAiReply(value: unknown): NeutralEmbedReply {
  const body = objectOf(value);
  const error = errorIn(body);
  if (error !== undefined) return { vectors: [], usage: undefined, error };
  const usage = objectOf(body.usage);
  return {
    vectors: readIndexed(body.data),
    usage: readPromptUsage(usage.prompt_tokens, usage.total_tokens),
  };
}

/** An error that came with status 200, in the shapes in which OpenAI and vLLM have them. */
export function errorIn(body: Readonly<Record<string, unknown>>): NeutralEmbedReply["error"] {
  if (body.error) return readErrorValue(body.error);
  return body.object === "error" ? readErrorValue(body) : undefined;
}
