/**
 * One request by its id: `GET /v1/generation/{id}` and `GET /v1/requests/{id}`. A row that is not yet in ClickHouse is read
 * from the outbox, so a lookup right after the call finds it. Ids of other orgs are not found, nor are live calls for a test
 * key; `record-access.ts` decides whose payloads a key may read.
 */

import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { NO_REQUEST_ID, REQUEST_ID } from "../../base/ids.ts";
import { incompleteSince } from "../../base/operation/incomplete-since.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { DAY_MS } from "../../base/time.ts";
import type { CallRecord } from "../../record/record.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import type { Finisher } from "../outbox/finisher.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { bodyOf, candidatesOf } from "./answer.ts";
import type { OtherCells, OthersFlushed } from "./other-cells.ts";
import type { PlanOf } from "./plan-wire.ts";
import { mayReadPayload, maySeeRecord } from "./record-access.ts";
import { flag } from "./request-filters.ts";
import { type StoredPayload, storedPayload, storedRequest } from "./stored.ts";
import {
  type DetailPayload,
  generationSchema,
  generationWire,
  requestDetailSchema,
  requestDetailWire,
} from "./wire.ts";

/**
 * Converts a request's body to canonical form; undefined if it cannot be read as a body of this format.
 * @param dialectIn the client's format, as in the record
 */
export type Canonical = (
  dialectIn: string,
  body: Uint8Array,
) => Promise<Readonly<Record<string, unknown>> | undefined>;

export interface LookupDeps {
  readonly outbox: Outbox;
  readonly clickhouse: ClickHouse;
  /** Undefined: the gateway is alone. */
  readonly others?: OtherCells | undefined;
  readonly finisher: Finisher;
  readonly canonical: Canonical;
  readonly planOf: PlanOf;
  readonly clock: Clock;
  /** Days for which an org keeps payloads now. */
  readonly retentionDays: (orgId: string) => number;
}

/** A busy ClickHouse takes its time to insert a record: a late answer is better than none. */
const FLUSH_MS = 5000;
/** After it a record that did not come in time may well be there. */
const RETRY_MS = 1000;

const EXPIRED = { payloadState: "expired" } as const;

const idPath = z.object({
  id: z.string().regex(REQUEST_ID, NO_REQUEST_ID).describe("Request id of the call."),
});

interface FoundRecord {
  readonly record: CallRecord;
  /** It is not in ClickHouse yet. */
  readonly pending: boolean;
}

/**
 * The record of a call.
 * @throws WeirError 404 where the reader may not see it, with `incomplete_since` where a cell that is gone may have it;
 *   `analytics_unavailable` also where a cell that runs may have it and did not answer
 */
export async function callRecord(
  { outbox, clickhouse, others }: Pick<LookupDeps, "outbox" | "clickhouse" | "others">,
  reader: Caller,
  requestId: string,
): Promise<FoundRecord> {
  const recent = outbox.recent(requestId);
  const stored = () => storedRequest(clickhouse, reader.orgId, requestId);
  let record = recent ?? (await stored());
  // The cell that served it may not have inserted it yet.
  if (record === undefined && others !== undefined) {
    const flushed = await others.flush(FLUSH_MS);
    record = await stored();
    if (record === undefined) throw notAtOthers(requestId, flushed);
  }
  if (record !== undefined && maySeeRecord(reader, record)) return { record, pending: recent !== undefined };
  throw fail("not_found", `No request ${requestId}.`);
}

/** What is said of a request that is in no outbox of this cell, and not in ClickHouse after the others were asked. */
function notAtOthers(requestId: string, { isDone, missingSinceMs }: OthersFlushed): WeirError {
  if (!isDone)
    return fail(
      "analytics_unavailable",
      "Another gateway may have this request, and did not answer in time.",
      { retryAfterMs: RETRY_MS },
    );
  if (missingSinceMs === undefined) return fail("not_found", `No request ${requestId}.`);
  const reason = "Calls that ended lately at a gateway which is gone may be missing.";
  return fail("not_found", `No request ${requestId}. ${reason}`, {
    details: incompleteSince(missingSinceMs),
  });
}

