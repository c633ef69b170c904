/**
 * Types of the catalog that all later steps read: providers, models and the endpoints that serve them. Frozen once
 * loaded; a reload builds a new set and swaps it, so a call keeps the set it started with.
 */
import type { UnitPrices } from "./money.ts";
import type { ProxyAddress } from "./network/proxy-address.ts";

/**
 * Wire formats that upstreams speak. The first six generate; `*_embeddings`, `cohere`, `jina` and `voyage` embed, the last
 * three rerank as well. `completions` is spliced only: no request of another format is written in it.
 */
export type Dialect =
  | "chat"
  | "responses"
  | "messages"
  | "gemini"
  | "converse"
  | "completions"
  | "openai_embeddings"
  | "gemini_embeddings"
  | "cohere"
  | "jina"
  | "voyage";

/** What a model does. */
export type Task = "generate" | "embed" | "rerank";

export type Modality = "text" | "image" | "audio" | "video";

export interface DataPolicy {
  readonly trains: boolean;
  readonly retentionDays: number;
  readonly zdr: boolean;
}

export interface Provider {
  /** `^[a-z0-9-]+$` */
  readonly id: string;
  readonly name: string;
  /**
   * Without trailing slash; the dialect's path is appended: `https://api.openai.com/v1`. `{region}` stands for the
   * endpoint's region.
   */
  readonly baseUrl: string;
  /** Base URLs of regions that do not follow the pattern of `baseUrl`. */
  readonly regionUrls?: Readonly<Record<string, string>>;
  /** Supported dialects, preferred first. */
  readonly dialects: readonly Dialect[];
  /** By which it is called; `direct`: by none, whatever the environment says; absent: as the environment says. */
  readonly proxy?: ProxyAddress | "direct" | undefined;
  /** Overrides of the dialect's own paths. */
  readonly paths?: Partial<Readonly<Record<Dialect, DialectPaths>>>;
  /** Headers of every call, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How the credential is sent; absent: as a bearer token. */
  readonly auth?: Auth;
  /** Names of environment variables, of which the first one set is used; empty for providers that need none. */
  readonly credentialEnv: readonly string[];
  /**
   * The platform's keys, read from the environment at load. One key without a credential where the provider needs none;
   * empty where a required one is not set.
   */
  readonly keys: readonly ProviderKey[];
  /** The built-in simulator: the only upstream of test keys. */
  readonly simulated: boolean;
  readonly dataPolicy: DataPolicy;
  readonly regions: readonly string[];
  /** Where its terms are; absent or empty: not said. */
  readonly termsUrl?: string;
  /** Day on which the operator last checked what the catalog says of it, `YYYY-MM-DD`. */
  readonly verifiedAt?: string | undefined;
  readonly status: "active" | "inactive";
  /** Environment variables it lacks; alternatives are one text ("A or B"). Absent: none. */
  readonly missing?: readonly string[];
  /** Environment variables that it is configured by, for the operator; no value. Absent: none. */
  readonly variables?: readonly ProviderVariable[];
  /** Disabled in the catalog's file: an org's own key does not enable it either. */
  readonly isSwitchedOff?: boolean;
  /** How this provider deviates from its dialects, as data. */
  readonly quirks: ProviderQuirks;
  /** List prices of tools that it runs, USD per 1,000 uses: the default of its endpoints' prices. */
  readonly serverTools?: Readonly<Partial<Record<string, number>>>;
}

export interface ProviderVariable {
  readonly name: string;
  /** `address`: its URL or its proxy is made of it. */
  readonly use: "credential" | "address";
  readonly isSet: boolean;
  /** The platform's key that was read from it. Absent: none, or one that an earlier variable holds too. */
  readonly keyId?: string;
}

/** One credential for a provider, and what may be shown of it. */
export interface ProviderKey {
  /** Platform keys: `<provider>/1`, `<provider>/2`, …; an org's own: its row's id. Unique and stable across restarts. */
  readonly id: string;
  /** `pool_<provider>`, or `byok_<provider>` for an org's own. */
  readonly poolId: string;
  /**
   * Last four characters of the part that identifies the credential; empty where there is none, or it is too short to
   * hide any.
   */
  readonly hint: string;
  /** An org's own key: its provider bills the org. */
  readonly isByok: boolean;
  /** Not enumerable; never logged, never in an error. */
  readonly credential: Credential | undefined;
}

/** One string, or the contents of several variables or a file. */
export type Credential = string | AwsKeys | ServiceAccount;

