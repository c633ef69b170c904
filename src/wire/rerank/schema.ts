/** Request and answer of `/v1/svc/rerank` (specification, "Native inference"). It is ours: what is not known is refused. */
import { z } from "zod";
import { streamSchema } from "../embed/schema.ts";
import { svcSchema } from "../svc-schema.ts";

export const rerankRequestSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .meta({ examples: ["cohere/rerank-v3.5"] }),
  query: z.string().meta({ examples: ["What is a weir?"] }),
  documents: z
    .array(z.string())
    .min(1)
    .meta({ examples: [["A weir is a low dam.", "A wire is a thread of metal."]] }),
  top_n: z.int().positive().nullish(),
  return_documents: z.boolean().nullish(),
  stream: streamSchema,
  ...svcSchema.shape,
});

export type RerankBody = z.output<typeof rerankRequestSchema>;

export const rerankReplySchema = z.object({
  object: z.literal("rerank"),
  id: z.string(),
  model: z.string(),
  results: z.array(
    z.object({
      index: z.int().describe("Index of the document in the request, from 0."),
      relevance_score: z.number(),
      document: z.object({ text: z.string() }).optional(),
    }),
  ),
  usage: z.object({
    input_tokens: z.int(),
    search_units: z.int(),
    source: z.enum(["provider", "estimated", "none"]),
  }),
  resolved: z.object({ provider: z.string(), endpoint_id: z.string() }),
  cost: z.looseObject({ total_micro_usd: z.int() }),
  warnings: z.array(z.string()),
});
