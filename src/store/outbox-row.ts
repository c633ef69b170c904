/**
 * How a record stands in a row of the outbox: MessagePack without names, which halves its size and the time to write it.
 * Rows outlive the release that wrote them, so a layout once written is never changed; a new one gets a new version.
 */
import { pack, unpack } from "msgpackr";
import type { AttemptRecord, CallRecord } from "../record.ts";

/** The names of the values in a row, in order. */
export interface RowLayout {
  readonly record: readonly string[];
  readonly usage: readonly string[];
  readonly cost: readonly string[];
  /** Of each of `cost.lines`. */
  readonly line: readonly string[];
  /** Of each of `attempts`. */
  readonly attempt: readonly string[];
}

/**
 * A row is MessagePack of `[version, record, usage, cost, attempts]`, each a list of values in the order of
 * `ROW_LAYOUTS[version]`. A version that was ever written stays here: rows outlive the release that wrote them.
 */
export const ROW_LAYOUTS: Readonly<Record<number, RowLayout>> = {
  1: {
    record: [
      "requestId",
      "tsMs",
      "orgId",
      "projectId",
      "keyId",
      "environment",
      "cell",
      "dialectIn",
      "model",
      "provider",
      "endpointId",
      "upstreamModel",
      "region",
      "status",
      "httpStatus",
      "errorCode",
      "stopReason",
      "usageSource",
      "charged",
      "ttftMs",
      "upstreamTtftMs",
      "durationMs",
      "gwOverheadMs",
      "bytesIn",
      "bytesOut",
      "stream",
      "byok",
      "zdr",
      "toolCalls",
      "hasImages",
      "hasTools",
      "hasSchema",
      "appId",
      "userHash",
      "tags",
      "userAgent",
      "clientIpPrefix",
      "routeTrace",
      "warnings",
      "payloadState",
      "redact",
      "retentionDays",
      "request",
      "response",
    ],
    usage: ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"],
    cost: ["total_micro_usd", "price_version", "lines"],
    line: ["kind", "units", "unit_price_nano", "micro_usd"],
    attempt: [
      "attempt",
      "tsMs",
      "provider",
      "endpointId",
      "poolId",
      "keyHint",
      "outcome",
      "httpStatus",
      "errorClass",
      "upstreamCode",
      "upstreamMessage",
      "ttftMs",
      "durationMs",
      "outputTokens",
    ],
  },
};

export const encodeRow = (record: CallRecord): Uint8Array => pack(rowOf(record));

const rowOf = (r: CallRecord): unknown[] => [
  1,
  recordValues(r),
  [
    r.usage.inputTokens,
    r.usage.outputTokens,
    r.usage.cacheReadTokens,
    r.usage.cacheWriteTokens,
    r.usage.reasoningTokens,
  ],
  [
    r.cost.total_micro_usd,
    r.cost.price_version,
    r.cost.lines.map((l) => [l.kind, l.units, l.unit_price_nano, l.micro_usd]),
  ],
  r.attempts.map(attemptValues),
];

/** Written out rather than looped over the names: this runs once a call. A test holds it to `ROW_LAYOUTS`. */
const recordValues = (r: CallRecord): unknown[] => [
  r.requestId,
  r.tsMs,
  r.orgId,
  r.projectId,
  r.keyId,
  r.environment,
  r.cell,
  r.dialectIn,
  r.model,
  r.provider,
  r.endpointId,
  r.upstreamModel,
  r.region,
  r.status,
  r.httpStatus,
  r.errorCode,
  r.stopReason,
  r.usageSource,
  r.charged,
  r.ttftMs,
  r.upstreamTtftMs,
  r.durationMs,
  r.gwOverheadMs,
  r.bytesIn,
  r.bytesOut,
  r.stream,
  r.byok,
  r.zdr,
  r.toolCalls,
  r.hasImages,
  r.hasTools,
  r.hasSchema,
  r.appId,
  r.userHash,
  r.tags,
  r.userAgent,
  r.clientIpPrefix,
  r.routeTrace,
  r.warnings,
  r.payloadState,
  r.redact,
  r.retentionDays,
  r.request,
  r.response,
];

const attemptValues = (a: AttemptRecord): unknown[] => [
  a.attempt,
  a.tsMs,
  a.provider,
  a.endpointId,
  a.poolId,
  a.keyHint,
  a.outcome,
  a.httpStatus,
  a.errorClass,
  a.upstreamCode,
  a.upstreamMessage,
  a.ttftMs,
  a.durationMs,
  a.outputTokens,
];

/** Undefined for a row that is damaged or of a version not known here. */
export function decodeRow(bytes: Uint8Array): CallRecord | undefined {
  try {
    const [version, record, usage, cost, attempts] = unpack(bytes) as [number, ...unknown[][]];
    const layout = ROW_LAYOUTS[version];
    if (layout === undefined || cost === undefined || attempts === undefined) return undefined;
    const named = {
      ...withNames(layout.record, record),
      usage: withNames(layout.usage, usage),
      cost: {
        ...withNames(layout.cost, cost),
        lines: (cost[2] as unknown[][]).map((line) => withNames(layout.line, line)),
      },
      attempts: attempts.map((attempt) => withNames(layout.attempt, attempt as unknown[])),
    };
    return named as unknown as CallRecord;
  } catch {
    // The finishing worker counts it and has it set apart.
    return undefined;
  }
}

/** Values absent when they were written (no payload) come back as absent. */
function withNames(
  names: readonly string[],
  values: readonly unknown[] | undefined,
): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [at, name] of names.entries()) {
    const value = values?.[at];
    if (value !== undefined && value !== null) named[name] = value;
  }
  return named;
}

/** Only the id, where the row can be read at all. */
export function requestIdOfRow(bytes: Uint8Array): string | undefined {
  try {
    const id: unknown = unpack(bytes)?.[1]?.[0];
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
