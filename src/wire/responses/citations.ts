/** Citations of addresses as `annotations` of a text, both ways (OpenAI API reference, "url_citation"). */
import type { Citation } from "../neutral/neutral.ts";
import { objectOf } from "../neutral/reader.ts";
import { readUrlCitation } from "../neutral/url-citation.ts";
/** Undefined for citations of the provider's own files. */
export const readCitation = (value: unknown): Citation | undefined =>
  objectOf(value).type === "url_citation" ? readUrlCitation(value) : undefined;

export type UrlCitation = NonNullable<ReturnType<typeof writeCitation>>;

/**
 * Undefined for a citation of a document: the format cites stored files only.
 * @param length characters of the text so far: the cited range if the citation has none
 */
export function writeCitation(citation: Citation, length: number) {
  if (citation.type !== "url") return undefined;
  const { url, title, start = 0, end = length } = citation;
  return { type: "url_citation" as const, start_index: start, end_index: end, title, url };
}
