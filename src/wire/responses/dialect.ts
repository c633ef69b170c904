/** OpenAI's responses format as upstreams speak it. */
import type { GenerationDialect } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { readResponsesReply } from "./read-reply.ts";
import { ResponsesStreamReader } from "./reader.ts";
import { responsesRestating } from "./restating.ts";
import { writeResponsesRequest } from "./write-request.ts";

/** Some servers send arguments as the object itself. */
const CARRIES = opaquePaths([["output", "*", "arguments"]]);

export const responsesDialect: GenerationDialect = {
  name: "responses",
  toolKinds: { custom: true, allowedTools: true },
  carries: CARRIES,
  writeRequest: writeResponsesRequest,
  readReply: readResponsesReply,
  streamReader: (maxEventBytes) => new ResponsesStreamReader(maxEventBytes),
  restating: responsesRestating,
};
