/**
 * What a receipt says: what one call used, at which prices, what was charged, and where that is in the ledger. It is signed as
 * JSON, so members are only ever added; `version` rises where one changes its meaning.
 */
import { CompactSign } from "jose";
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { ShownEntry } from "../../credits/ledger/shown-list.ts";
import { type CallRecord, endedAtMs } from "../../record/record.ts";
import { RECEIPT_ALG, type Signer } from "./keys.ts";

/** Media type of a JWS in compact form, RFC 7515, section 9.2.1. */
export const JOSE_TYPE = "application/jose";
/** `typ` of the header: no JWT of another purpose passes as a receipt, RFC 8725, section 3.11. */
export const RECEIPT_TYP = "weir-receipt+jws";

const count = z.int().min(0);

export const receiptSchema = z.object({
  version: z.literal(1),
  iss: z.string(),
  iat: z.int(),
  request_id: z.string(),
  org_id: z.string(),
  project_id: z.string(),
  key_id: z.string(),
  environment: z.enum(["live", "test"]),
  status: z.string(),
  model: z.string(),
  endpoint_id: z.string(),
  provider: z.string(),
  upstream_model: z.string(),
  region: z.string(),
  byok: z.boolean(),
  usage: z.object({
    input_tokens: count,
    output_tokens: count,
    cache_read_tokens: count,
    cache_write_tokens: count,
    reasoning_tokens: count,
  }),
  usage_source: z.enum(["provider", "estimated", "none"]),
  charged: z.boolean(),
  cost: z.object({
    total_micro_usd: count,
    price_version: z.string(),
    lines: z.array(
      z.object({
        kind: z.string(),
        units: count,
        unit_price_nano: count,
        micro_usd: count,
        tool: z.string().optional(),
        tier: z.string().optional(),
      }),
    ),
  }),
  ledger: z
    .object({ seq: count, amount_micro_usd: z.int(), created_at: z.string() })
    .optional()
    .describe("Absent where nothing was charged"),
  policy: z.object({ name: z.string(), version: count, rule: z.string() }).optional(),
  started_at: z.string(),
  ended_at: z.string(),
});

export type Receipt = z.output<typeof receiptSchema>;

/** @param entry of the ledger; undefined where nothing was charged. @param iss address of the gateway */
export function receiptOf(
  record: CallRecord,
  entry: Pick<ShownEntry, "seq" | "amountMicroUsd" | "createdAtMs"> | undefined,
  { iss, nowMs }: { readonly iss: string; readonly nowMs: number },
): Receipt {
  const { usage, cost, policy, policyVersion, rule } = record;
  const lines = cost.lines.map(({ kind, units, unit_price_nano, micro_usd, tool, tier }) => ({
    kind,
    units,
    unit_price_nano,
    micro_usd,
    ...(tool !== undefined && { tool }),
    ...(tier !== undefined && { tier }),
  }));
  return {
    version: 1,
    iss,
    iat: Math.floor(nowMs / 1000),
    request_id: record.requestId,
    org_id: record.orgId,
    project_id: record.projectId,
    key_id: record.keyId,
    environment: record.environment,
    status: record.status,
    model: record.model,
    endpoint_id: record.endpointId,
    provider: record.provider,
    upstream_model: record.upstreamModel,
    region: record.region,
    byok: record.byok,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
    usage_source: record.usageSource,
    charged: entry !== undefined,
    cost: {
      total_micro_usd: entry === undefined ? 0 : cost.total_micro_usd,
      price_version: cost.price_version,
      lines: entry === undefined ? [] : lines,
    },
    ...(entry !== undefined && {
      ledger: {
        seq: entry.seq,
        amount_micro_usd: entry.amountMicroUsd,
        created_at: isoTime(entry.createdAtMs),
      },
    }),
    ...(policy !== "" && { policy: { name: policy, version: policyVersion, rule } }),
    started_at: isoTime(record.tsMs),
    ended_at: isoTime(endedAtMs(record)),
  };
}

/** @returns a JWS in compact form, RFC 7515 */
export const signReceipt = (receipt: Receipt, { kid, key }: Signer): Promise<string> =>
  new CompactSign(new TextEncoder().encode(JSON.stringify(receipt)))
    .setProtectedHeader({ alg: RECEIPT_ALG, kid, typ: RECEIPT_TYP })
    .sign(key);
