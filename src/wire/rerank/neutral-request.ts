/** A request for a ranking in neutral terms. */
import { listOf, objectOf, stringOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import type { NeutralRerankRequest, RerankRequest } from "./neutral.ts";
/** Strings may hold the source's marks. */
export function rerankNeutral({ topN }: RerankRequest, source: Source): NeutralRerankRequest {
  const body = objectOf(source.value);
  return { query: stringOf(body.query), documents: listOf(body.documents).map(stringOf), topN };
}
