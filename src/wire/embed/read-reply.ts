/** The answer of OpenAI's embeddings, which Jina and Voyage share: `data` of vectors with their place, `usage` of tokens. */
import type { UpstreamError } from "../neutral/contract.ts";
import { type JsonObject, objectOf } from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { saysReason } from "../neutral/upstream-errors/bare-error.ts";
import type { NeutralEmbedReply } from "./neutral.ts";
import { readPromptUsage } from "./usage.ts";
import { readIndexed } from "./vectors.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no list of embeddings. */
export function readOpenAiReply(body: JsonObject): NeutralEmbedReply {
  const usage = objectOf(body.usage);
  return {
    vectors: readIndexed(body.data),
    usage: readPromptUsage(usage.prompt_tokens, usage.total_tokens),
  };
}

/** An error that came with status 200. */
export function errorIn(body: JsonObject): UpstreamError | undefined {
  const isAnswer = body.data ?? body.embeddings ?? body.embedding ?? body.results ?? body.predictions;
  return body.error || (isAnswer === undefined && saysReason(body)) ? readErrorValue(body) : undefined;
}
