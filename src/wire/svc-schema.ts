/** Our own extension of every format: the `svc` member of requests, strict because it is ours, and that of answers. */
import { z } from "zod";
import { HOLD_MODES } from "../base/hold-mode.ts";
import { dataPolicySchema, routeSchema } from "../base/route-schema.ts";
import { MAX_TAGS } from "./neutral/request-bounds.ts";

/** The longest that a call may wait for what other calls hold, in milliseconds. */
const MAX_HOLD_WAIT_MS = 120_000;

export const svcSchema = z
  .strictObject({
    route: routeSchema.optional(),
    data_policy: dataPolicySchema.optional(),
    metadata: z
      .strictObject({
        app: z.string().max(128).optional(),
        user_id: z.string().max(256).optional(),
        session_id: z.string().max(256).optional(),
        tags: z
          .record(z.string().max(64), z.string().max(256))
          .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `at most ${MAX_TAGS} tags`)
          .optional()
          .meta({ maxProperties: MAX_TAGS }),
      })
      .optional(),
    compat: z.strictObject({ strict: z.boolean().optional() }).optional(),
    provider_options: z.record(z.string(), z.unknown()).optional(),
    on_disconnect: z.enum(["cancel", "drain"]).optional(),
    hold: z.enum(HOLD_MODES).optional(),
    hold_wait_ms: z.int().min(0).max(MAX_HOLD_WAIT_MS).optional(),
  })
  .describe("Options of this gateway; never sent to a provider.");

/** Their names in the native formats, which have them at the top of the body. */
export const NATIVE_OPTIONS: readonly string[] = Object.keys(svcSchema.shape);

export type SvcBody = z.output<typeof svcSchema>;

export const svcReplySchema = z.looseObject({
  request_id: z.string(),
  provider: z.string(),
  endpoint_id: z.string(),
  cost: z.looseObject({ total_micro_usd: z.int() }),
  warnings: z.array(z.string()),
});
