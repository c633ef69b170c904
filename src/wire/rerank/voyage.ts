/**
 * Voyage's rerank (https://docs.voyageai.com/reference/reranker-api): `top_k` for `top_n`, `data` for `results`. What is too
 * long is refused rather than truncated.
 */
import { readPromptUsage } from "../embed/usage.ts";
import { objectOf } from "../neutral/reader.ts";
import type { RerankDialect } from "./neutral.ts";
import { readRanking } from "./read-reply.ts";

export const voyageRerank: RerankDialect = {
  name: "voyage",
  writeRequest: ({ query, documents, topN }, { upstreamModel }) => ({
    model: upstreamModel,
    query,
    documents,
    truncation: false,
    ...(topN !== undefined && { top_k: topN }),
  }),
  readReply: ({ data, usage }) => ({
    results: readRanking(data),
    usage: readPromptUsage(objectOf(usage).total_tokens),
  }),
};
