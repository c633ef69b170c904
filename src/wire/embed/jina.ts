/**
 * Jina's embeddings (https://api.jina.ai/docs): OpenAI's answer; its own words for the encoding and for what vectors are
 * for.
 */
import { type EmbedDialect, type InputType, textsOf } from "./neutral.ts";
import { readOpenAiReply } from "./read-reply.ts";
import { withLeftOut } from "./task.ts";

const TASKS: Readonly<Record<InputType, string>> = {
  query: "retrieval.query",
  document: "retrieval.passage",
  classification: "classification",
  clustering: "separation",
  similarity: "text-matching",
};

export const jinaEmbeddings: EmbedDialect = {
  name: "jina",
  writeRequest(request, endpoint) {
    const { encoding, inputType, dimensions, user, dropped } = request;
    return {
      body: {
        model: endpoint.upstreamModel,
        input: textsOf(request, endpoint),
        ...(inputType !== undefined && { task: TASKS[inputType.value] }),
        ...(encoding === "base64" && { embedding_type: encoding }),
        ...(dimensions !== undefined && { dimensions: dimensions.value }),
      },
      dropped: withLeftOut(dropped, user),
    };
  },
  readReply: readOpenAiReply,
};
