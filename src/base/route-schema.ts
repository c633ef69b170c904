/** Schemas of `svc.route` and `svc.data_policy`, in requests of every format and in dry runs. */
import { z } from "zod";
import {
  AFFINITIES,
  type AskedDataPolicy,
  DATA_POLICIES,
  MAX_ATTEMPTS,
  type RouteOptions,
  SORTS,
} from "./route.ts";

const names = z.array(z.string().min(1).max(256)).max(64);
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

export const dataPolicySchema = z
  .enum(DATA_POLICIES)
  .describe("Only endpoints that do not train on data, or that keep none. The same as in `route.require`.");

/**
 * Converts to the planner's type. Absent members stay absent, not undefined.
 * @param dataPolicy becomes a requirement like those of the route; it removes none of them.
 */
export function routeOptions(
  body: z.output<typeof routeSchema> | undefined,
  dataPolicy?: AskedDataPolicy,
): RouteOptions {
  if (body === undefined && dataPolicy === undefined) return NO_ROUTE_OPTIONS;
  const { providers, ...route } = body ?? {};
  const options = { ...route, ...providers };
  if (dataPolicy === undefined) return options;
  return { ...options, require: { ...options.require, [dataPolicy]: true } };
}

const NO_ROUTE_OPTIONS: RouteOptions = Object.freeze({});
