/** `svc.route` as people write it: in requests of every format, and in dry runs. */
import { z } from "zod";
import { AFFINITIES, MAX_ATTEMPTS, type RouteOptions, SORTS } from "./route.ts";

const names = z.array(z.string().min(1)).max(64);
const price = z.number().nonnegative();

export const routeSchema = z.strictObject({
  providers: z
    .strictObject({ order: names.optional(), only: names.optional(), ignore: names.optional() })
    .optional(),
  fallbacks: z.boolean().optional(),
  sort: z.enum(SORTS).optional(),
  require: z
    .strictObject({
      zdr: z.boolean().optional(),
      no_train: z.boolean().optional(),
      regions: names.optional(),
      max_price: z.strictObject({ input: price.optional(), output: price.optional() }).optional(),
    })
    .optional(),
  max_attempts: z.int().min(1).max(MAX_ATTEMPTS).optional(),
  timeout_ms: z.int().min(1).max(86_400_000).optional(),
  affinity: z.enum(AFFINITIES).optional(),
});

/** As the planner reads it. Absent stays absent: the schema makes no undefined members. */
export function routeOptions(body: z.output<typeof routeSchema> | undefined): RouteOptions {
  if (body === undefined) return NOTHING;
  const { providers, ...route } = body;
  return { ...route, ...providers };
}

const NOTHING: RouteOptions = Object.freeze({});
