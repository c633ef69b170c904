/**
 * The rerank routes of Jina and Voyage, which share a path: a `/voyage` segment before `/v1` picks Voyage's.
 * Shapes: https://api.jina.ai/docs, https://docs.voyageai.com/reference/reranker-api
 */
import { fail } from "../src/base/errors.ts";
import { detailError, modelOf } from "./embeddings.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { wholeNumber } from "./simulated-request.ts";
import {
  type RouteRequest,
  readRoute,
  routeUsage,
  type SimulatedRoute,
  tokensOf,
} from "./simulated-route.ts";
import { ranked } from "./vectors.ts";

interface RerankRequest extends RouteRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** Maximum number of results; undefined: all. */
  readonly count: number | undefined;
  readonly returnDocuments: boolean;
}

const MAX_DOCUMENTS = 1_000;

/** @throws WeirError `invalid_value` without texts, or objects with a `text`, to rank */
export function documentsOf(json: JsonObject): string[] {
  const { documents } = json;
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > MAX_DOCUMENTS) {
    throw fail("invalid_value", `'documents' must be a list of 1 to ${MAX_DOCUMENTS} texts.`, {
      param: "documents",
    });
  }
  return documents.map((document: unknown, i) => {
    const text = isObject(document) ? document.text : document;
    if (typeof text !== "string") {
      throw fail("invalid_value", `'documents[${i}]' is not a text.`, { param: `documents[${i}]` });
    }
    return text;
  });
}

/** @throws WeirError `invalid_value` without a query */
export function queryOf(json: JsonObject): string {
  if (typeof json.query !== "string" || json.query === "") {
    throw fail("invalid_value", "'query' must be a text that is not empty.", { param: "query" });
  }
  return json.query;
}

interface Variant {
  /** The field that limits the number of results. */
  readonly count: "top_n" | "top_k";
  readonly returnsUnasked: boolean;
}

function readRerank(json: JsonObject, { count, returnsUnasked }: Variant) {
  const stranger = count === "top_n" ? "top_k" : "top_n";
  if (json[stranger] !== undefined) {
    throw fail("invalid_value", `Argument '${stranger}' is not supported by our API.`, { param: stranger });
  }
  return {
    model: modelOf(json),
    query: queryOf(json),
    documents: documentsOf(json),
    count: wholeNumber(json, count),
    returnDocuments: returnsUnasked ? json.return_documents !== false : json.return_documents === true,
  };
}

/** The query is counted once per document. */
const tokensIn = ({ query, documents }: RerankRequest): number =>
  tokensOf(documents) + documents.length * tokensOf([query]);

export const jinaRerank: SimulatedRoute<RerankRequest> = {
  path: /^(.*)\/v1\/rerank$/,
  read: (body) => readRoute(body, (json) => readRerank(json, { count: "top_n", returnsUnasked: true })),
  reply(request, instruction) {
    const results = ranked(request.query, request.documents, request.count).map(({ index, relevance }) => ({
      index,
      relevance_score: relevance,
      ...(request.returnDocuments ? { document: { text: request.documents[index] } } : {}),
    }));
    const usage = routeUsage(instruction, tokensIn(request), (tokens) => ({ total_tokens: tokens }));
    return JSON.stringify({ model: request.model, object: "list", usage, results });
  },
  error: detailError,
};

export const voyageRerank: SimulatedRoute<RerankRequest> = {
  path: /^(.*\/voyage(?:\/.*)?)\/v1\/rerank$/,
  read: (body) => readRoute(body, (json) => readRerank(json, { count: "top_k", returnsUnasked: false })),
  reply(request, instruction) {
    const data = ranked(request.query, request.documents, request.count).map(({ index, relevance }) => ({
      relevance_score: relevance,
      index,
      ...(request.returnDocuments ? { document: request.documents[index] } : {}),
    }));
    const usage = routeUsage(instruction, tokensIn(request), (tokens) => ({ total_tokens: tokens }));
    return JSON.stringify({ object: "list", data, model: request.model, usage });
  },
  error: detailError,
};
