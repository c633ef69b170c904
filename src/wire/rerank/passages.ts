/** Which way a request for a ranking takes to an upstream. */
import type { Dialect } from "../../base/endpoint.ts";
import type { Passage } from "../format.ts";
import { cohereRerank } from "./cohere.ts";
import { jinaRerank } from "./jina.ts";
import type { RerankDialect } from "./neutral.ts";
import { translatedRerank } from "./translate.ts";
import { voyageRerank } from "./voyage.ts";

const RERANK_DIALECTS: ReadonlyMap<Dialect, RerankDialect> = new Map(
  [cohereRerank, jinaRerank, voyageRerank].map((dialect) => [dialect.name, dialect]),
);

/** Undefined where the dialect has no ranking. */
export function rerankPassage(dialect: Dialect): Passage | undefined {
  const upstream = RERANK_DIALECTS.get(dialect);
  return upstream && translatedRerank(upstream);
}
