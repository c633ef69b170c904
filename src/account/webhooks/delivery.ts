/**
 * Deliveries: one event for one endpoint, with its tries. `pending` becomes `delivered` or `failed`, once; what is sent again
 * later is a delivery of its own. The row holds what happened; what was sent is the event, which its own row holds.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import * as field from "../../base/operation/fields.ts";
import { EVENT_NAMES, type EventName } from "../../store/events/types.ts";
import { TRIED_MS } from "./schedule.ts";

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;

export interface DeliveryRow {
  readonly id: string;
  readonly endpointId: string;
  readonly orgId: string;
  readonly eventId: string;
  readonly type: EventName;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  /** Tries that were made. */
  readonly attempt: number;
  /** Waits so far: after tries, and while the endpoint was left alone. */
  readonly waits: number;
  /** Somebody asked for it: its next try is made whatever became of other deliveries. */
  readonly isAsked: boolean;
  readonly createdAtMs: number;
  /** When it is due; of one that ended, 0. */
  readonly nextAtMs: number;
  /** When the last try was made; 0: none was. */
  readonly triedAtMs: number;
  /** Status and duration of the last try; the status is 0 without an answer. */
  readonly httpStatus: number;
  readonly durationMs: number;
  /** The first 2 KB of the last try's answer, as text; empty where it came from an address that is not public. */
  readonly response: string;
  /** Why there is no good answer; empty if there is one. */
  readonly error: string;
}

export const newDelivery = (
  given: Pick<DeliveryRow, "endpointId" | "orgId" | "eventId" | "type" | "isAsked">,
  nowMs: number,
): DeliveryRow => ({
  ...given,
  id: newId("dlv", nowMs),
  status: "pending",
  attempt: 0,
  waits: 0,
  createdAtMs: nowMs,
  nextAtMs: nowMs,
  triedAtMs: 0,
  httpStatus: 0,
  durationMs: 0,
  response: "",
  error: "",
});

/** What a try found. */
export interface Attempt extends Pick<DeliveryRow, "httpStatus" | "durationMs" | "response" | "error"> {
  readonly atMs: number;
}

// -- The moves of a pending delivery; each returns the row that is put. --

const tried = (row: DeliveryRow, { atMs, ...attempt }: Attempt): DeliveryRow => ({
  ...row,
  ...attempt,
  attempt: row.attempt + 1,
  isAsked: false,
  triedAtMs: atMs,
});

export const ended = (
  row: DeliveryRow,
  attempt: Attempt,
  status: Exclude<DeliveryRow["status"], "pending">,
): DeliveryRow => ({ ...tried(row, attempt), status, nextAtMs: 0 });

export const triedAgainAt = (row: DeliveryRow, attempt: Attempt, nextAtMs: number): DeliveryRow =>
  postponed(tried(row, attempt), nextAtMs);

/** Its next try is later, whether or not one was made now. */
export const postponed = (row: DeliveryRow, nextAtMs: number): DeliveryRow => ({
  ...row,
  waits: row.waits + 1,
  nextAtMs,
});

/** Ends it without another try. */
export const givenUp = (row: DeliveryRow, why: string): DeliveryRow => ({
  ...row,
  status: "failed",
  nextAtMs: 0,
  error: row.error === "" ? why : `${why} The last try: ${row.error}`,
});

/** Whether there is a try after one that failed. A test is tried once: whoever asked for it is looking. */
export const isTriedAgain = ({ createdAtMs, type }: DeliveryRow, nowMs: number): boolean =>
  type !== "webhook.test" && nowMs < deadlineMs({ createdAtMs });

export const deadlineMs = ({ createdAtMs }: Pick<DeliveryRow, "createdAtMs">): number =>
  createdAtMs + TRIED_MS;

/** Bytes of a request and of an answer that are shown. */
const SHOWN_BYTES = 2048;

/** The first 2 KB as text; a character that the end cuts in two is left out. */
export const shownText = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES), { stream: bytes.length > SHOWN_BYTES });

export const deliveryShape = z.object({
  id: z.string().describe("The delivery's id."),
  event_id: z.string().describe("The event that is sent; the same as `webhook-id`."),
  type: z.enum(EVENT_NAMES).describe("The event's type."),
  attempt: z.int().describe("Tries so far."),
  status: z.enum(DELIVERY_STATUSES).describe("`pending`, `delivered` or `failed`."),
  http_status: z.int().describe("What the receiver answered to the last try; 0: nothing."),
  duration_ms: z
    .int()
    .describe(
      "How long the last try took, milliseconds; 0 where no valid answer came from an address that is not public.",
    ),
  response: z
    .string()
    .describe(
      "The answer to the last try: its first 2 KB, as text; empty where it came from an address that is not public.",
    ),
  error: z.string().describe("Why there is no good answer; empty if there is one."),
  request: z.string().optional().describe("What is sent: its first 2 KB."),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe("What the last try was sent with, without the signature."),
  created_at: field.createdAt,
  attempted_at: field.time("When the last try was made").optional(),
  next_at: field.time("When it is tried next", "Absent: never").optional(),
});

/** @param request the body as it is sent; undefined where the event is no longer kept */
export const deliveryWire = (
  row: DeliveryRow,
  request: Uint8Array | undefined,
): z.input<typeof deliveryShape> => ({
  id: row.id,
  event_id: row.eventId,
  type: row.type,
  attempt: row.attempt,
  status: row.status,
  http_status: row.httpStatus,
  duration_ms: row.durationMs,
  response: row.response,
  error: row.error,
  ...(request !== undefined && { request: shownText(request) }),
  ...(row.triedAtMs > 0 && { headers: deliveryHeaders(row.eventId, row.triedAtMs) }),
  created_at: isoTime(row.createdAtMs),
  ...(row.triedAtMs > 0 && { attempted_at: isoTime(row.triedAtMs) }),
  ...(row.nextAtMs > 0 && { next_at: isoTime(row.nextAtMs) }),
});

/** Unix seconds of the header `webhook-timestamp`. */
export const timestampOf = (atMs: number): number => Math.floor(atMs / 1000);

/** Headers of a try, without those that say who sends and that it may be trusted. */
export const deliveryHeaders = (eventId: string, atMs: number) => ({
  "content-type": "application/json",
  "webhook-id": eventId,
  "webhook-timestamp": String(timestampOf(atMs)),
});
