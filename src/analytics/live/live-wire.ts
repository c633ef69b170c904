/** The events of `GET /v1/live` and the shapes of their data. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { requestSchema } from "../requests/wire.ts";
import type { CreditNow } from "./credit-now.ts";
import { orgEventSchema } from "./org-events.ts";
import type { RunningCall } from "./running-call.ts";

/** What a stream may be of. */
export const KINDS = ["calls", "credit", "events"] as const;
export type Kind = (typeof KINDS)[number];

const count = z.int().min(0);

const startedSchema = z.object({
  request_id: field.requestId,
  project_id: field.projectId,
  key_id: field.keyId,
  app_id: z.string().describe("The app that calls; empty where the call names none."),
  model: field.modelId,
  provider: z.string().describe("Who is asked first; empty where that is not known yet."),
  endpoint_id: z.string().describe("Which endpoint is asked first; empty where that is not known yet."),
  stream: z.boolean().describe("The answer comes as server-sent events."),
  detached: z
    .boolean()
    .describe("It goes on without its client; `GET /v1/generation/{id}/stream` has what it says."),
  started_at: field.time("When the call arrived"),
});

const ttftMs = z.number().min(0).describe("From arrival to the first content for the client, milliseconds.");

const firstTokenSchema = z.object({
  request_id: field.requestId,
  provider: field.providerId,
  endpoint_id: field.endpointId,
  ttft_ms: ttftMs,
});

const helloSchema = z.object({
  position: z.string().describe("Where the stream begins: the value for `after`, like the `id` of events."),
  kinds: z
    .array(z.enum(KINDS))
    .describe("What is sent: of what was asked for, or of all, what the caller may see."),
  at: field.time("When the stream began"),
});

const runningSchema = z.object({
  count: count.describe("Calls that run and pass the filters, at all cells that answered within a second."),
  calls: z
    .array(
      startedSchema.extend({
        ttft_ms: z
          .number()
          .min(0)
          .describe("From arrival to the first content for the client, milliseconds; 0: none was sent yet."),
      }),
    )
    .describe("The newest of them, 500 at most, oldest first."),
});

const creditSchema = z.object({
  balance_micro_usd: z.int().describe("The org's credit, with what is held of it."),
  held_micro_usd: z.int().describe("Held for calls under way."),
  available_micro_usd: z.int().describe("What can be spent now: the balance less what is held."),
  spent_today_micro_usd: z.int().describe("Charged since the day began in the org's time zone."),
  spent_month_micro_usd: z.int().describe("Charged since the month began in the org's time zone."),
  granted_micro_usd: z.int().describe("The sum of all credit granted without payment."),
  display: z
    .object({ currency: field.currency, amount: z.string().describe("Decimal number, rounded down.") })
    .describe("What is available in the org's currency, by `fx_rate`, as in `GET /v1/credits`."),
  currency: field.currency,
  fx_rate: z.string().describe("INR for 1 USD of credit, the spread included; 1 in USD."),
  mid_rate: z.string().describe("The rate of the day without the spread; 1 in USD."),
  spread_bps: z.int().describe("The spread, basis points on top of `mid_rate`; 0 in USD."),
  fx_day: z.string().describe("Day of the rate; empty in USD."),
  at: field.time("When this was so"),
});

const gapSchema = z.object({
  missed: count
    .nullable()
    .describe(
      "How many events were left out; null where that is not known, or the position to begin after is not.",
    ),
  started: count.describe("Of these, `call.started` and `call.first_token`."),
  ended: count.describe("Of these, `call.ended`."),
  events: count.describe("Of these, `event`."),
});

/** Data of each event, by its name. */
export const LIVE_EVENTS = {
  hello: helloSchema,
  running: runningSchema,
  "call.started": startedSchema,
  "call.first_token": firstTokenSchema,
  "call.ended": requestSchema,
  credit: creditSchema,
  event: orgEventSchema,
  gap: gapSchema,
} as const;

export type Hello = z.input<typeof helloSchema>;
export type Running = z.input<typeof runningSchema>;
export type GapWire = z.input<typeof gapSchema>;

export const startedWire = (call: RunningCall): z.input<typeof startedSchema> => ({
  request_id: call.requestId,
  project_id: call.projectId,
  key_id: call.keyId,
  app_id: call.appId,
  model: call.model,
  provider: call.provider,
  endpoint_id: call.endpointId,
  stream: call.isStream,
  detached: call.isDetached,
  started_at: isoTime(call.startedAtMs),
});

export const firstTokenWire = (call: RunningCall): z.input<typeof firstTokenSchema> => ({
  request_id: call.requestId,
  provider: call.provider,
  endpoint_id: call.endpointId,
  ttft_ms: call.ttftMs,
});

export const runningWire = (call: RunningCall): Running["calls"][number] => ({
  ...startedWire(call),
  ttft_ms: call.ttftMs,
});

export const creditWire = (credit: CreditNow, atMs: number): z.input<typeof creditSchema> => ({
  balance_micro_usd: credit.availableMicroUsd + credit.heldMicroUsd,
  held_micro_usd: credit.heldMicroUsd,
  available_micro_usd: credit.availableMicroUsd,
  spent_today_micro_usd: credit.todayMicroUsd,
  spent_month_micro_usd: credit.monthMicroUsd,
  granted_micro_usd: credit.grantedMicroUsd,
  display: { currency: credit.currency, amount: credit.displayAmount },
  currency: credit.currency,
  fx_rate: credit.fxRate,
  mid_rate: credit.midRate,
  spread_bps: credit.spreadBps,
  fx_day: credit.fxDay,
  at: isoTime(atMs),
});
