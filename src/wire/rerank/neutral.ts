/** The neutral contract of rerank: a query and documents in, their order by relevance out, in no format's own terms. */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import type { Usage } from "../../base/usage.ts";
import type { ClientRequest } from "../format.ts";
import type { JsonObject } from "../neutral/reader.ts";

export interface NeutralRerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  /** So many of the most relevant; all of them where absent. */
  readonly topN: number | undefined;
}

export interface Ranked {
  /** The index of the document in the request, from 0. */
  readonly index: number;
  readonly score: number;
}

export interface NeutralRerankReply {
  /** The most relevant first. */
  readonly results: readonly Ranked[];
  /** Tokens, or search units; undefined where the upstream reported neither. */
  readonly usage: Usage | undefined;
}

/** A client's request for a ranking, read. Plain data. */
export interface RerankRequest extends ClientRequest {
  readonly documents: number;
  readonly topN: number | undefined;
  /** The answer shall contain the documents' texts. The gateway adds them; no upstream needs to send them back. */
  readonly returnDocuments: boolean;
}

/** An upstream dialect of rerank. All of them have all options of the request, so nothing is dropped. */
export interface RerankDialect {
  readonly name: Dialect;
  /** The body as a value for JSON.stringify. */
  writeRequest(request: NeutralRerankRequest, endpoint: Endpoint): Readonly<Record<string, unknown>>;
  /** @param body parsed JSON, no error. @throws WeirError `upstream_invalid_response` */
  readReply(body: JsonObject): NeutralRerankReply;
}
