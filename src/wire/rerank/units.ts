/** What a ranking can cost at the most: tokens where those are billed, search units where searches are. */
import { estimatePromptTokens } from "../estimate.ts";

/** A search unit is a query with up to so many documents (https://docs.cohere.com/docs/how-does-cohere-pricing-work). */
const DOCUMENTS_A_UNIT = 100;

/**
 * A document that is longer with its query may be split, and each piece counts as a document: Bedrock bills "document
 * chunks" (https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-pricing.html), and Cohere's smallest are of 510
 * tokens.
 */
const PIECE_TOKENS = 500;

/** A query takes no more of a piece than this: the rest of it is cut off, or the pieces are larger. */
const QUERY_SHARE_TOKENS = PIECE_TOKENS / 2;

/** CJK text, which has the fewest; as the bound of a prompt has it. */
const BYTES_A_TOKEN = 2;

/** Marks around the query and the document of each pair. */
const PAIR_TOKENS = 2;

/** An estimate: the query is read with every document, and billed as often. */
export const pairedTokens = (queryBytes: number, documentBytes: number, documents: number): number =>
  estimatePromptTokens(queryBytes, 0) * documents +
  estimatePromptTokens(documentBytes, 0) +
  PAIR_TOKENS * documents;

/** @param lengths in bytes of the documents. Never below what is billed, often above it: a hold is made of it. */
export function searchUnitBound(queryBytes: number, lengths: Iterable<number>): number {
  const room = PIECE_TOKENS - Math.min(queryBytes / BYTES_A_TOKEN, QUERY_SHARE_TOKENS);
  let pieces = 0;
  for (const bytes of lengths) pieces += Math.max(1, Math.ceil(bytes / BYTES_A_TOKEN / room));
  return Math.ceil(pieces / DOCUMENTS_A_UNIT);
}
