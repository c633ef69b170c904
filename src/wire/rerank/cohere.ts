/**
 * Cohere's rerank, second version (https://docs.cohere.com/reference/rerank): billed in search units. It truncates documents
 * to `max_tokens_per_doc`, and offers no way to refuse instead.
 */
import { NO_USAGE } from "../../base/usage.ts";
import { readPromptUsage } from "../embed/usage.ts";
import { countOf, objectOf } from "../neutral/reader.ts";
import type { RerankDialect } from "./neutral.ts";
import { readRanking } from "./read-reply.ts";

export const cohereRerank: RerankDialect = {
  name: "cohere",
  writeRequest: ({ query, documents, topN }, { upstreamModel }) => ({
    model: upstreamModel,
    query,
    documents,
    ...(topN !== undefined && { top_n: topN }),
  }),
  readReply(body) {
    const billed = objectOf(objectOf(body.meta).billed_units);
    const searchUnits = countOf(billed.search_units);
    return {
      results: readRanking(body.results),
      usage:
        searchUnits > 0
          ? { ...NO_USAGE, searchUnits, inputTokens: countOf(billed.input_tokens) }
          : readPromptUsage(billed.input_tokens),
    };
  },
};
