/** Which way a request for embeddings takes to an upstream. */
import type { Dialect } from "../../base/endpoint.ts";
import type { FormatName, Passage } from "../format.ts";
import { cohereEmbed } from "./cohere.ts";
import { geminiEmbeddings } from "./gemini.ts";
import { jinaEmbeddings } from "./jina.ts";
import type { EmbedDialect } from "./neutral.ts";
import { openAiEmbeddings } from "./openai.ts";
import { embeddingsSplice } from "./splice.ts";
import { translatedEmbeddings } from "./translate.ts";
import { voyageEmbeddings } from "./voyage.ts";
import { embeddingsWire, embedWire } from "./write-reply.ts";

const EMBED_DIALECTS: ReadonlyMap<Dialect, EmbedDialect> = new Map(
  [openAiEmbeddings, geminiEmbeddings, cohereEmbed, jinaEmbeddings, voyageEmbeddings].map((d) => [d.name, d]),
);

/** Undefined where the format asks for no embeddings, or the dialect has none. */
export function embedPassage(format: FormatName, dialect: Dialect): Passage | undefined {
  if (format !== "embeddings" && format !== "embed") return undefined;
  if (format === "embeddings" && dialect === "openai_embeddings") return embeddingsSplice;
  const upstream = EMBED_DIALECTS.get(dialect);
  return upstream && translatedEmbeddings(format === "embed" ? embedWire : embeddingsWire, upstream);
}
