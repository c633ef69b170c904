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

export const sortShape = z.enum(SORTS).describe("What the order goes by.");
export const affinityShape = z
  .enum(AFFINITIES)
  .describe("Whose calls stay at one endpoint: of a user, a session, the same prompt, or none.");

export const routeSchema = z.strictObject({
  providers: z
    .strictObject({
      order: names.optional().describe("These first, in this order."),
      only: names.optional().describe("No others."),
      ignore: names.optional().describe("None of these."),
    })
    .optional()
    .describe("Which providers may be asked."),
  fallbacks: z.boolean().optional().describe("False: only the first endpoint is asked."),
  sort: sortShape.optional(),
  require: z
    .strictObject({
      zdr: z.boolean().optional().describe("Zero data retention: nothing is kept, here or at the provider."),
      no_train: z.boolean().optional().describe("The provider does not train on it."),
      regions: names.optional().describe("One of these regions."),
      max_price: z
        .strictObject({
          input: price.optional().describe("Highest price of the prompt."),
          output: price.optional().describe("Highest price of the answer."),
        })
        .optional()
        .describe("USD per million tokens at most, as charged."),
    })
    .optional()
    .describe("What an endpoint must offer to be asked."),
  max_attempts: z
    .int()
    .min(1)
    .max(MAX_ATTEMPTS)
    .optional()
    .describe("So many endpoints are asked at most, one after the other."),
  timeout_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .optional()
    .describe("All attempts together may take so long until the first content."),
  affinity: affinityShape.optional(),
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
