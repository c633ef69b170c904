/**
 * Citations as a message's `annotations`, both ways (OpenAI API reference, "url_citation"; `content` beside them is
 * OpenRouter's). Passages of documents have no place there.
 */
import type { Citation } from "../neutral/neutral.ts";
import { listOf, objectOf } from "../neutral/reader.ts";
import { readUrlCitation } from "../neutral/url-citation.ts";

export type Annotation = NonNullable<ReturnType<typeof writeCitation>>;

/** Ignores what is no citation of an address. */
export const readCitations = (value: unknown): Citation[] =>
  listOf(value).flatMap((annotation) => readUrlCitation(objectOf(annotation).url_citation) ?? []);

/** Undefined if chat has no place for it. The format requires both indexes: unknown ones are 0. */
export function writeCitation(citation: Citation) {
  if (citation.type !== "url") return undefined;
  const { url, title, citedText, start = 0, end = 0 } = citation;
  return {
    type: "url_citation" as const,
    url_citation: {
      url,
      title,
      start_index: start,
      end_index: end,
      ...(citedText !== undefined && { content: citedText }),
    },
  };
}
