/** Jina's rerank (https://api.jina.ai/docs). It sends the documents back unless the request switches that off. */
import { readPromptUsage } from "../embed/usage.ts";
import { objectOf } from "../neutral/reader.ts";
import type { RerankDialect } from "./neutral.ts";
import { readRanking } from "./read-reply.ts";

export const jinaRerank: RerankDialect = {
  name: "jina",
  writeRequest: ({ query, documents, topN }, { upstreamModel }) => ({
    model: upstreamModel,
    query,
    documents,
    return_documents: false,
    ...(topN !== undefined && { top_n: topN }),
  }),
  readReply(body) {
    const usage = objectOf(body.usage);
    return {
      results: readRanking(body.results),
      usage: readPromptUsage(usage.total_tokens, usage.prompt_tokens),
    };
  },
};
