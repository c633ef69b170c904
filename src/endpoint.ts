/**
 * What the catalog knows and every later step reads: providers, models and the endpoints that serve them.
 * Frozen once loaded; a reload builds a new set and swaps it, so a call keeps the one it began with.
 */
import type { UnitPrices } from "./money.ts";

/** Wire format an upstream speaks. Others follow with their adapters. */
export type Dialect = "chat";

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
  /** No trailing slash; the dialect's path is appended: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly dialect: Dialect;
  /** Names of environment variables, the first one set wins; empty for providers that need none. */
  readonly credentialEnv: readonly string[];
  /** Resolved from the environment at load. Never logged, never in an error. */
  readonly credential: string | undefined;
  /** The built-in simulator: the only upstream of test keys. */
  readonly simulated: boolean;
  readonly dataPolicy: DataPolicy;
  readonly regions: readonly string[];
  readonly termsUrl: string;
  readonly status: "active" | "inactive";
  /** How this upstream departs from its dialect, as data. */
  readonly quirks: ProviderQuirks;
}

export interface ProviderQuirks {
  /** False: it rejects `stream_options`; usage of a stream is then estimated unless it sends one unasked. */
  readonly streamUsage: boolean;
  /** The name it wants for the output bound. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | "either";
  /** True: it bills the whole generation though the caller left; disconnects are drained rather than cancelled. */
  readonly billsAfterDisconnect: boolean;
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
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  readonly region: string;
  readonly status: "active" | "inactive";
  readonly quantization: string;
  readonly contextLength: number;
  readonly maxOutput: number;
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
