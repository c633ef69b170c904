/**
 * Every format that the simulator speaks. The first whose path matches is taken, so the narrower path stands first.
 */
import { chat } from "./chat.ts";
import { cohereEmbed, cohereRerank } from "./cohere.ts";
import { converse } from "./converse.ts";
import type { SimulatedDialect } from "./dialect.ts";
import { embeddings, jinaEmbeddings, voyageEmbeddings } from "./embeddings.ts";
import { gemini, geminiCountTokens } from "./gemini.ts";
import { geminiBatchEmbed, geminiEmbed } from "./gemini-embeddings.ts";
import { countTokens, messages } from "./messages.ts";
import { jinaRerank, voyageRerank } from "./rerank.ts";
import { responses } from "./responses.ts";
import type { SimulatedRoute } from "./simulated-route.ts";

/** The formats in which a model answers. */
export const DIALECTS: readonly SimulatedDialect[] = [chat, messages, responses, gemini, converse];

/** What no model answers: counts, vectors, ranks. */
export const ROUTES: readonly SimulatedRoute[] = [
  countTokens,
  geminiCountTokens,
  voyageEmbeddings,
  jinaEmbeddings,
  embeddings,
  geminiEmbed,
  geminiBatchEmbed,
  cohereEmbed,
  cohereRerank,
  voyageRerank,
  jinaRerank,
];
