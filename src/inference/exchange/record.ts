/** Makes the record of a call: everything that analysis, billing or support may need, and no secret. */
import type { WeirError } from "../../base/errors.ts";
import type { RouteOptions } from "../../base/route.ts";
import type { AttemptRecord, CallRecord, CallStatus, PayloadState, Redaction } from "../../record/record.ts";
import { redactor } from "../../workers/redact.ts";
import type { Call } from "./call.ts";
import { recordedError } from "./errors/recorded-error.ts";
import type { Metered } from "./meter.ts";

export interface Ending {
  readonly status: CallStatus;
  /** Status as sent to the client; 499 if it had left. */
  readonly httpStatus: number;
  readonly error: WeirError | undefined;
  readonly metered: Metered;
  readonly stopReason: string;
  readonly toolCalls: number;
  /** The answer for the payload log; undefined if there is none. */
  readonly response: Uint8Array | undefined;
  /** The answer exceeded the size limit of what is stored, or the org's quota of kept bytes has no room for the payload. */
  readonly isPayloadLeftOut: boolean;
}

export interface RecordDeps {
  readonly cell: string;
  readonly maxPayloadBytes: number;
  /** Microseconds since 1970, greater at every call. */
  readonly settledAtUs: () => number;
}

/** @param nowMs monotonic. */
export function recordOf(deps: RecordDeps, call: Call, ending: Ending, nowMs: number): CallRecord {
  const { incoming, key, request, endpoint, decision } = call;
  const zdr = call.isZdr;
  const facts = request?.facts;
  const arm = call.plan?.arm ?? "";
  const durationMs = nowMs - incoming.startMs;
  const payloadState = payloadStateOf(deps, call, zdr, ending);
  const payload = payloadOf(call, payloadState, ending);
  const told = recordedError(ending.error, incoming.format, keepsText(call, zdr));
  return {
    requestId: incoming.requestId,
    tsMs: incoming.tsMs,
    settledAtUs: deps.settledAtUs(),
    orgId: key.orgId,
    projectId: key.projectId,
    keyId: key.keyId,
    environment: key.environment,
    cell: deps.cell,
    dialectIn: incoming.format.name,
    model: call.model?.id ?? facts?.model.slice(0, 200) ?? "",
    provider: endpoint?.provider.id ?? "",
    endpointId: endpoint?.id ?? "",
    upstreamModel: endpoint?.upstreamModel ?? "",
    region: endpoint?.region ?? "",
    status: ending.status,
    httpStatus: ending.httpStatus,
    errorCode: ending.error?.code ?? "",
    errorMessage: told.errorMessage,
    errorDetails: told.errorDetails,
    stopReason: ending.stopReason,
    usage: ending.metered.usage,
    usageSource: ending.metered.source,
    cost: ending.metered.cost,
    charged: call.reservation?.holds !== undefined,
    ttftMs: firstByteMs(call, ending, nowMs),
    upstreamTtftMs: call.upstreamTtftMs,
    durationMs: Math.round(durationMs),
    gwOverheadMs: overheadOf(call, durationMs),
    bytesIn: incoming.body.length,
    bytesOut: call.bytesOut,
    stream: facts?.stream ?? false,
    policy: decision?.policy?.name ?? "",
    policyVersion: decision?.policy?.version ?? 0,
    rule: decision?.rule ?? "",
    canary: call.plan?.canary ?? "",
    experiment: arm === "" ? "" : (decision?.experiment?.name ?? ""),
    arm,
    maxTokens: facts?.maxTokens ?? 0,
    parallelTools: facts?.parallelTools ?? false,
    hasAudio: facts?.hasAudio ?? false,
    routeOptions: request === undefined ? "" : routeText(request.svc.route),
    sessionHash: call.names.session,
    byok: call.lane?.key.isByok ?? false,
    zdr,
    toolCalls: ending.toolCalls,
    hasImages: facts?.hasImages ?? false,
    hasTools: facts?.hasTools ?? false,
    hasSchema: facts?.hasSchema ?? false,
    appId: call.app,
    userHash: call.names.user,
    tags: request?.svc.tags ?? NO_TAGS,
    userAgent: incoming.userAgent.slice(0, 256),
    clientIpPrefix: incoming.clientIpPrefix,
    routeTrace: call.plan?.trace() ?? "",
    warnings: call.warnings,
    attempts: keepsText(call, zdr) ? call.attempts : call.attempts.map(withoutText),
    payloadState,
    redact: payload.redact,
    request: payload.request,
    response: payload.response,
    retentionDays: key.dataPolicy.retentionDays,
  };
}

