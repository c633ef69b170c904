/** Sources of a grounded answer: https://ai.google.dev/api/generate-content#GroundingMetadata */
import type { Citation } from "../neutral/neutral.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";

const NONE: readonly Citation[] = [];

/**
 * Sources of a grounded answer. Their positions are bytes of parts and are left out: the contract counts characters.
 */
export function readCitations(candidate: JsonObject): readonly Citation[] {
  if (candidate.groundingMetadata === undefined && candidate.citationMetadata === undefined) return NONE;
  const grounding = objectOf(candidate.groundingMetadata);
  const chunks = listOf(grounding.groundingChunks);
  const citations: Citation[] = [];
  for (const support of listOf(grounding.groundingSupports)) {
    const { segment, groundingChunkIndices } = objectOf(support);
    const citedText = stringOf(objectOf(segment).text);
    for (const index of listOf(groundingChunkIndices)) {
      const { uri, title } = objectOf(objectOf(chunks[Number(index)]).web);
      if (stringOf(uri) === "") continue;
      citations.push({
        type: "url",
        url: stringOf(uri),
        title: stringOf(title),
        ...(citedText !== "" && { citedText }),
      });
    }
  }
  for (const source of listOf(objectOf(candidate.citationMetadata).citations)) {
    const { uri, title } = objectOf(source);
    if (stringOf(uri) !== "") citations.push({ type: "url", url: stringOf(uri), title: stringOf(title) });
  }
  return citations;
}