export interface AwsKeys {
  readonly kind: "aws_keys";
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only for temporary keys. */
  readonly sessionToken?: string;
}

/** A Google service account, as in its key file. */
export interface ServiceAccount {
  readonly kind: "service_account";
  readonly clientEmail: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly privateKeyId: string;
  readonly tokenUri: string;
}

export type Auth =
  | { readonly scheme: "bearer" }
  /** The credential is the value of this header; name in lower case. */
  | { readonly scheme: "header"; readonly header: string }
  /**
   * AWS keys sign each call; a credential of one string is sent as a bearer token. `region`: used for endpoints in
   * `global`.
   */
  | { readonly scheme: "aws_sigv4"; readonly service: string; readonly region: string }
  /** A service account is exchanged for access tokens. */
  | { readonly scheme: "google_oauth" };

/** Requests that an endpoint may support: a generation, a streamed one, a token count, embeddings, a ranking. */
export type Act = "call" | "stream" | "count" | "embed" | "rerank";

/**
 * Relative to the base URL, or full URLs; `{model}` stands for the upstream's name of the model. `none`: not supported.
 */
export type DialectPaths = Partial<Readonly<Record<Act, string>>>;

export interface ProviderQuirks {
  /** False: it rejects `stream_options`; usage of a stream is then estimated unless the provider sends it unasked. */
  readonly streamUsage: boolean;
  /** The name it requires for the output limit. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | "either";
  /**
   * True: it bills the whole generation after a disconnect; disconnected calls are then drained rather than cancelled.
   */
  readonly billsAfterDisconnect: boolean;
  /** Deviations of bodies from their dialect; absent where there are none. */
  readonly bodies?: Partial<Readonly<Record<Dialect, BodyQuirks>>>;
}

/** Changes to top-level members of a body. */
export interface BodyQuirks {
  /** Dialect's name → provider's name. */
  readonly rename: Readonly<Record<string, string>>;
  /** The provider answers 400 to these: they are removed, and the client is warned. */
  readonly unsupported: readonly string[];
  /** Sent elsewhere, such as in the path: removed without a warning. */
  readonly omit: readonly string[];
  /** Constants that it requires. */
  readonly set: Readonly<Record<string, unknown>>;
}

export interface Capabilities {
  readonly tools: boolean;
  readonly parallelTools: boolean;
  readonly jsonSchema: boolean;
  readonly vision: boolean;
  readonly audio: boolean;
  readonly reasoning: boolean;
  readonly cache: boolean;
}

export interface Endpoint {
  /** `ep_<provider>_<upstream_model>_<region>` with every character outside `[A-Za-z0-9.-]` as `-`. */
  readonly id: string;
  readonly model: string;
  readonly provider: Provider;
  /** Dialects to call it in: the client's own format if included, else the first. Never empty. */
  readonly dialects: readonly Dialect[];
  /** The model's. */
  readonly task: Task;
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  readonly region: string;
  readonly status: "active" | "inactive";
  readonly quantization: string;
  readonly contextLength: number;
  /** 0 where the task has no output tokens. */
  readonly maxOutput: number;
  /** Maximum number of tokens that one image of a prompt can cost: a bound for money. */
  readonly imageTokens: number;
  readonly capabilities: Capabilities;
  readonly modalitiesIn: readonly Modality[];
  /** As charged: list price with markup. */
  readonly prices: UnitPrices;
  /** As the provider charges, nano-USD per token: shown by `/v1/models`. */
  readonly listPrices: UnitPrices;
  readonly markupBps: number;
  readonly dataPolicy: DataPolicy;
}

export interface Model {
  /** `<vendor>/<model>` */
  readonly id: string;
  readonly vendor: string;
  readonly name: string;
  /** Other names that callers may ask for it by, as the file has them: with a vendor or without. */
  readonly aliases: readonly string[];
  readonly task: Task;
  /** Name of the public encoding that counts its tokens, such as `o200k_base`; empty where there is none. */
  readonly tokenizer: string;
  readonly modalitiesIn: readonly Modality[];
  readonly modalitiesOut: readonly Modality[];
  readonly contextLength: number;
  readonly maxOutput: number;
  readonly status: "active" | "deprecated";
  readonly markupBps: number;
  /** ISO date of the model's release, empty when unknown. */
  readonly released: string;
  /** Only endpoints whose provider has its credential (or needs none). May be empty. */
  readonly endpoints: readonly Endpoint[];
}
