/** Amazon Bedrock's Converse dialect. */
import type { GenerationDialect } from "../format.ts";
import { readConverseReply } from "./read-reply.ts";
import { ConverseStreamReader } from "./reader.ts";
import { writeConverseRequest } from "./write-request.ts";

export const converseDialect: GenerationDialect = {
  name: "converse",
  writeRequest: writeConverseRequest,
  readReply: readConverseReply,
  streamReader: (maxEventBytes) => new ConverseStreamReader(maxEventBytes),
};
