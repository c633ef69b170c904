/**
 * State shared by all calls to one endpoint with one key for one act, created by the first of them: the pool, the path,
 * the headers.
 */
import type { Act, Dialect, Endpoint, Provider, ProviderKey } from "../../base/endpoint.ts";
import { fail } from "../../base/errors.ts";
import { fixedHeaders } from "./credentials.ts";
import type { ConnectionPool } from "./http/pool.ts";
import { startBytes } from "./http/request.ts";
import { DIALECT_HEADERS, streamType, urlOf } from "./paths.ts";
import type { Pools } from "./pools.ts";

export interface RequestTemplate {
  readonly pool: ConnectionPool;
  readonly url: URL;
  readonly path: string;
  /** Alternating names and values; includes the credential where it is the same for every call. */
  readonly headers: readonly string[];
  /** All but the body of a call to which nothing is added; undefined where each call needs its own credential. */
  readonly head: string | undefined;
  /** The same as bytes. */
  readonly start: Uint8Array | undefined;
}

type OfEndpoint = Partial<Record<Dialect, Partial<Record<Act, RequestTemplate>>>>;

export class RequestTemplates {
  readonly #pools: Pools;
  readonly #known = new WeakMap<ProviderKey, WeakMap<Endpoint, OfEndpoint>>();

  constructor(pools: Pools) {
    this.#pools = pools;
  }

  /** @throws WeirError `internal` where the endpoint does not support this act in this dialect. */
  of(key: ProviderKey, endpoint: Endpoint, dialect: Dialect, act: Act): RequestTemplate {
    let ofKey = this.#known.get(key);
    if (ofKey === undefined) {
      ofKey = new WeakMap();
      this.#known.set(key, ofKey);
    }
    let ofEndpoint = ofKey.get(endpoint);
    if (ofEndpoint === undefined) {
      ofEndpoint = {};
      ofKey.set(endpoint, ofEndpoint);
    }
    let ofDialect = ofEndpoint[dialect];
    if (ofDialect === undefined) {
      ofDialect = {};
      ofEndpoint[dialect] = ofDialect;
    }
    let template = ofDialect[act];
    if (template === undefined) {
      template = this.#make(key, endpoint, dialect, act);
      ofDialect[act] = template;
    }
    return template;
  }

  #make(key: ProviderKey, endpoint: Endpoint, dialect: Dialect, act: Act): RequestTemplate {
    const address = urlOf(endpoint, dialect, act);
    if (address === undefined) throw fail("internal", `${endpoint.id} has no path to ${act} in ${dialect}`);
    const url = new URL(address);
    const fixed = fixedHeaders(endpoint.provider, key);
    const pool = this.#pools.of(url.origin, endpoint.provider.proxy);
    const path = `${url.pathname}${url.search}`;
    const headers = [...commonHeaders(endpoint.provider, dialect, act), ...(fixed ?? [])];
    const head = fixed === undefined ? undefined : pool.head(path, headers);
    const start = head === undefined ? undefined : startBytes(head);
    return { pool, url, path, headers, head, start };
  }
}

/** Headers of the dialect and the provider; the provider's override. */
function commonHeaders(provider: Provider, dialect: Dialect, act: Act): string[] {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "user-agent": "weir",
    // Compressed answers could not be passed on byte by byte.
    "accept-encoding": "identity",
    accept: act === "stream" ? streamType(dialect) : "application/json",
    ...DIALECT_HEADERS[dialect],
    ...provider.headers,
  };
  return Object.entries(headers).flat();
}
