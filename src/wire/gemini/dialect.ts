/** Google's Gemini dialect: the Gemini API and Vertex. */
import type { GenerationDialect } from "../format.ts";
import { readGeminiReply } from "./read-reply.ts";
import { GeminiStreamReader } from "./reader.ts";
import { writeGeminiRequest } from "./write-request.ts";

export const geminiDialect: GenerationDialect = {
  name: "gemini",
  writeRequest: writeGeminiRequest,
  readReply: readGeminiReply,
  streamReader: (maxEventBytes) => new GeminiStreamReader(maxEventBytes),
};
