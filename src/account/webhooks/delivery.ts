/**
 * Deliveries: one event for one endpoint, with its tries. `pending` becomes `delivered` or `failed`, once; what is sent again
 * later is a delivery of its own. The row holds what happened; what was sent is the event, which its own row holds.
 */
import { newId } from "../../base/ids.ts";
import type { EventName } from "../../store/events/types.ts";
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
  /** The header `webhook-signature` of the last try. Absent before the first one, and in rows of earlier releases. */
  readonly signature?: string;
  /** Header of the last try's answer, bounded; absent as `response` is empty. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** The newest tries, oldest first; absent before the first one, and in earlier rows. */
  readonly tries?: readonly Try[];
}

export type Try = Pick<DeliveryRow, "httpStatus" | "durationMs" | "error"> & { readonly atMs: number };

/** Tries of a delivery that are kept: more than the schedule makes by itself. */
const MOST_TRIES = 24;

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
export interface Attempt
  extends Try,
    Pick<DeliveryRow, "response">,
    Partial<Pick<DeliveryRow, "signature" | "responseHeaders">> {}

// -- The moves of a pending delivery; each returns the row that is put. --

function tried(
  { signature: _, responseHeaders: __, ...row }: DeliveryRow,
  { atMs, ...attempt }: Attempt,
): DeliveryRow {
  const { httpStatus, durationMs, error } = attempt;
  return {
    ...row,
    ...attempt,
    attempt: row.attempt + 1,
    isAsked: false,
    triedAtMs: atMs,
    tries: [...triesOf(row), { atMs, httpStatus, durationMs, error }].slice(-MOST_TRIES),
  };
}

/** The newest tries, oldest first. Rows that were written without them tell of the last one. */
export const triesOf = ({ tries, triedAtMs, httpStatus, durationMs, error }: DeliveryRow): readonly Try[] =>
  tries ?? (triedAtMs > 0 ? [{ atMs: triedAtMs, httpStatus, durationMs, error }] : []);

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

/** Fields of an answer's header that are kept, and characters of each name and value. */
const SHOWN_FIELDS = 32;
const SHOWN_NAME = 64;
const SHOWN_VALUE = 256;

/**
 * An answer's header as it is kept: names in lower case, each once, values cut. Cookies are left out, since they may open the
 * receiver. @param fields alternating names and values
 */
export function shownFields(fields: readonly string[]): Record<string, string> {
  const shown = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] ?? "").toLowerCase().slice(0, SHOWN_NAME);
    const before = shown.get(name);
    if (name === "set-cookie" || (before === undefined && shown.size === SHOWN_FIELDS)) continue;
    const value = before === undefined ? fields[at + 1] : `${before}, ${fields[at + 1]}`;
    shown.set(name, (value ?? "").slice(0, SHOWN_VALUE));
  }
  return Object.fromEntries(shown);
}

/** Unix seconds of the header `webhook-timestamp`. */
export const timestampOf = (atMs: number): number => Math.floor(atMs / 1000);

/** Headers of a try, without those that say who sends and that it may be trusted. */
export const deliveryHeaders = (eventId: string, atMs: number) => ({
  ...everyHeaders(eventId),
  "webhook-timestamp": String(timestampOf(atMs)),
});

/** Those that are the same in each try. */
export const everyHeaders = (eventId: string) => ({
  "content-type": "application/json",
  "webhook-id": eventId,
});