export function lookupOperations(deps: LookupDeps) {
  const { clickhouse, clock } = deps;

  const getGeneration = operation({
    summary: "What one call used, cost and took",
    method: "GET",
    path: "/v1/generation/{id}",
    access: "read:usage / viewer",
    group: "Usage",
    params: idPath,
    output: generationSchema,
    errors: ["not_found", "analytics_unavailable"],
    async run({ params }, caller) {
      const found = await callRecord(deps, caller, params.id);
      return generationWire(await withToldError(deps.finisher, found), mayReadTexts(found.record, caller));
    },
  });

  const getRequest = operation({
    summary: "One request in full: attempts, route, payload",
    method: "GET",
    path: "/v1/requests/{id}",
    access: "read:usage / viewer",
    group: "Usage",
    params: idPath,
    query: z.object({
      raw: flag.optional().describe("`true` or `1`: also `request_raw`, the client's own body."),
    }),
    output: requestDetailSchema,
    errors: ["not_found", "analytics_unavailable"],
    async run({ params, query }, caller) {
      const found = await callRecord(deps, caller, params.id);
      const shown = await payloadOf(found, caller, query?.raw ?? false);
      const beside = { planOf: deps.planOf, mayReadTexts: mayReadTexts(found.record, caller), ...shown };
      return requestDetailWire(await withToldError(deps.finisher, found), beside);
    },
  });

  /** The org keeps texts of calls for as long as it does now. */
  const isOver = ({ tsMs, orgId }: CallRecord): boolean =>
    tsMs <= clock.now() - deps.retentionDays(orgId) * DAY_MS;

  /** Whether the caller may see what of an error may quote the request: as its payload. */
  const mayReadTexts = (record: CallRecord, caller: Caller): boolean =>
    !isOver(record) && mayReadPayload(caller, record);

  /** The payload as far as the caller may see it, or why there is none. */
  async function payloadOf({ record, pending }: FoundRecord, caller: Caller, raw: boolean) {
    const { payloadState } = record;
    if (payloadState !== "available") return { payloadState };
    if (isOver(record)) return EXPIRED;
    if (!mayReadPayload(caller, record)) return { payloadState: "restricted" as const };
    const payload = pending
      ? await redactedPayload(deps.finisher, record)
      : await storedPayload(clickhouse, record, clock.now());
    if (payload !== undefined) return { payloadState, payload: await payloadDetail(record, payload, raw) };
    // The payload was stored and has expired. (A payload that could not be redacted was never stored.)
    return pending ? { payloadState: "off" as const } : EXPIRED;
  }

  /** Makes both forms of the request from the stored payload, so that both are redacted. */
  async function payloadDetail(
    { dialectIn }: CallRecord,
    { request, response }: StoredPayload,
    raw: boolean,
  ): Promise<DetailPayload> {
    const canonical = await deps.canonical(dialectIn, Buffer.from(request));
    return { request: canonical, candidates: candidatesOf(response), ...(raw && { raw: bodyOf(request) }) };
  }

  return { getGeneration, getRequest };
}

/** The record with what it tells of its error as that will be stored: redacted, or without it where it cannot be redacted. */
async function withToldError(finisher: Finisher, { record, pending }: FoundRecord): Promise<CallRecord> {
  const { redact, errorMessage, errorDetails } = record;
  const hasRules = redact.presets.length + redact.patterns.length > 0;
  if (!pending || !hasRules || errorDetails === "") return record;
  const parts = [errorMessage, errorDetails].map((text) => Buffer.from(text));
  const redacted = await finisher.redactPayload(redact, parts).catch(() => []);
  const [message = "", details = ""] = redacted.map(textOf);
  return { ...record, errorMessage: message, errorDetails: details };
}

/** Redacts a payload that is still in the outbox, as it will be stored; undefined if it cannot be redacted. */
async function redactedPayload(finisher: Finisher, record: CallRecord): Promise<StoredPayload | undefined> {
  const empty = new Uint8Array(0);
  try {
    const parts = [record.request ?? empty, record.response ?? empty];
    const [request = empty, response = empty] = await finisher.redactPayload(record.redact, parts);
    return { request: textOf(request), response: textOf(response) };
  } catch {
    return undefined;
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
