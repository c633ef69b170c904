/**
 * The record of one call, in one format from the exchange through the outbox to ClickHouse. Written once by
 * `exchange/record.ts`; every reader (generation look-up, request feed, usage) derives from it.
 */
import type { Cost } from "../base/money.ts";
import type { Usage, UsageSource } from "../base/usage.ts";

export type CallStatus = "ok" | "error" | "cancelled" | "rejected";
export type PayloadState = "available" | "off" | "zdr" | "expired" | "erased";

export type AttemptOutcome =
  | "ok"
  | "http_error"
  | "rate_limited"
  | "timeout"
  | "connect_error"
  | "stream_error"
  | "invalid_response"
  | "cancelled";
export type ErrorClass = "" | "client" | "capacity" | "auth" | "server" | "network" | "timeout" | "protocol";

/** One attempt at one endpoint. */
export interface AttemptRecord {
  attempt: number;
  tsMs: number;
  provider: string;
  endpointId: string;
  poolId: string;
  /** Last four characters of the provider credential, never more. */
  keyHint: string;
  outcome: AttemptOutcome;
  /** 0 when no status line arrived. */
  httpStatus: number;
  errorClass: ErrorClass;
  /** The upstream's own code and message, for the record only. */
  upstreamCode: string;
  upstreamMessage: string;
  /** Id of the row of the table of refusals that the provider's answer matched; empty where none did, and where nothing was refused. */
  refusal: string;
  /** Milliseconds to the first content byte; 0 when none came. */
  ttftMs: number;
  durationMs: number;
  outputTokens: number;
}

/** An org's rules; immutable, replaced on change. */
export interface Redaction {
  readonly presets: readonly string[];
  /** RE2 syntax. */
  readonly patterns: readonly string[];
}

/** What of a record tells of the error, beside its code. */
export type RecordedError = Pick<CallRecord, "errorMessage" | "errorDetails">;

export interface CallRecord {
  requestId: string;
  /** Wall time of its arrival. */
  tsMs: number;
  /** Microseconds since 1970 at which it was settled; greater than of any call that its process settled before: the order of the tail. */
  settledAtUs: number;
  orgId: string;
  projectId: string;
  keyId: string;
  environment: "live" | "test";
  cell: string;
  dialectIn: string;
  model: string;
  provider: string;
  endpointId: string;
  upstreamModel: string;
  region: string;
  status: CallStatus;
  httpStatus: number;
  /** Wire code of the error table; empty when none. */
  errorCode: string;
  /** What the client was told of the error, 1,000 characters at most; empty where none was, or the org keeps no texts of its calls. */
  errorMessage: string;
  /**
   * JSON of `type`, `status` and, where the error has them, `retry_after_ms`, `param` and `details`; `details_cut` where these were too
   * long. Empty where there was no error.
   */
  errorDetails: string;
  stopReason: string;
  usage: Usage;
  usageSource: UsageSource;
  cost: Cost;
  /** False for test keys: the cost is shown, the ledger untouched. */
  charged: boolean;
  ttftMs: number;
  upstreamTtftMs: number;
  durationMs: number;
  gwOverheadMs: number;
  bytesIn: number;
  bytesOut: number;
  stream: boolean;
  /** Name of the active routing policy; empty without one. */
  policy: string;
  /** 0 without a policy. */
  policyVersion: number;
  /** The rule that matched; empty where none did. */
  rule: string;
  /** Endpoint id of the canary in whose share the call was; else empty. */
  canary: string;
  /** Name of the experiment of the call's arm; both are empty without one. */
  experiment: string;
  arm: string;
  /** The request's output limit; 0: none. */
  maxTokens: number;
  parallelTools: boolean;
  hasAudio: boolean;
  /** `svc.route` of the request as JSON, for replays; empty where there was none. */
  routeOptions: string;
  /** Hash of the session, like that of users; empty without one. */
  sessionHash: string;
  byok: boolean;
  zdr: boolean;
  toolCalls: number;
  hasImages: boolean;
  hasTools: boolean;
  hasSchema: boolean;
  appId: string;
  userHash: string;
  tags: Readonly<Record<string, string>>;
  userAgent: string;
  /** /24 of an IPv4, /48 of an IPv6 address. */
  clientIpPrefix: string;
  /** The plan in one line: endpoints tried and excluded, with reasons. */
  routeTrace: string;
  warnings: readonly string[];
  attempts: readonly AttemptRecord[];
  payloadState: PayloadState;
  /** Redaction that a worker must apply before the payload leaves the outbox. */
  redact: Redaction;
  /** The client's body as received (JSON), and the answer as delivered (JSON body or SSE text); absent unless `payloadState` is `available`. */
  request?: Uint8Array | undefined;
  response?: Uint8Array | undefined;
  /** How long the payload is stored. */
  retentionDays: number;
}

/** When a call ended: its charge was written then. Wall clock. */
export const endedAtMs = ({ tsMs, durationMs }: Pick<CallRecord, "tsMs" | "durationMs">): number =>
  tsMs + durationMs;

/** Whether a call has an entry of the ledger. */
export const isCharged = ({ charged, cost }: Pick<CallRecord, "charged" | "cost">): boolean =>
  charged && cost.total_micro_usd > 0;
