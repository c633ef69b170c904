/** OpenAI's embeddings as an upstream dialect, for clients of another format (API reference, "Create embeddings"). */
import type { EmbedDialect } from "./neutral.ts";
import { readOpenAiReply } from "./read-reply.ts";
import { withLeftOut } from "./task.ts";

export const openAiEmbeddings: EmbedDialect = {
  name: "openai_embeddings",
  writeRequest({ input, encoding, dimensions, user, inputType, dropped }, endpoint) {
    return {
      body: {
        model: endpoint.upstreamModel,
        input: input.kind === "texts" ? input.texts : input.tokens,
        ...(encoding === "base64" && { encoding_format: encoding }),
        ...(dimensions !== undefined && { dimensions: dimensions.value }),
        ...(user !== undefined && { user: user.value }),
      },
      dropped: withLeftOut(dropped, inputType),
    };
  },
  readReply: readOpenAiReply,
};
