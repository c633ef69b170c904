/** Request and answer of `/v1/svc/rerank` (specification, "Native inference"). It is ours: what is not known is refused. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { streamSchema } from "../embed/schema.ts";
import { svcSchema } from "../svc-schema.ts";

export const rerankRequestSchema = z.strictObject({
  model: call.model("cohere/rerank-v3.5"),
  query: z
    .string()
    .describe("What the documents are compared with.")
    .meta({ examples: ["What is a weir?"] }),
  documents: z
    .array(z.string())
    .min(1)
    .describe("What is to be ranked.")
    .meta({ examples: [["A weir is a low dam.", "A wire is a thread of metal."]] }),
  top_n: z.int().positive().nullish().describe("Only so many of the best are told."),
  return_documents: z.boolean().nullish().describe("Each result carries its document."),
  stream: streamSchema,
  ...svcSchema.shape,
});

export type RerankBody = z.output<typeof rerankRequestSchema>;

export const rerankReplySchema = z.object({
  object: field.objectOf("rerank"),
  id: field.id,
  model: field.modelId,
  results: z
    .array(
      z.object({
        index: z.int().describe("Index of the document in the request, from 0."),
        relevance_score: z.number().describe("0 to 1; comparable within one answer only."),
        document: z
          .object({ text: z.string().describe("The text.") })
          .optional()
          .describe("The document itself, where it was asked for."),
      }),
    )
    .describe("The documents, best first."),
  usage: z
    .object({
      input_tokens: call.promptTokens,
      search_units: z
        .int()
        .describe("What rerankers bill: a query with up to a number of documents that the provider sets."),
      source: field.usageSource,
    })
    .describe(call.USAGE),
  resolved: call.resolved,
  cost: call.cost,
  warnings: field.warnings,
});
