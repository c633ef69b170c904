/** Citations of messages, both ways (Anthropic API reference, "citations" of text blocks). */
import type { Citation } from "../neutral/neutral.ts";
import { countOf, isObject, type JsonObject, stringOf } from "../neutral/reader.ts";

type DocumentCitation = Extract<Citation, { type: "document" }>;

/** Undefined for citations of the request's search results, which no other format has. */
export function readCitation(value: unknown): Citation | undefined {
  if (!isObject(value)) return undefined;
  switch (value.type) {
    case "char_location":
      return inDocument(value, "char", value.start_char_index, value.end_char_index);
    case "page_location":
      return inDocument(value, "page", value.start_page_number, value.end_page_number);
    case "content_block_location":
      return inDocument(value, "block", value.start_block_index, value.end_block_index);
    case "web_search_result_location": {
      const { url, title, cited_text: citedText } = value;
      if (typeof url !== "string") return undefined;
      return {
        type: "url",
        url,
        title: stringOf(title),
        ...(typeof citedText === "string" && { citedText }),
      };
    }
    default:
      return undefined;
  }
}

const inDocument = (
  value: JsonObject,
  unit: DocumentCitation["unit"],
  start: unknown,
  end: unknown,
): Citation => ({
  type: "document",
  index: countOf(value.document_index),
  title: stringOf(value.document_title),
  citedText: stringOf(value.cited_text),
  unit,
  start: countOf(start),
  end: countOf(end),
});

/** As in a request. */
export function writeDocumentCitation(citation: DocumentCitation) {
  const { unit, start, end } = citation;
  const head = {
    cited_text: citation.citedText,
    document_index: citation.index,
    document_title: citation.title === "" ? null : citation.title,
  };
  switch (unit) {
    case "char":
      return { type: "char_location" as const, ...head, start_char_index: start, end_char_index: end };
    case "page":
      return { type: "page_location" as const, ...head, start_page_number: start, end_page_number: end };
    case "block":
      return {
        type: "content_block_location" as const,
        ...head,
        start_block_index: start,
        end_block_index: end,
      };
  }
}

/** As in an answer. `encrypted_index` exists only for Anthropic's search tool. */
export function writeCitation(citation: Citation) {
  if (citation.type === "document") return { ...writeDocumentCitation(citation), file_id: null };
  return {
    type: "web_search_result_location" as const,
    url: citation.url,
    title: citation.title === "" ? null : citation.title,
    cited_text: citation.citedText ?? "",
    encrypted_index: "",
  };
}
