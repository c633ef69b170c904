/**
 * Fields that requests and answers of several wings have, each with what it means. `/openapi.json` prints the text wherever the
 * field stands; what a field means in one place only is said there, by `.describe()`.
 */
import { z } from "zod";

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
  .enum(["cancel", "drain"])
  .describe("If the client leaves: `cancel` ends the upstream call, `drain` reads it to its end.");
export const environment = z
  .enum(["live", "test"])
  .describe("`live`, or `test`: reaches the simulator only and is never charged.");

export const createdAt = z.string().describe("When it was made; ISO 8601, UTC.");
export const closedAt = z.string().describe("When it was closed; ISO 8601, UTC. Absent: it is not closed.");
/** The ends of a period of an answer. */
export const period = {
  from: z.string().describe("The first instant; ISO 8601, UTC."),
  to: z.string().describe("The first instant after the last one; ISO 8601, UTC."),
};

/** The org's own, in which it is billed. */
export const currency = z.string().describe("The org's billing currency.");

export const warnings = z.array(z.string()).describe("What was left out, estimated or odd, each in a line.");
export const usageSource = z
  .enum(["provider", "estimated", "none"])
  .describe("Who counted the tokens: the provider, an estimate of the gateway, or nobody.");

/** What a key or a plan allows. @param count bounds of each */
export const limits = <C extends z.ZodType>(count: C) => ({
  rpm: count.describe("Requests a minute; 0: unlimited."),
  tpm: count.describe("Tokens a minute, prompt and `max_tokens` together; 0: unlimited."),
  concurrency: count.describe("Calls at once; 0: unlimited."),
});

/** The counts of a call in the one form for all providers. @param count bounds of each */
export const tokens = <C extends z.ZodType>(count: C) => ({
  input_tokens: count.describe("Tokens of the whole prompt, cached ones included."),
  output_tokens: count.describe("Tokens of the answer, reasoning included."),
  cache_read_tokens: count.describe("Those of `input_tokens` that the provider had in its cache."),
  cache_write_tokens: count.describe("Those of `input_tokens` that the provider put into its cache."),
  reasoning_tokens: count.describe("Those of `output_tokens` that the model reasoned with."),
});
