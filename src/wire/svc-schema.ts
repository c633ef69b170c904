/** Our own extension of every format: the `svc` member of requests, strict because it is ours, and that of answers. */
import { z } from "zod";
import { HOLD_MODES } from "../base/call/hold-mode.ts";
import * as field from "../base/operation/fields.ts";
import { dataPolicySchema, routeSchema } from "../base/route-schema.ts";
import * as call from "./call-fields.ts";
import { MAX_TAGS } from "./neutral/request-bounds.ts";

/** The longest that a call may wait for what other calls hold, in milliseconds. */
const MAX_HOLD_WAIT_MS = 120_000;

export const svcSchema = z
  .strictObject({
    route: routeSchema.optional().describe("Which endpoints may be asked, and in which order."),
    data_policy: dataPolicySchema.optional(),
    metadata: z
      .strictObject({
        app: z.string().max(128).optional().describe("The app that calls, as analytics show it."),
        user_id: z.string().max(256).optional().describe("Your name for the end user; only its hash is kept"),
        session_id: z
          .string()
          .max(256)
          .optional()
          .describe("Your name for the conversation; its calls may stay at one endpoint."),
        tags: z
          .record(z.string().max(64), z.string().max(256))
          .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `at most ${MAX_TAGS} tags`)
          .optional()
          .describe("Words of yours to group and find calls by.")
          .meta({ maxProperties: MAX_TAGS }),
      })
      .optional()
      .describe("What you want to find the call by. It is not sent to providers of other formats."),
    compat: z
      .strictObject({
        strict: z.boolean().optional().describe("What cannot be kept is refused, not dropped with a warning"),
      })
      .optional()
      .describe("How much may be lost in translation."),
    provider_options: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("Passed on to a provider, by its id."),
    on_disconnect: field.onDisconnect
      .optional()
      .describe(`${field.onDisconnect.description} Default: as the routing policy says, else the key.`),
    hold: z
      .enum(HOLD_MODES)
      .optional()
      .describe(
        "What is done where credit and budgets do not cover the longest answer: `full` refuses the call, `fit` lowers its output limit to what they cover, with the warning `hold_fitted: N`. Default: as the key, its project or its org is set, else `full`.",
      ),
    hold_wait_ms: z
      .int()
      .min(0)
      .max(MAX_HOLD_WAIT_MS)
      .optional()
      .describe(
        "So long a stream that does not fit only because of what other calls hold waits for its turn, with keep-alive comments; then it ends with the error event `insufficient_credits`. To 120,000; not for whole answers.",
      ),
  })
  .describe("Options of this gateway; never sent to a provider.");

/** Their names in the native formats, which have them at the top of the body. */
export const NATIVE_OPTIONS: readonly string[] = Object.keys(svcSchema.shape);

export type SvcBody = z.output<typeof svcSchema>;

export const svcReplySchema = z
  .looseObject({
    request_id: field.requestId,
    provider: field.providerId,
    endpoint_id: field.endpointId,
    cost: call.cost,
    warnings: field.warnings,
  })
  .describe("What this gateway adds: facts of the call.");
