/**
 * URL paths of each act of each dialect at a provider: the dialect's defaults, which a provider entry may override.
 * Sources: the providers' public API references (platform.openai.com, docs.claude.com, ai.google.dev,
 * docs.aws.amazon.com/bedrock, docs.cohere.com, api.jina.ai/docs, docs.voyageai.com).
 */
import type { Act, Dialect, DialectPaths, Endpoint } from "../../base/endpoint.ts";

const GEMINI = "/models/{model}";

const PATHS: Readonly<Record<Dialect, DialectPaths>> = {
  chat: { call: "/chat/completions" },
  responses: { call: "/responses" },
  messages: { call: "/messages", count: "/messages/count_tokens" },
  gemini: {
    call: `${GEMINI}:generateContent`,
    stream: `${GEMINI}:streamGenerateContent?alt=sse`,
    count: `${GEMINI}:countTokens`,
  },
  converse: {
    call: "/model/{model}/converse",
    stream: "/model/{model}/converse-stream",
    count: "/model/{model}/count-tokens",
  },
  completions: { call: "/completions" },
  openai_embeddings: { embed: "/embeddings" },
  gemini_embeddings: { embed: `${GEMINI}:batchEmbedContents` },
  cohere: { embed: "/v2/embed", rerank: "/v2/rerank" },
  jina: { embed: "/embeddings", rerank: "/rerank" },
  voyage: { embed: "/embeddings", rerank: "/rerank" },
};

/** Headers that a dialect requires in every call; a provider's own override them. */
export const DIALECT_HEADERS: Partial<Readonly<Record<Dialect, Readonly<Record<string, string>>>>> = {
  messages: { "anthropic-version": "2023-06-01" },
};

/** Media type of the dialect's streams. */
export const streamType = (dialect: Dialect): string =>
  dialect === "converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";

/** The full URL of an act; undefined where the endpoint does not support it. */
export function urlOf(endpoint: Endpoint, dialect: Dialect, act: Act): string | undefined {
  const path = pathOf(endpoint, dialect, act);
  if (path === undefined || path === "none") return undefined;
  const named = path.replaceAll("{model}", encodeURIComponent(endpoint.upstreamModel));
  return named.startsWith("/") ? `${baseUrlOf(endpoint)}${named}` : named;
}

/** A streamed call uses the path of non-streamed ones, unless it has its own. */
function pathOf({ provider }: Endpoint, dialect: Dialect, act: Act): string | undefined {
  const replaced = provider.paths?.[dialect];
  const own = PATHS[dialect];
  if (act === "stream") return replaced?.stream ?? replaced?.call ?? own.stream ?? own.call;
  return replaced?.[act] ?? own[act];
}

function baseUrlOf(endpoint: Endpoint): string {
  const { provider, region } = endpoint;
  const base = provider.regionUrls?.[region] ?? provider.baseUrl;
  return base.replaceAll("{region}", regionOf(endpoint));
}

/** The provider's name of the region. AWS has no region "global": the operator's own is used. */
export function regionOf({ provider, region }: Endpoint): string {
  return region === "global" && provider.auth?.scheme === "aws_sigv4" ? provider.auth.region : region;
}
