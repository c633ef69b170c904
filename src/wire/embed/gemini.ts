/**
 * Google's `batchEmbedContents` (https://ai.google.dev/api/embeddings): one request an input, each with the model and its
 * options, at most 100 of them. It truncates what is too long for the model, and offers no way to refuse instead.
 */
import { listOf, objectOf } from "../neutral/reader.ts";
import { type EmbedDialect, type InputType, textsOf } from "./neutral.ts";
import { withLeftOut } from "./task.ts";
import { readPromptUsage } from "./usage.ts";
import { noVectors, readVectors } from "./vectors.ts";

const TASK_TYPES: Readonly<Record<InputType, string>> = {
  query: "RETRIEVAL_QUERY",
  document: "RETRIEVAL_DOCUMENT",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
  similarity: "SEMANTIC_SIMILARITY",
};

export const geminiEmbeddings: EmbedDialect = {
  name: "gemini_embeddings",
  writeRequest(request, endpoint) {
    const { inputType, dimensions, user, dropped } = request;
    const { upstreamModel } = endpoint;
    const shared = {
      model: upstreamModel.startsWith("models/") ? upstreamModel : `models/${upstreamModel}`,
      ...(inputType !== undefined && { taskType: TASK_TYPES[inputType.value] }),
      ...(dimensions !== undefined && { outputDimensionality: dimensions.value }),
    };
    const requests = textsOf(request, endpoint).map((text) => ({
      ...shared,
      content: { parts: [{ text }] },
    }));
    return { body: { requests }, dropped: withLeftOut(dropped, user) };
  },
  readReply(body) {
    if (!Array.isArray(body.embeddings)) throw noVectors();
    return {
      vectors: readVectors(listOf(body.embeddings).map((embedding) => objectOf(embedding).values)),
      // Newer models report it; for the others the prompt is estimated.
      usage: readPromptUsage(objectOf(body.usageMetadata).promptTokenCount),
    };
  },
};
