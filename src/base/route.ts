/**
 * Routing options of a call, in terms shared by requests (`svc.route`) and routing policies. Ids are of providers or
 * endpoints; prices are USD per million tokens, compared with what is charged (markup included).
 */

export const SORTS = ["price", "latency", "throughput", "balanced"] as const;
export type Sort = (typeof SORTS)[number];

/** Values of `svc.data_policy`, each the same as setting that member of {@link Requirements}. */
export const DATA_POLICIES = ["no_train", "zdr"] as const;
export type AskedDataPolicy = (typeof DATA_POLICIES)[number];

/** What ties a caller to the endpoint it used: nothing, the end user, the session, the prompt's beginning. */
export const AFFINITIES = ["none", "user", "session", "prompt"] as const;
export type Affinity = (typeof AFFINITIES)[number];

/** Maximum number of attempts of one call; another key of a pool counts as one, too. */
export const MAX_ATTEMPTS = 8;

/** Requirements on endpoints. Each member only excludes endpoints. */
export interface Requirements {
  readonly zdr?: boolean | undefined;
  readonly no_train?: boolean | undefined;
  /** Absent: any. Empty: none. */
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
