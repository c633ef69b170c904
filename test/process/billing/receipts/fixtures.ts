/** A record of a call, for receipts. */
import { requestId } from "../../../../src/base/ids.ts";
import type { CallRecord } from "../../../../src/record/record.ts";

const TS_MS = Date.parse("2026-11-23T09:59:00Z");

/** The record of a call that cost 1,234 micro-USD. */
export const aRecord = (changes: Partial<CallRecord> = {}): CallRecord => ({
  ...{ requestId: requestId(TS_MS), tsMs: TS_MS, orgId: "org_1", projectId: "prj_1", keyId: "key_1" },
  ...{ environment: "live", cell: "", dialectIn: "openai-chat", model: "weir/sim-small", provider: "sim" },
  ...{ endpointId: "sim/sim-small", upstreamModel: "sim-small", region: "us", status: "ok", httpStatus: 200 },
  ...{ errorCode: "", stopReason: "stop", usageSource: "provider", charged: true },
  usage: {
    ...{ inputTokens: 100, outputTokens: 20, cacheReadTokens: 40, cacheWriteTokens: 0, reasoningTokens: 0 },
  },
  cost: {
    total_micro_usd: 1234,
    price_version: "pv_1",
    lines: [
      { kind: "input", units: 60, unit_price_nano: 10_000, micro_usd: 600 },
      { kind: "output", units: 20, unit_price_nano: 31_700, micro_usd: 634 },
    ],
  },
  ...{
    ttftMs: 1,
    upstreamTtftMs: 1,
    durationMs: 900,
    settledAtUs: 0,
    gwOverheadMs: 0,
    bytesIn: 1,
    bytesOut: 1,
  },
  ...{ stream: false, policy: "batch", policyVersion: 3, rule: "all", canary: "", experiment: "", arm: "" },
  ...{ maxTokens: 0, parallelTools: false, hasAudio: false, routeOptions: "", sessionHash: "", byok: false },
  ...{ zdr: false, toolCalls: 0, hasImages: false, hasTools: false, hasSchema: false, appId: "" },
  ...{ userHash: "", tags: {}, userAgent: "", clientIpPrefix: "", routeTrace: "", warnings: [] },
  ...{ attempts: [], payloadState: "off", redact: { presets: [], patterns: [] }, retentionDays: 0 },
  ...changes,
});
