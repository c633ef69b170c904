/**
 * Voyage's embeddings (https://docs.voyageai.com/reference/embeddings-api): OpenAI's answer, and it refuses options that it
 * does not know. What is too long is refused rather than truncated, as everywhere here.
 */
import { type EmbedDialect, textsOf } from "./neutral.ts";
import { readOpenAiReply } from "./read-reply.ts";
import { withLeftOut } from "./task.ts";

export const voyageEmbeddings: EmbedDialect = {
  name: "voyage",
  writeRequest(request, endpoint) {
    const { encoding, inputType, dimensions, user, dropped } = request;
    const isKnown = inputType?.value === "query" || inputType?.value === "document";
    return {
      body: {
        model: endpoint.upstreamModel,
        input: textsOf(request, endpoint),
        truncation: false,
        ...(isKnown && { input_type: inputType.value }),
        ...(encoding === "base64" && { encoding_format: encoding }),
        ...(dimensions !== undefined && { output_dimension: dimensions.value }),
      },
      dropped: withLeftOut(dropped, isKnown ? undefined : inputType, user),
    };
  },
  readReply: readOpenAiReply,
};
