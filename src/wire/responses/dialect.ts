/** OpenAI's responses format as upstreams speak it. */
import type { GenerationDialect } from "../format.ts";
import { NO_PATHS } from "../json/opaque.ts";
import { readResponsesReply } from "./read-reply.ts";
import { ResponsesStreamReader } from "./reader.ts";
import { writeResponsesRequest } from "./write-request.ts";

export const responsesDialect: GenerationDialect = {
  name: "responses",
  toolKinds: { custom: true, allowedTools: true },
  carries: NO_PATHS,
  writeRequest: writeResponsesRequest,
  readReply: readResponsesReply,
  streamReader: (maxEventBytes) => new ResponsesStreamReader(maxEventBytes),
};
