/** Where an answer of Converse's has something from (Amazon Bedrock API Reference, "Citation"). */
import type { Citation } from "../neutral/neutral.ts";
import { countOf, isObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";

const UNITS = [
  ["documentChar", "char"],
  ["documentPage", "page"],
  ["documentChunk", "block"],
] as const;

/** Undefined where it names no place that the contract knows. */
export function readCitation(value: unknown): Citation | undefined {
  const citation = objectOf(value);
  const location = objectOf(citation.location);
  const title = stringOf(citation.title);
  const citedText = listOf(citation.sourceContent)
    .map((content) => stringOf(objectOf(content).text))
    .join("");
  for (const [member, unit] of UNITS) {
    const place = location[member];
    if (!isObject(place)) continue;
    const { documentIndex, start, end } = place;
    const [index, from, to] = [countOf(documentIndex), countOf(start), countOf(end)];
    return { type: "document", index, title, citedText, unit, start: from, end: to };
  }
  const url = stringOf(objectOf(location.web).url) || webAddress(citation.source);
  return url === "" ? undefined : { type: "url", url, title, ...(citedText !== "" && { citedText }) };
}

/** Search results that the client gave name their source, most often by its address. */
const webAddress = (source: unknown): string => {
  const text = stringOf(source);
  return /^https?:\/\//.test(text) ? text : "";
};
