/** OpenAI's responses format as upstreams speak it. */
import type { GenerationDialect } from "../format.ts";
import { readResponsesReply } from "./read-reply.ts";
import { ResponsesStreamReader } from "./reader.ts";
import { writeResponsesRequest } from "./write-request.ts";

export const responsesDialect: GenerationDialect = {
  name: "responses",
  writeRequest: writeResponsesRequest,
  readReply: readResponsesReply,
  streamReader: (maxEventBytes) => new ResponsesStreamReader(maxEventBytes),
};
