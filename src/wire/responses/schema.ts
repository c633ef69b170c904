/**
 * The request of OpenAI's responses format as far as the gateway must understand it (OpenAI API reference, "Create a model
 * response"). Everything else passes through unread, so the schemas are loose.
 */
import { z } from "zod";
import { unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

const item = z.looseObject({
  type: z.unknown().optional(),
  role: z
    .unknown()
    .optional()
    .meta({ examples: ["user"] }),
  content: z
    .unknown()
    .optional()
    .meta({ examples: ["Hello"] }),
  output: z.unknown().optional(),
});

export const responsesRequestSchema = z.looseObject({
  model: z
    .string()
    .min(1)
    .meta({ examples: ["weir/sim-small"] }),
  input: z
    .union([z.string(), z.array(item)])
    .nullish()
    .meta({ examples: ["Hello"] }),
  instructions: unread(z.string()).optional(),
  previous_response_id: z.string().nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  conversation: z.unknown().optional(),
  prompt: z.unknown().optional(),
  max_output_tokens: z.int().positive().nullish(),
  temperature: unread(z.number()).optional(),
  top_p: unread(z.number()).optional(),
  tools: z.array(unread(z.looseObject({ type: z.string() }))).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.looseObject({ format: z.looseObject({ type: unread(z.string()).optional() }).nullish() }).nullish(),
  reasoning: unread(z.looseObject({})).optional(),
  user: unread(z.string()).optional(),
  svc: svcSchema.optional(),
});

export type ResponsesRequestBody = z.output<typeof responsesRequestSchema>;

/** The answer's shape, for the OpenAPI document. */
export const responsesReplySchema = z.looseObject({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  status: z.string(),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z.looseObject({
    input_tokens: z.int(),
    output_tokens: z.int(),
    total_tokens: z.int(),
  }),
  svc: svcReplySchema,
});
