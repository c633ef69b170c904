/**
 * Endpoints: URLs that an org wants its events sent to. The stored row holds the secrets that sign sealed by the vault; the
 * wire shape has none.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { EVENT_NAMES, type EventName } from "../../store/events/types.ts";

/**
 * `manual`: somebody of the org did it. `gone`: the receiver answered 410. `failing`: nothing but failures for five days.
 */
const DISABLED_REASONS = ["manual", "gone", "failing"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export interface SealedSecret {
  /** The text `whsec_…`, sealed for the endpoint's org and id. */
  readonly sealed: Uint8Array;
  /** It signs until then; null: the newest one, which signs until it is rotated. */
  readonly untilMs: number | null;
}

export interface EndpointRow {
  readonly id: string;
  readonly orgId: string;
  readonly url: string;
  /** Empty: all types. */
  readonly events: readonly EventName[];
  readonly description: string;
  readonly status: "active" | "disabled";
  /** Why it is disabled; null while it is active. */
  readonly disabledReason: DisabledReason | null;
  /** The newest first; two at most. */
  readonly secrets: readonly SealedSecret[];
  readonly createdAtMs: number;
}

/** What changes with deliveries, beside the endpoint, whose row changes by requests. */
export interface EndpointState {
  /** Deliveries that wait. */
  readonly waiting: number;
  /** Times of the endpoint's first and newest failure since its last success. 0: it does not fail. */
  readonly failingSinceMs: number;
  readonly failedAtMs: number;
  /** When a delivery was last taken; absent before the first, and in earlier rows. */
  readonly deliveredAtMs?: number;
}

/** Types that an endpoint may choose; a test is sent to any endpoint that is tested. */
export const chosenTypes = z
  .array(z.enum(EVENT_NAMES).exclude(["webhook.test"]))
  .max(EVENT_NAMES.length)
  .transform((types) => [...new Set(types)]);

export const endpointShape = z.object({
  id: z.string().describe("The webhook's id."),
  org_id: field.orgId,
  url: z.string().describe("Where events are posted to."),
  events: z.array(z.enum(EVENT_NAMES)).describe("Types of events that are sent; none: all."),
  description: z.string().describe("Your words about it."),
  status: z.enum(["active", "disabled"]).describe("`active` or `disabled`."),
  disabled_reason: z
    .enum(DISABLED_REASONS)
    .optional()
    .describe(
      "`manual`: by somebody of the org; `gone`: the receiver answered 410; `failing`: nothing but failures for five days.",
    ),
  previous_secret_until: field.time("Until then the secret before signs too").optional(),
  created_at: field.createdAt,
});

/** An endpoint with how its deliveries go. */
export const endpointStateShape = endpointShape.extend({
  waiting: z.int().describe("Deliveries that wait: for their turn, or to be tried again."),
  last_delivered_at: field.time("When the receiver last took a delivery", "Absent: never yet").optional(),
  failing_since: field
    .time("Time of the first failure since the last success", "Absent while it does not fail")
    .optional(),
});

/** The answer to creation and rotation alone shows the secret. */
export const endpointWithSecretShape = endpointShape.extend({
  secret: z.string().describe("Signs what is sent: `whsec_` and base64 of 32 bytes. It is shown this once."),
});

export function endpointWire(row: EndpointRow, nowMs: number): z.input<typeof endpointShape> {
  const untilMs = row.secrets[1]?.untilMs ?? 0;
  return {
    id: row.id,
    org_id: row.orgId,
    url: row.url,
    events: [...row.events],
    description: row.description,
    status: row.status,
    ...(row.disabledReason !== null && { disabled_reason: row.disabledReason }),
    ...(untilMs > nowMs && { previous_secret_until: isoTime(untilMs) }),
    created_at: isoTime(row.createdAtMs),
  };
}

export const endpointStateWire = (
  row: EndpointRow,
  { waiting, deliveredAtMs = 0, failingSinceMs }: EndpointState,
  nowMs: number,
): z.input<typeof endpointStateShape> => ({
  ...endpointWire(row, nowMs),
  waiting,
  ...(deliveredAtMs > 0 && { last_delivered_at: isoTime(deliveredAtMs) }),
  ...(failingSinceMs > 0 && { failing_since: isoTime(failingSinceMs) }),
});

/** Whether an event of this type is sent to the endpoint. */
export const wantsType = ({ status, events }: EndpointRow, type: EventName): boolean =>
  status === "active" && (events.length === 0 || events.includes(type));
