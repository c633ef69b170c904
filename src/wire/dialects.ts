/** The dialects of generations, by name. */
import type { Dialect } from "../base/endpoint.ts";
import { chatDialect } from "./chat/dialect.ts";
import { converseDialect } from "./converse/dialect.ts";
import type { GenerationDialect } from "./format.ts";
import { geminiDialect } from "./gemini/dialect.ts";
import { messagesDialect } from "./messages/dialect.ts";
import { responsesDialect } from "./responses/dialect.ts";

export const GENERATION_DIALECTS: ReadonlyMap<Dialect, GenerationDialect> = new Map(
  [chatDialect, responsesDialect, messagesDialect, geminiDialect, converseDialect].map((d) => [d.name, d]),
);
