/**
 * All simulated formats. The first one whose path matches is used, so narrower paths come first.
 */
import { chat } from "./chat.ts";
import { cohereEmbed, cohereRerank } from "./cohere.ts";
import { completions } from "./completions.ts";
import { converse } from "./converse.ts";
import type { SimulatedDialect } from "./dialect.ts";
import { embeddings, jinaEmbeddings, voyageEmbeddings } from "./embeddings.ts";
import { gemini, geminiCountTokens } from "./gemini.ts";
import { geminiBatchEmbed, geminiEmbed } from "./gemini-embeddings.ts";
import { countTokens, messages } from "./messages.ts";
import { jinaRerank, voyageRerank } from "./rerank.ts";
import { responses } from "./responses.ts";
import type { SimulatedRoute } from "./simulated-route.ts";

/** Formats in which a model answers. */
export const DIALECTS: readonly SimulatedDialect[] = [
  chat,
  messages,
  responses,
  gemini,
  converse,
  completions,
];

/** Routes without a model's answer: counts, embeddings, rankings. */
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
