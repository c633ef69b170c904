/** The two formats in which clients ask for embeddings: OpenAI's `/v1/embeddings` and our own `/v1/svc/embed`. */
import type { ClientFormat } from "../format.ts";
import type { EmbedRequest } from "./neutral.ts";
import { embeddingsTexts, embedTexts, readEmbeddingsRequest, readEmbedRequest } from "./request.ts";
import { embeddingsSplice } from "./splice.ts";
import { WHOLE_ONLY } from "./task.ts";

export const embeddingsFormat: ClientFormat<EmbedRequest> = {
  ...WHOLE_ONLY,
  name: "embeddings",
  key: "embeddings",
  task: "embed",
  // Its answers have no id.
  idPrefix: "",
  promptAt: "/input",
  read: readEmbeddingsRequest,
  promptTexts: embeddingsTexts,
  splice: { dialect: "openai_embeddings", passage: embeddingsSplice },
};

export const embedFormat: ClientFormat<EmbedRequest> = {
  ...WHOLE_ONLY,
  name: "embed",
  key: "embed",
  task: "embed",
  idPrefix: "",
  promptAt: "/input",
  read: readEmbedRequest,
  promptTexts: embedTexts,
  splice: undefined,
};
