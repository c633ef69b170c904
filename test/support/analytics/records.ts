/** Records for tests: plain ones with what a test wants changed. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BatchRows } from "../../../src/analytics/outbox/batch-queue.ts";
import type { ShadowRow } from "../../../src/analytics/outbox/shadow-rows.ts";
import { seededRandom } from "../../../src/base/clock.ts";
import { requestId } from "../../../src/base/ids.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { LAYOUT, readRecord } from "../../../src/record/columns.ts";
import type { AttemptRecord, CallRecord } from "../../../src/record/record.ts";
import { RowBinaryReader } from "../../../src/record/row-binary.ts";
import { ORIGIN } from "../trail.fixtures.ts";

export const ORG = "org_01J00000000000000000000001";
export const OTHER_ORG = "org_01J00000000000000000000002";

export const caller = (orgId = ORG): Caller => ({
  requestId: "01J00000000000000000000000",
  orgId,
  projectId: "prj_01J00000000000000000000001",
  actor: { kind: "key", id: "key_01J00000000000000000000001" },
  origin: ORIGIN,
  environment: "live",
  scopes: new Set(["read:usage"]),
});

export const attempt = (change: Partial<AttemptRecord> = {}): AttemptRecord => ({
  attempt: 1,
  tsMs: 0,
  provider: "acme",
  endpointId: "ep_acme_model_eu",
  poolId: "default",
  keyHint: "ab12",
  outcome: "ok",
  httpStatus: 200,
  errorClass: "",
  upstreamCode: "",
  upstreamMessage: "",
  refusal: "",
  ttftMs: 120,
  durationMs: 900,
  outputTokens: 20,
  ...change,
});

/** A row of zeros: every column empty or 0, so that a new field needs a value here only where a test looks at it. */
const EMPTY = readRecord(new RowBinaryReader(new Uint8Array(1024), 0), LAYOUT);

export function record(change: Partial<CallRecord> = {}): CallRecord {
  const tsMs = change.tsMs ?? Date.now();
  return {
    ...EMPTY,
    requestId: requestId(tsMs),
    tsMs,
    orgId: ORG,
    projectId: "prj_01J00000000000000000000001",
    keyId: "key_01J00000000000000000000001",
    environment: "live",
    cell: "cell-1",
    dialectIn: "chat",
    model: "acme/model",
    provider: "acme",
    endpointId: "ep_acme_model_eu",
    upstreamModel: "model-1",
    region: "eu",
    status: "ok",
    httpStatus: 200,
    errorCode: "",
    stopReason: "stop",
    usage: {
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 10,
      cacheWriteTokens: 0,
      reasoningTokens: 5,
    },
    usageSource: "provider",
    cost: {
      total_micro_usd: 60,
      lines: [
        { kind: "input", units: 90, unit_price_nano: 400, micro_usd: 36 },
        { kind: "output", units: 20, unit_price_nano: 1200, micro_usd: 24 },
      ],
      price_version: "pv_01J00000000000000000000001",
    },
    charged: true,
    ttftMs: 130,
    upstreamTtftMs: 120,
    durationMs: 950,
    settledAtUs: (tsMs + 950) * 1000,
    gwOverheadMs: 0.75,
    bytesIn: 512,
    bytesOut: 800,
    stream: false,
    byok: false,
    zdr: false,
    toolCalls: 0,
    hasImages: false,
    hasTools: false,
    hasSchema: false,
    policy: "house",
    policyVersion: 3,
    rule: "small",
    canary: "",
    experiment: "hosts",
    arm: "b",
    maxTokens: 512,
    parallelTools: false,
    hasAudio: false,
    routeOptions: '{"sort":"price"}',
    sessionHash: "fedcba9876543210",
    appId: "app-1",
    userHash: "0123456789abcdef",
    tags: { team: "blue" },
    userAgent: "OpenAI/JS 7.55.0",
    clientIpPrefix: "127.0.0.0/24",
    routeTrace: "ep_acme_model_eu",
    warnings: [],
    attempts: [attempt({ tsMs })],
    payloadState: "available",
    redact: { presets: ["api_key", "card"], patterns: [] },
    request: Buffer.from('{"model":"acme/model","messages":[{"role":"user","content":"hello"}]}'),
    response: Buffer.from('{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}'),
    retentionDays: 30,
    ...change,
  };
}

/** Records of an org, at an endpoint of the same name: a test counts its own ones in a database that it shares with others. */
export const recordsOf =
  (org: string) =>
  (change: Partial<CallRecord> = {}): CallRecord => {
    const { attempts, ...rest } = record(change);
    return { ...rest, orgId: org, attempts: attempts.map((one) => ({ ...one, endpointId: org })) };
  };

let shadowsMade = 0;

