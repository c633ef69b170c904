/**
 * How a call may be steered, in the words that requests (`svc.route`) and routing policies share. Ids are of providers or
 * endpoints; prices are USD per million tokens, compared with what is charged (markup included).
 */

export const SORTS = ["price", "latency", "throughput", "balanced"] as const;
export type Sort = (typeof SORTS)[number];

/** Values of `svc.data_policy`, each the same as setting that member of {@link Requirements}. */
export const DATA_POLICIES = ["no_train", "zdr"] as const;
export type AskedDataPolicy = (typeof DATA_POLICIES)[number];

/** What keeps a caller at the endpoint that knows it: nothing, the end user, the session, the prompt's beginning. */
export const AFFINITIES = ["none", "user", "session", "prompt"] as const;
export type Affinity = (typeof AFFINITIES)[number];

/** The most attempts that one call may take; another key of a pool is one, too. */
export const MAX_ATTEMPTS = 8;

/** What an endpoint must promise. Each member only ever leaves endpoints out. */
export interface Requirements {
  readonly zdr?: boolean | undefined;
  readonly no_train?: boolean | undefined;
  /** Absent: any. Empty: none is allowed. */
  readonly regions?: readonly string[] | undefined;
  readonly max_price?:
    | { readonly input?: number | undefined; readonly output?: number | undefined }
    | undefined;
}

/** `svc.route` of a request. */
export interface RouteOptions {
  readonly order?: readonly string[] | undefined;
  readonly only?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly fallbacks?: boolean | undefined;
  readonly sort?: Sort | undefined;
  readonly require?: Requirements | undefined;
  /** 1 to {@link MAX_ATTEMPTS}. */
  readonly max_attempts?: number | undefined;
  /** For all attempts together, until the first content. */
  readonly timeout_ms?: number | undefined;
  readonly affinity?: Affinity | undefined;
}
