/** The answer of our own format of rankings. */
import type { Usage } from "../../base/usage.ts";
import { usageSourceOf } from "../embed/task.ts";
import type { AnswerIdentity } from "../format.ts";
import type { ReplyFacts, SvcReply } from "../neutral/contract.ts";
import { listOf, objectOf } from "../neutral/reader.ts";
import { bytesOf, Source } from "../neutral/source.ts";
import type { NeutralRerankReply, RerankRequest } from "./neutral.ts";

/**
 * The answer's JSON.
 * @param facts of the upstream's answer: whether it reported usage
 * @param usage what the call was metered by
 */
export function writeRerankReply(
  { results }: NeutralRerankReply,
  { bytes, elided, topN, returnDocuments }: RerankRequest,
  { id, model }: AnswerIdentity,
  facts: ReplyFacts,
  usage: Usage,
  svc: SvcReply,
): Buffer {
  const answerOf = (documents?: readonly unknown[]) => ({
    object: "rerank",
    id,
    model,
    // Upstreams that have no bound of their own send all of them.
    results: results.slice(0, topN).map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(documents !== undefined && { document: { text: documents[index] } }),
    })),
    usage: {
      input_tokens: usage.inputTokens,
      search_units: usage.searchUnits ?? 0,
      source: usageSourceOf(facts),
    },
    resolved: { provider: svc.provider, endpoint_id: svc.endpoint_id },
    cost: svc.cost,
    warnings: svc.warnings,
  });
  if (!returnDocuments) return Buffer.from(JSON.stringify(answerOf()));
  // The documents go back as the bytes that they came in.
  const source = new Source(bytes, elided);
  const documents = listOf(objectOf(source.value).documents);
  return Buffer.concat(bytesOf(bytes, source.piecesOf(answerOf(documents))));
}
