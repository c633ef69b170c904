/** Deliveries as the API shows them: in lists in short, one alone with all that was sent and answered. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { EVENT_NAMES } from "../../store/events/types.ts";
import {
  DELIVERY_STATUSES,
  type DeliveryRow,
  deliveryHeaders,
  everyHeaders,
  shownText,
  triesOf,
} from "./delivery.ts";

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

export const deliveryDetailShape = deliveryShape.extend({
  url: z.string().describe("Where it is sent: the webhook's URL as it is now."),
  event_kept: z
    .boolean()
    .describe("False: the event is older than 30 days; what was sent is not known any more."),
  body: z
    .string()
    .optional()
    .describe(
      "What is sent, byte for byte: the whole JSON text that is signed. Absent where the event is gone.",
    ),
  headers: z
    .record(z.string(), z.string())
    .describe(
      "What the last try was sent with, `webhook-signature` too; before the first one, what is the same in each try.",
    ),
  response_headers: z
    .record(z.string(), z.string())
    .describe(
      "Header of the answer to the last try: 32 names at most, 256 characters of a value, no cookies; empty where there was none or it came from an address that is not public.",
    ),
  attempts: z
    .array(
      z.object({
        attempt: z.int().describe("Its number, from 1."),
        attempted_at: field.time("When it was made"),
        http_status: z.int().describe("What the receiver answered; 0: nothing."),
        duration_ms: z
          .int()
          .describe(
            "How long it took, milliseconds; 0 where no valid answer came from an address that is not public.",
          ),
        error: z.string().describe("Why there is no good answer; empty if there is one."),
      }),
    )
    .describe("The tries, oldest first; the newest 24 of more."),
});

/** @param request as for {@link deliveryWire} @param url where the delivery's webhook is */
export function deliveryDetail(
  row: DeliveryRow,
  request: Uint8Array | undefined,
  url: string,
): z.input<typeof deliveryDetailShape> {
  const tries = triesOf(row);
  return {
    ...deliveryWire(row, request),
    url,
    event_kept: request !== undefined,
    ...(request !== undefined && { body: new TextDecoder().decode(request) }),
    headers: {
      ...(row.triedAtMs > 0 ? deliveryHeaders(row.eventId, row.triedAtMs) : everyHeaders(row.eventId)),
      ...(row.signature !== undefined && { "webhook-signature": row.signature }),
    },
    response_headers: row.responseHeaders ?? {},
    attempts: tries.map(({ atMs, httpStatus, durationMs, error }, at) => ({
      attempt: row.attempt - tries.length + at + 1,
      attempted_at: isoTime(atMs),
      http_status: httpStatus,
      duration_ms: durationMs,
      error,
    })),
  };
}
