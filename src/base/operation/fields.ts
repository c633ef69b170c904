/**
 * Fields that requests and answers of several wings have, each with what it means. `/openapi.json` prints the text wherever the
 * field stands; what a field means in one place only is said there, by `.describe()`.
 */
import { z } from "zod";
import { ON_DISCONNECT } from "../call/on-disconnect.ts";

/** The kind of an answer or of a part of one, by which clients tell it from others. */
export const objectOf = <const K extends string>(kind: K) =>
  z.literal(kind).describe("What kind of object this is.");

/** In paths. */
export const pathId = z.string().max(100).describe("Its id.");
export const id = z.string().describe("Its id.");
export const orgId = z.string().describe("The org it belongs to.");
export const projectId = z.string().describe("The project's id.");
export const keyId = z.string().describe("The key's id.");
export const requestId = z.string().describe("Names the call; also in the header `x-svc-request-id`.");

export const modelId = z.string().describe("Model id, `<vendor>/<model>`.");
export const providerId = z.string().describe("The provider's id.");
export const endpointId = z.string().describe("The endpoint's id.");
export const region = z.string().describe("Where the endpoint is.");
export const upstreamModel = z.string().describe("The model's name at the provider.");
export const onDisconnect = z
  .enum(ON_DISCONNECT)
  .describe(
    "If the client leaves: `cancel` ends the upstream call and charges what was delivered; `drain` reads the answer to its end, within the gateway's time for it, and charges all; `detach` goes on as if the client were there, and keeps the stream to be read again at `GET /v1/generation/{id}/stream`.",
  );
export const environment = z
  .enum(["live", "test"])
  .describe("`live`, or `test`: reaches the simulator only and is never charged.");

/** @param more what else is to be said, such as what it means that there is none */
export const time = (meaning: string, more?: string) =>
  z.string().describe(`${meaning}; ISO 8601, UTC.${more === undefined ? "" : ` ${more}.`}`);
export const createdAt = time("When it was made");
export const closedAt = time("When it was closed", "Absent: it is not closed");
/** The ends of a period of an answer. */
export const period = {
  from: time("The first instant"),
  to: time("The first instant after the last one"),
};

/** The org's own, in which it is billed. */
export const currency = z.string().describe("The org's billing currency.");

/** What a dry run says of the endpoints that it would not ask. */
export const excluded = z
  .array(
    z.object({
      endpoint_id: endpointId,
      kind: z.string().describe("What leaves it out, in a word."),
      reason: z.string().describe("Why it is left out."),
    }),
  )
  .describe("The endpoints that would not be asked.");
export const trace = z.string().describe("The decision in one line, as in `x-svc-route-trace`.");

export const stopReason = z
  .string()
  .describe(
    "In a word: `stop`, `length`, `tool_calls`, `content_filter`, or what the provider says besides.",
  );
export const totalMicroUsd = z.int().describe("The sum of the lines, micro-USD.");
export const priceVersion = z.string().describe("The version of the prices; empty where nothing is charged.");
export const warnings = z.array(z.string()).describe("What was left out, estimated or odd, each in a line.");
export const usageSource = z
  .enum(["provider", "estimated", "none"])
  .describe(
    "Who counted the tokens: the provider, or an estimate of the gateway; `none`: they were not counted.",
  );

/** What a key or a plan allows. @param count bounds of each */
export const limits = <C extends z.ZodType>(count: C) => ({
  rpm: count.describe("Requests a minute; 0: unlimited."),
  tpm: count.describe("Tokens a minute, prompt and `max_tokens` together; 0: unlimited."),
  concurrency: count.describe("Calls at once; 0: unlimited."),
});

export const hard = z
  .boolean()
  .describe("True: calls beyond the budget are refused; false: they pass and are reported.");

/** The counts of a call in the one form for all providers. @param count bounds of each */
export const tokens = <C extends z.ZodType>(count: C) => ({
  input_tokens: count.describe("Tokens of the whole prompt, cached ones included."),
  output_tokens: count.describe("Tokens of the answer, reasoning included."),
  cache_read_tokens: count.describe("Those of `input_tokens` that the provider had in its cache."),
  cache_write_tokens: count.describe("Those of `input_tokens` that the provider put into its cache."),
  reasoning_tokens: count.describe("Those of `output_tokens` that the model reasoned with."),
});
