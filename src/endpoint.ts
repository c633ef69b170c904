/**
 * What the catalog knows and every later step reads: providers, models and the endpoints that serve them.
 * Frozen once loaded; a reload builds a new set and swaps it, so a call keeps the one it began with.
 */
import type { UnitPrices } from "./money.ts";

/**
 * Wire formats that upstreams speak. The first five generate; `*_embeddings`, `cohere`, `jina` and `voyage` embed, the last
 * three rerank as well.
 */
export type Dialect =
  | "chat"
  | "responses"
  | "messages"
  | "gemini"
  | "converse"
  | "openai_embeddings"
  | "gemini_embeddings"
  | "cohere"
  | "jina"
  | "voyage";

/** What a model is asked for. */
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
   * No trailing slash; the dialect's path is appended: `https://api.openai.com/v1`. `{region}` in it stands for the
   * endpoint's region.
   */
  readonly baseUrl: string;
  /** Base URLs of regions that do not follow the pattern of `baseUrl`. */
  readonly regionUrls?: Readonly<Record<string, string>>;
  /** What it speaks, preferred first. */
  readonly dialects: readonly Dialect[];
  /** Where a dialect's acts are found, as far as it departs from the dialect's own paths. */
  readonly paths?: Partial<Readonly<Record<Dialect, DialectPaths>>>;
  /** Headers of every call, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How the credential travels; absent: as a bearer token. */
  readonly auth?: Auth;
  /** Names of environment variables, the first one set wins; empty for providers that need none. */
  readonly credentialEnv: readonly string[];
  /**
   * The platform's pool, resolved from the environment at load. One key without a credential where the provider needs
   * none; empty where it needs one that is not set.
   */
  readonly keys: readonly ProviderKey[];
  /** The built-in simulator: the only upstream of test keys. */
  readonly simulated: boolean;
  readonly dataPolicy: DataPolicy;
  readonly regions: readonly string[];
  readonly status: "active" | "inactive";
  /** What it waits for in the environment: names of variables, alternatives in one text ("A or B"). Absent: nothing. */
  readonly missing?: readonly string[];
  /** The catalog's file switches it off: no own key opens it either. */
  readonly isSwitchedOff?: boolean;
  /** How this upstream departs from its dialect, as data. */
  readonly quirks: ProviderQuirks;
}

/** One credential of a provider's, and what may be told of it. */
export interface ProviderKey {
  /** Of the platform's: `<provider>/1`, `<provider>/2`, …; of an org's own: its row's id. Unique, and the same after a restart. */
  readonly id: string;
  /** `pool_<provider>`, or `byok_<provider>` for an org's own. */
  readonly poolId: string;
  /** Last four characters of what names the credential; empty where there is none, or too little to leave any out. */
  readonly hint: string;
  /** An org brought it: its provider bills the org. */
  readonly isByok: boolean;
  /** Not enumerable; never logged, never in an error. */
  readonly credential: Credential | undefined;
}

/** A secret in one piece, or what several variables or a file hold together. */
export type Credential = string | AwsKeys | ServiceAccount;

export interface AwsKeys {
  readonly kind: "aws_keys";
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary keys. */
  readonly sessionToken?: string;
}

/** Google's service account, as its key file has it. */
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
  /** AWS keys sign each call; a credential in one piece travels as a bearer token. `region`: of endpoints in `global`. */
  | { readonly scheme: "aws_sigv4"; readonly service: string; readonly region: string }
  /** A service account is exchanged for access tokens. */
  | { readonly scheme: "google_oauth" };

/** What can be asked of an endpoint: a whole generation, a streamed one, a token count, embeddings, a ranking. */
export type Act = "call" | "stream" | "count" | "embed" | "rerank";

/**
 * Relative to the base URL, or whole URLs; `{model}` stands for the upstream's name of the model. `none`: it does not do
 * that.
 */
export type DialectPaths = Partial<Readonly<Record<Act, string>>>;

export interface ProviderQuirks {
  /** False: it rejects `stream_options`; usage of a stream is then estimated unless it sends one unasked. */
  readonly streamUsage: boolean;
  /** The name it wants for the output bound. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | "either";
  /** True: it bills the whole generation though the caller left; disconnects are drained rather than cancelled. */
  readonly billsAfterDisconnect: boolean;
  /** How bodies depart from their dialect's; absent where they do not. */
  readonly bodies?: Partial<Readonly<Record<Dialect, BodyQuirks>>>;
}

/** Top-level members of a body. */
export interface BodyQuirks {
  /** The dialect's name to the provider's. */
  readonly rename: Readonly<Record<string, string>>;
  /** It answers 400 to these: they are left out, and the client is told. */
  readonly unsupported: readonly string[];
  /** These have another place, such as the path: left out without a word. */
  readonly omit: readonly string[];
  /** Constants that it wants. */
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
  /** What it is called with: the client's own format where it is among them, else the first. Never empty. */
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
  /** The most tokens that one image of a prompt can cost: a bound for money. */
  readonly imageTokens: number;
  readonly capabilities: Capabilities;
  readonly modalitiesIn: readonly Modality[];
  /** As charged: list price with markup. */
  readonly prices: UnitPrices;
  /** As the provider charges, nano-USD a token: what `/v1/models` shows. */
  readonly listPrices: UnitPrices;
  readonly markupBps: number;
  readonly dataPolicy: DataPolicy;
}

export interface Model {
  /** `<vendor>/<model>` */
  readonly id: string;
  readonly vendor: string;
  readonly name: string;
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