const NO_TAGS = {};

/**
 * Time from arrival to the first byte for the client; 0 if none was sent. All bytes of a whole answer are sent at once, now.
 */
function firstByteMs({ firstSentMs, incoming, request }: Call, { status }: Ending, nowMs: number): number {
  const isWhole = request?.facts.stream !== true && status === "ok";
  const sentMs = isWhole ? nowMs : firstSentMs;
  return sentMs === 0 ? 0 : Math.max(1, Math.round(sentMs - incoming.startMs));
}

/** Whether the org lets texts of its calls be kept. */
export const keepsText = (call: Call, zdr: boolean): boolean => !zdr && call.key.dataPolicy.logging === "on";

/** Milliseconds without those that it waited for upstreams, credit and media. */
const overheadOf = ({ upstreamMs, waitedMs, fetchMs }: Call, durationMs: number): number =>
  Math.max(0, Math.round((durationMs - upstreamMs - waitedMs - fetchMs) * 100) / 100);

/** An upstream's message may quote the prompt. */
const withoutText = (attempt: AttemptRecord): AttemptRecord => ({ ...attempt, upstreamMessage: "" });

/** The payload's state. A body above the size limit is not stored at all: half a JSON body is of no use. */
function payloadStateOf(deps: RecordDeps, call: Call, zdr: boolean, ending: Ending): PayloadState {
  if (zdr) return "zdr";
  if (!keepsText(call, zdr) || ending.status === "rejected") return "off";
  if (ending.isPayloadLeftOut) return "off";
  const bytes = Math.max(call.incoming.body.length, ending.response?.length ?? 0);
  return bytes > deps.maxPayloadBytes ? "off" : "available";
}

/**
 * The payload with its redaction rules. Most payloads have nothing to redact: a check here spares them a worker. The members
 * are copied one by one: with a spread, V8 would give each record a shape of its own.
 */
function payloadOf(
  { incoming, key, attempts }: Call,
  state: PayloadState,
  { response, error }: Ending,
): Payload {
  const { redact } = key.dataPolicy;
  if (state !== "available") return { redact, request: undefined, response: undefined };
  const { body } = incoming;
  const isChecked =
    error === undefined &&
    !attempts.some(hasMessage) &&
    body.length + (response?.length ?? 0) <= MAX_CHECKED_BYTES;
  return {
    redact: isChecked && isClean(redact, body, response) ? NOTHING_TO_REDACT : redact,
    request: body,
    response,
  };
}

const hasMessage = ({ upstreamMessage }: AttemptRecord): boolean => upstreamMessage !== "";

type Payload = Required<Pick<CallRecord, "redact" | "request" | "response">>;

function isClean(redact: Redaction, request: Uint8Array, response: Uint8Array | undefined): boolean {
  try {
    const { clean } = redactor(redact);
    return clean(request) && (response === undefined || clean(response));
  } catch {
    // A rule does not compile: the worker then stores no payload.
    return false;
  }
}

/** Larger payloads are checked in a worker: this much takes the event loop less than 100 us. */
const MAX_CHECKED_BYTES = 256 * 1024;
const NOTHING_TO_REDACT: Redaction = Object.freeze({ presets: [], patterns: [] });

/** Most requests have no route options. */
const routeText = (route: RouteOptions): string =>
  Object.keys(route).length === 0 ? "" : JSON.stringify(route);
