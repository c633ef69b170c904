/**
 * Cohere's embed, second version (https://docs.cohere.com/reference/embed): at most 96 texts, vectors by type, and
 * `input_type` is required. What is too long is refused rather than truncated, as everywhere here.
 */
import { objectOf } from "../neutral/reader.ts";
import { type EmbedDialect, type InputType, textsOf } from "./neutral.ts";
import { withLeftOut } from "./task.ts";
import { readPromptUsage } from "./usage.ts";
import { readVectors } from "./vectors.ts";

const INPUT_TYPES: Readonly<Partial<Record<InputType, string>>> = {
  query: "search_query",
  document: "search_document",
  classification: "classification",
  clustering: "clustering",
};

/** The use if the client sets none: documents, which an index is made of. */
const DEFAULT_TYPE = "search_document";

export const cohereEmbed: EmbedDialect = {
  name: "cohere",
  writeRequest(request, endpoint) {
    const { encoding, inputType, dimensions, user, dropped } = request;
    const known = inputType && INPUT_TYPES[inputType.value];
    return {
      body: {
        model: endpoint.upstreamModel,
        texts: textsOf(request, endpoint),
        input_type: known ?? DEFAULT_TYPE,
        embedding_types: [encoding],
        truncate: "NONE",
        ...(dimensions !== undefined && { output_dimension: dimensions.value }),
      },
      dropped: withLeftOut(dropped, known === undefined ? inputType : undefined, user),
    };
  },
  readReply(body) {
    const { base64, float } = objectOf(body.embeddings);
    const billed = objectOf(objectOf(body.meta).billed_units);
    return { vectors: readVectors(base64 ?? float), usage: readPromptUsage(billed.input_tokens) };
  },
};
