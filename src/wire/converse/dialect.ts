/** Amazon Bedrock's Converse dialect. */
import type { GenerationDialect } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { readConverseReply } from "./read-reply.ts";
import { ConverseStreamReader } from "./reader.ts";
import { writeConverseRequest } from "./write-request.ts";

const CARRIES = opaquePaths([["output", "message", "content", "*", "toolUse", "input"]]);

export const converseDialect: GenerationDialect = {
  name: "converse",
  carries: CARRIES,
  takesOnlyData: ["image", "document", "audio", "video"],
  writeRequest: writeConverseRequest,
  readReply: readConverseReply,
  streamReader: (maxEventBytes) => new ConverseStreamReader(maxEventBytes),
};
