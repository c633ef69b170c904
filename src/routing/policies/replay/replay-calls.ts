/**
 * Recorded calls as a replay reads them: columns of the analytics table `requests` as RowBinary. Column names and
 * reader have the same order; a test reads real rows with them. Prompts and answers are not included.
 */

import type { Usage, UsageSource } from "../../../base/usage.ts";
import { RowBinaryReader } from "../../../record/row-binary.ts";

/** Columns requested from the traffic port. */
export const REPLAY_COLUMNS: readonly string[] = [
  "ts",
  "request_id",
  "project_id",
  "key_id",
  "environment",
  "model",
  "endpoint_id",
  "status",
  "error_code",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "usage_source",
  "cost_micro",
  "charged",
  "price_version_id",
  "cost_lines.kind",
  "cost_lines.units",

  "ttft_ms",
  "bytes_in",
  "stream",
  "has_images",
  "has_audio",
  "has_tools",
  "parallel_tools",
  "has_schema",
  "byok",
  "max_tokens",
  "route_options",
  "session_hash",
  "user_hash",
  "app_id",
  "tags",
  "attempt_rows.endpoint_id",
  "attempt_rows.error_class",
];

export interface RecordedCall {
  readonly tsMs: number;
  readonly requestId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly environment: "live" | "test";
  readonly model: string;
  /** The endpoint that answered, or failed last; empty where none was tried. */
  readonly endpointId: string;
  readonly status: string;
  readonly errorCode: string;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly costMicroUsd: number;
  readonly charged: boolean;
  readonly priceVersion: string;
  /** Images billed individually. */
  readonly images: number;
  /** 0: no byte was sent to the client. */
  readonly ttftMs: number;
  readonly bytesIn: number;
  readonly stream: boolean;
  readonly hasImages: boolean;
  readonly hasAudio: boolean;
  readonly hasTools: boolean;
  readonly parallelTools: boolean;
  readonly hasSchema: boolean;
  readonly byok: boolean;
  /** 0: not set by the request. */
  readonly maxTokens: number;
  /** `svc.route` as JSON; empty where the request had none. */
  readonly routeOptions: string;
  readonly sessionHash: string;
  readonly userHash: string;
  readonly app: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Endpoints that failed the call by their own fault. */
  readonly failedAt: readonly string[];
}

/** Reads a page of rows, split into pieces at any byte. @throws RangeError where the bytes end too early. */
export function* readCalls(pieces: readonly Uint8Array[]): Generator<RecordedCall> {
  const bytes = Buffer.concat(pieces);
  const reader = new RowBinaryReader(bytes, 0);
  while (reader.at < bytes.length) yield readCall(reader);
}

function readCall(i: RowBinaryReader): RecordedCall {
  const tsMs = i.u64();
  const requestId = i.text();
  const projectId = i.text();
  const keyId = i.text();
  const environment = i.text() === "test" ? "test" : "live";
  const model = i.text();
  const endpointId = i.text();
  const status = i.text();
  const errorCode = i.text();
  const [inputTokens, outputTokens, cacheReadTokens] = [i.u32(), i.u32(), i.u32()];
  const [cacheWriteTokens, reasoningTokens] = [i.u32(), i.u32()];
  const usageSource = i.text() as UsageSource;
  const costMicroUsd = i.u64();
  const charged = i.bool();
  const priceVersion = i.text();
  const kinds = i.list(readText);
  const units = i.list(readU64);
  const searchUnits = unitsOf("search_unit", kinds, units);
  return {
    tsMs,
    requestId,
    projectId,
    keyId,
    environment,
    model,
    endpointId,
    status,
    errorCode,
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, searchUnits },
    usageSource,
    costMicroUsd,
    charged,
    priceVersion,
    images: unitsOf("image", kinds, units),
    ttftMs: i.u32(),
    bytesIn: i.u64(),
    stream: i.bool(),
    hasImages: i.bool(),
    hasAudio: i.bool(),
    hasTools: i.bool(),
    parallelTools: i.bool(),
    hasSchema: i.bool(),
    byok: i.bool(),
    maxTokens: i.u32(),
    routeOptions: i.text(),
    sessionHash: i.text(),
    userHash: i.text(),
    app: i.text(),
    tags: readTags(i),
    failedAt: readFailedAt(i),
  };
}

const readText = (i: RowBinaryReader) => i.text();
const readU64 = (i: RowBinaryReader) => i.u64();

/** A column of type Map(String, String). */
function readTags(i: RowBinaryReader): Readonly<Record<string, string>> {
  const pairs = i.list((entry): [string, string] => [entry.text(), entry.text()]);
  return pairs.length === 0 ? NO_TAGS : Object.fromEntries(pairs);
}

const NO_TAGS: Readonly<Record<string, string>> = Object.freeze({});

function readFailedAt(i: RowBinaryReader): readonly string[] {
  const endpoints = i.list(readText);
  const classes = i.list(readText);
  // A request that an upstream refuses as invalid (`client`) says nothing about the endpoint.
  return endpoints.filter((_, at) => classes[at] !== "" && classes[at] !== "client");
}

function unitsOf(kind: string, kinds: readonly string[], units: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < kinds.length; at++) if (kinds[at] === kind) sum += units[at] ?? 0;
  return sum;
}
