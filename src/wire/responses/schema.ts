/**
 * The request of OpenAI's responses format as far as the gateway must understand it (OpenAI API reference, "Create a model
 * response"). Everything else passes through unread, so the schemas are loose.
 */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import * as call from "../call-fields.ts";
import { unread } from "../neutral/unread.ts";
import { svcReplySchema, svcSchema } from "../svc-schema.ts";

const item = z.looseObject({
  type: z.unknown().optional().describe("What kind of thing this is."),
  role: z
    .unknown()
    .optional()
    .describe(call.ROLE)
    .meta({ examples: ["user"] }),
  content: z
    .unknown()
    .optional()
    .describe(call.CONTENT)
    .meta({ examples: ["Hello"] }),
  output: z.unknown().optional().describe("What a tool returned."),
});

export const responsesRequestSchema = z.looseObject({
  model: call.model("weir/sim-small"),
  input: z
    .union([z.string(), z.array(item)])
    .nullish()
    .describe("What the model is to read: a text, or items of several kinds.")
    .meta({ examples: ["Hello"] }),
  instructions: unread(z.string()).optional().describe("What the model is told before the conversation."),
  previous_response_id: z.string().nullish().describe("Goes on from this stored response."),
  store: z
    .boolean()
    .nullish()
    .describe("Whether the response is kept, to be read and continued by its id; true unless false."),
  stream: call.stream.nullish(),
  background: z
    .boolean()
    .nullish()
    .describe(
      "The call goes on without its client: the answer is `queued` at once, and its state, its events and its end are asked for by its id. Not with `store: false`.",
    ),
  conversation: z
    .union([z.string(), z.looseObject({ id: z.string().describe("The conversation's id.") })])
    .nullish()
    .describe("Goes on from this conversation, and adds its turn to it. Not with `previous_response_id`."),
  prompt: z.unknown().optional().describe("Stored at the provider; only endpoints of this format take it."),
  max_output_tokens: z
    .int()
    .nonnegative()
    .nullish()
    .describe("Most tokens of the answer, reasoning included."),
  temperature: unread(call.temperature).optional(),
  top_p: unread(call.topP).optional(),
  tools: z.array(unread(call.typed)).nullish().describe(call.TOOLS),
  parallel_tool_calls: call.parallelTools.nullish(),
  text: z.looseObject({ format: call.format }).nullish().describe("How the text of the answer is given."),
  reasoning: unread(z.looseObject({})).optional().describe(call.REASONING),
  user: unread(call.user).optional(),
  svc: svcSchema.optional(),
});

export type ResponsesRequestBody = z.output<typeof responsesRequestSchema>;

/** The answer's shape, for the OpenAPI document. */
export const responsesReplySchema = z.looseObject({
  id: field.id,
  object: field.objectOf("response"),
  created_at: call.created,
  status: z
    .string()
    .describe(
      "`completed`, `incomplete` or `failed`; in the background also `queued`, `in_progress`, `cancelled`.",
    ),
  model: field.modelId,
  output: z.array(call.typed).describe("What the model made, item by item."),
  usage: z
    .looseObject({
      input_tokens: call.promptTokens,
      output_tokens: call.outputTokens,
      total_tokens: call.totalTokens,
    })
    .nullable()
    .describe("Tokens read and written; null before the end of a response in the background."),
  svc: svcReplySchema.optional(),
});

/** The items that a stored response was made from (OpenAI API reference, "List input items"). */
export const inputItemsSchema = z.object({
  object: field.objectOf("list"),
  data: z
    .array(
      z.looseObject({ id: field.id, type: z.string().optional().describe("What kind of thing this is.") }),
    )
    .describe("One page of the items."),
  first_id: z.string().nullable().describe("Null where there are none."),
  last_id: z.string().nullable().describe("The one that the next page comes after."),
  has_more: z.boolean().describe("Whether there is more in this order."),
});

/** The number of tokens of a prompt (OpenAI API reference, "Get input token counts"). */
export const responsesCountReplySchema = z.looseObject({
  object: field.objectOf("response.input_tokens"),
  input_tokens: z.int().describe("Tokens of the prompt."),
  source: z
    .literal("estimated")
    .optional()
    .describe("Where no provider of the model counts: the number is an estimate."),
});