/** A shadow run of a call that both sides answered. */
export const shadowRow = (change: Partial<ShadowRow> = {}): ShadowRow => ({
  orgId: ORG,
  tsMs: Date.now(),
  requestId: `request-${++shadowsMade}`,
  shadowRequestId: `shadow-${shadowsMade}`,
  policy: "house",
  policyVersion: 1,
  primaryEndpoint: "ep_a",
  shadowEndpoint: "ep_b",
  bill: "platform",
  charged: false,
  primaryStatus: "ok",
  shadowStatus: "ok",
  shadowErrorClass: "",
  primaryCostMicroUsd: 100,
  shadowCostMicroUsd: 60,
  stream: true,
  primaryTtftMs: 200,
  shadowTtftMs: 300,
  primaryStopReason: "stop",
  shadowStopReason: "stop",
  primaryOutputTokens: 10,
  shadowOutputTokens: 12,
  ...change,
});

/** Every field with a value of its own, so that two that were swapped would show. */
export const distinctRecord = (): CallRecord =>
  record({
    ttftMs: 1,
    upstreamTtftMs: 2,
    durationMs: 3,
    gwOverheadMs: 4.5,
    bytesIn: 5,
    bytesOut: 6,
    httpStatus: 7,
    toolCalls: 8,
    retentionDays: 9,
    usage: {
      inputTokens: 10,
      outputTokens: 11,
      cacheReadTokens: 12,
      cacheWriteTokens: 13,
      reasoningTokens: 14,
    },
    stream: true,
    zdr: true,
    hasTools: true,
    projectId: "prj",
    keyId: "key",
    cell: "cell",
    dialectIn: "dialect",
    model: "model",
    provider: "provider",
    endpointId: "endpoint",
    upstreamModel: "upstream",
    region: "region",
    errorCode: "error",
    stopReason: "reason",
    appId: "app",
    userHash: "hash",
    userAgent: "agent",
    clientIpPrefix: "prefix",
    routeTrace: "trace",
    warnings: ["warning"],
    attempts: [
      attempt({
        tsMs: 1,
        poolId: "pool",
        keyHint: "hint",
        httpStatus: 2,
        errorClass: "server",
        upstreamCode: "c",
        upstreamMessage: "m",
        ttftMs: 3,
        durationMs: 4,
        outputTokens: 5,
      }),
    ],
  });

/** Records that differ in everything that reads filter and group by; the same for the same seed. */
export function manyRecords(count: number, fromMs: number, toMs: number, seed = 1): CallRecord[] {
  const random = seededRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  return Array.from({ length: count }, () => {
    const tsMs = Math.floor(fromMs + random() * (toMs - fromMs));
    const status = pick(["ok", "ok", "ok", "error", "cancelled", "rejected"] as const);
    const provider = pick(["acme", "bolt"]);
    const tries = pick([1, 1, 1, 2, 3]);
    const live = random() < 0.9;
    const costMicro = Math.floor(random() * 1000);
    return record({
      tsMs,
      projectId: pick(["prj_a", "prj_b"]),
      keyId: pick(["key_a", "key_b", "key_c"]),
      environment: live ? "live" : "test",
      charged: live && costMicro > 0,
      model: pick(["acme/model", "bolt/large"]),
      provider,
      status,
      httpStatus: status === "ok" ? 200 : 429,
      errorCode: status === "rejected" ? pick(["rpm", "tpm", "concurrency", "upstream_capacity"]) : "",
      usage: {
        inputTokens: Math.floor(random() * 5000),
        outputTokens: Math.floor(random() * 500),
        cacheReadTokens: Math.floor(random() * 50),
        cacheWriteTokens: Math.floor(random() * 50),
        reasoningTokens: Math.floor(random() * 50),
      },
      cost: { total_micro_usd: costMicro, lines: [], price_version: "pv_1" },
      byok: random() < 0.2,
      appId: pick(["", "app-1", "app-2"]),
      tags: random() < 0.5 ? { team: pick(["blue", "red"]) } : {},
      attempts: Array.from({ length: tries }, (_, at) =>
        attempt({
          attempt: at + 1,
          tsMs,
          provider,
          endpointId: `ep_${provider}_model_eu`,
          ...(at < tries - 1 && { outcome: "http_error", httpStatus: 500, errorClass: "server", ttftMs: 0 }),
        }),
      ),
      payloadState: "off",
      request: undefined as never,
      response: undefined as never,
    });
  });
}

export const silentLog = { warn: () => {} };

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "weir-analytics-"));

/** All rows of a batch of a queue. */
export async function rowsOfBatch(batch: Pick<BatchRows, "slices"> | undefined): Promise<Uint8Array[]> {
  const rows: Uint8Array[] = [];
  if (batch !== undefined) for await (const slice of batch.slices()) rows.push(...slice);
  return rows;
}
