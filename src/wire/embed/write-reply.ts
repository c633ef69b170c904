/** Answers as the two formats of clients have them, whatever dialect they came in. */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity } from "../format.ts";
import type { SvcReply } from "../neutral/contract.ts";
import type { EmbedFormat, NeutralEmbedReply } from "./neutral.ts";
import { embeddingsNeutral, embedNeutral } from "./neutral-request.ts";
import { usageSourceOf } from "./task.ts";

/** Translation of OpenAI's format. */
export const embeddingsWire: EmbedFormat = {
  neutral: embeddingsNeutral,
  writeReply: (reply, identity, usage, svc) => JSON.stringify(embeddingsAnswer(reply, identity, usage, svc)),
};

/** Translation of the native format. */
export const embedWire: EmbedFormat = {
  neutral: embedNeutral,
  writeReply: (reply, identity, usage, svc) => JSON.stringify(embedAnswer(reply, identity, usage, svc)),
};

/** OpenAI's answer; `embedding` is a string where the client asked for base64. */
export const embeddingsAnswer = (
  { vectors }: NeutralEmbedReply,
  { model }: AnswerIdentity,
  { inputTokens }: Usage,
  svc: SvcReply,
) => ({
  object: "list" as const,
  data: vectors.map((embedding, index) => ({ object: "embedding" as const, index, embedding })),
  model,
  usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
  svc,
});

function embedAnswer(
  { vectors, usage: reported }: NeutralEmbedReply,
  identity: AnswerIdentity,
  usage: Usage,
  svc: SvcReply,
) {
  const { inputTokens } = usage;
  return {
    object: "list",
    id: identity.id,
    model: identity.model,
    data: vectors.map((embedding, index) => ({ index, embedding, dimensions: embedding.length })),
    usage: {
      input_tokens: inputTokens,
      total_tokens: inputTokens,
      source: usageSourceOf({ usage: reported, outputBytes: vectors.length }),
    },
    resolved: { provider: svc.provider, endpoint_id: svc.endpoint_id },
    cost: svc.cost,
    warnings: svc.warnings,
  };
}
