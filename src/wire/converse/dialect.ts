/** Amazon Bedrock's Converse dialect. */
import type { GenerationDialect } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { takesBeta, withBetas } from "./betas.ts";
import { readConverseReply } from "./read-reply.ts";
import { ConverseStreamReader } from "./reader.ts";
import { converseRestating } from "./restating.ts";
import { writeConverseRequest } from "./write-request.ts";

const CARRIES = opaquePaths([["output", "message", "content", "*", "toolUse", "input"]]);

export const converseDialect: GenerationDialect = {
  name: "converse",
  carries: CARRIES,
  // "DocumentSource … must set one of the following keys: bytes, s3Location" (maximhq/bifrost#7072, awslabs/aws-sdk-rust#1365), unless
  // citations are enabled (strands-agents/harness-sdk#3582).
  takesTextFiles: true,
  takesOnlyData: ["image", "document", "audio", "video"],
  writeRequest: writeConverseRequest,
  features: {
    takes: (header, name, { upstreamModel }) => header === "anthropic-beta" && takesBeta(name, upstreamModel),
    ask: withBetas,
  },
  readReply: readConverseReply,
  streamReader: (maxEventBytes) => new ConverseStreamReader(maxEventBytes),
  restating: converseRestating,
};
