/** Jina's rerank (https://api.jina.ai/docs). It sends the documents back unless it is told not to. */
import { errorIn } from "../embed/openai-reply.ts";
import { promptUsage } from "../embed/tokens.ts";
import { objectOf } from "../reader.ts";
import type { RerankDialect } from "./neutral.ts";
import { readRanking } from "./ranking.ts";

export const jinaRerank: RerankDialect = {
  name: "jina",
  writeRequest: ({ query, documents, topN }, { upstreamModel }) => ({
    model: upstreamModel,
    query,
    documents,
    return_documents: false,
    ...(topN !== undefined && { top_n: topN }),
  }),
  readReply(value) {
    const body = objectOf(value);
    const error = errorIn(body);
    if (error !== undefined) return { results: [], usage: undefined, error };
    const usage = objectOf(body.usage);
    return {
      results: readRanking(body.results),
      usage: promptUsage(usage.total_tokens, usage.prompt_tokens),
    };
  },
};
