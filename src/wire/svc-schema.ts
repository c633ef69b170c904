/** Our own extension of every format: the `svc` member of requests, strict because it is ours, and that of answers. */
import { z } from "zod";
import { AFFINITIES, MAX_ATTEMPTS, SORTS } from "../route.ts";

const providers = z.array(z.string().min(1)).max(64);
const price = z.number().nonnegative();
const regions = z.array(z.string().min(1)).max(64);

export const svcSchema = z
  .strictObject({
    route: z
      .strictObject({
        providers: z
          .strictObject({
            order: providers.optional(),
            only: providers.optional(),
            ignore: providers.optional(),
          })
          .optional(),
        fallbacks: z.boolean().optional(),
        sort: z.enum(SORTS).optional(),
        require: z
          .strictObject({
            zdr: z.boolean().optional(),
            no_train: z.boolean().optional(),
            regions: regions.optional(),
            max_price: z.strictObject({ input: price.optional(), output: price.optional() }).optional(),
          })
          .optional(),
        max_attempts: z.int().min(1).max(MAX_ATTEMPTS).optional(),
        timeout_ms: z.int().min(1).max(86_400_000).optional(),
        affinity: z.enum(AFFINITIES).optional(),
      })
      .optional(),
    metadata: z
      .strictObject({
        app: z.string().max(128).optional(),
        user_id: z.string().max(256).optional(),
        session_id: z.string().max(256).optional(),
        tags: z.record(z.string().max(64), z.string().max(256)).optional(),
      })
      .optional(),
    compat: z.strictObject({ strict: z.boolean().optional() }).optional(),
    provider_options: z.record(z.string(), z.unknown()).optional(),
    on_disconnect: z.enum(["cancel", "drain"]).optional(),
  })
  .describe("Options of this gateway; never sent to a provider.");

export type SvcBody = z.output<typeof svcSchema>;

export const svcReplySchema = z.looseObject({
  request_id: z.string(),
  provider: z.string(),
  endpoint_id: z.string(),
  cost: z.looseObject({ total_micro_usd: z.int() }),
  warnings: z.array(z.string()),
});
