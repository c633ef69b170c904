/** Google's Gemini dialect: the Gemini API and Vertex. */
import type { GenerationDialect } from "../format.ts";
import { opaquePaths } from "../json/opaque.ts";
import { readGeminiReply } from "./read-reply.ts";
import { GeminiStreamReader } from "./reader.ts";
import { geminiRestating } from "./restating.ts";
import { writeGeminiRequest } from "./write-request.ts";

const CARRIES = opaquePaths([["candidates", "*", "content", "parts", "*", "functionCall", "args"]]);

export const geminiDialect: GenerationDialect = {
  name: "gemini",
  carries: CARRIES,
  takesAssistantMedia: true,
  writeRequest: writeGeminiRequest,
  readReply: readGeminiReply,
  streamReader: (maxEventBytes) => new GeminiStreamReader(maxEventBytes),
  restating: geminiRestating,
};
