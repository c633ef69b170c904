/** Providers as an operator sees them: what each is configured by, how it does now, and what it refused. No value of a variable. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";

/** Why a key is left alone, in a word. */
export const REST_REASONS = ["refused", "forbidden", "capacity"] as const;

const why = z
  .enum(REST_REASONS)
  .describe(
    "`refused`: the provider does not accept the key anywhere; `forbidden`: it answers 403 there; `capacity`: it has no capacity for it there, or another gateway was refused.",
  );
const until = field.time("When it may be tried again");

const variable = z.object({
  name: z.string().describe("Name of an environment variable that is looked for."),
  use: z
    .enum(["credential", "address"])
    .describe(
      "`credential`: one of these must be set; `address`: the provider's URL or proxy is made of it.",
    ),
  is_set: z.boolean().describe("The gateway had it when it last read the catalog."),
  key_id: z
    .string()
    .optional()
    .describe("The key that was read from it; absent: none, or one that an earlier variable holds too."),
});

const key = z.object({
  id: z.string().describe("Id of a key of the gateway's own, `<provider>/<number>`."),
  status: z
    .enum(["ready", "resting", "refused"])
    .describe("`resting`: it is out at some endpoints; `refused`: the provider does not accept it anywhere."),
  resting_at: z.int().describe("Endpoints where it is out now."),
  until: until.nullable().describe("When the last of its rests ends; null: it is ready. ISO 8601, UTC."),
  why: why.nullable().describe("Why it rests, the gravest reason of all endpoints; null: it is ready."),
});

const HEALTH_STATES = ["healthy", "degraded", "failing", "saturated", "unknown"] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

const endpoint = z.object({
  id: field.endpointId,
  model: field.modelId,
  region: field.region,
  status: z.enum(["active", "inactive"]).describe("`inactive`: calls cannot reach it."),
  state: z.enum(HEALTH_STATES).describe("As in the endpoints of a model."),
  error_rate: z
    .number()
    .describe("0 to 1, over roughly the last minute, of all gateways of the installation."),
  out_until: until.nullable().describe("When it may be tried again; null: now. ISO 8601, UTC."),
  last_failure: z
    .string()
    .describe(
      "Class of the last failure that this gateway saw there since its start: `server`, `timeout`, `network`, `auth`, `capacity`, …; empty: none.",
    ),
  down_since: z
    .string()
    .nullable()
    .describe(
      "Since when it takes no calls after failures in a row; null: it does, or that is not known. ISO 8601, UTC.",
    ),
  ttft_ms: z.int().nullable().describe("Mean time to the first token of the last minutes."),
  tokens_per_second: z.number().nullable().describe("Mean output speed after the first token."),
  resting_keys: z
    .array(
      z.object({
        key_id: z.string().describe("A key of the gateway's own."),
        until,
        why,
      }),
    )
    .describe("Keys that are out there now."),
});

const refusal = z.object({
  meaning: z
    .string()
    .describe(
      "What it means, as in docs/refusals.md: `rate_limit`, `quota`, `credential`, `overloaded`, …; `unmatched`: words that no row of that table knows; `fault`: the provider failed with a status.",
    ),
  row: z.string().describe("The row of the table that matched last; empty where none did."),
  http_status: z.int().describe("What it answered; 0: an error within a stream."),
  error_class: z.string().describe("Class of the failure."),
  attempts: z.int().describe("So many attempts ended so."),
  own_key_attempts: z.int().describe("Those of them with an org's own key."),
  last_at: field.time("When the last of them was"),
  last_code: z.string().describe("The provider's own code for the last of them; empty where it has none."),
});

const states = z
  .object({
    healthy: z.int().describe("Calls get through."),
    degraded: z.int().describe("More than one call in ten failed lately."),
    failing: z.int().describe("Most recent calls failed."),
    saturated: z.int().describe("No key of the gateway's is usable there now."),
    unknown: z.int().describe("Not tried lately."),
  })
  .describe("Endpoints that calls can reach, by how they do now.");

export const operatorProvider = z.object({
  id: field.providerId,
  name: z.string().describe("Display name."),
  status: z.enum(["active", "inactive"]).describe("`inactive`: this gateway cannot reach it."),
  switched_off: z.boolean().describe("The catalog's file disables it, whatever credentials there are."),
  simulated: z.boolean().describe("It is the built-in simulator."),
  dialects: z.array(z.string()).describe("Formats that it is asked in, preferred first."),
  regions: z.array(z.string()).describe("Where it serves; `global`: it promises no place."),
  missing: z
    .array(z.string())
    .describe("What it lacks: names of variables, of which alternatives are one text (`A or B`)."),
  variables: z.array(variable).describe("What is looked for in the environment; names, never values."),
  keys: z.array(key).describe("Keys of the gateway's own, in the order of their variables."),
  org_keys: z.int().describe("Keys of orgs' own for it, of all orgs."),
  models: z.int().describe("Models that calls can reach there."),
  endpoints: z.int().describe("Endpoints that calls can reach there."),
  configured_endpoints: z.int().describe("Endpoints of it in the catalog."),
  states,
  troubled: z.array(endpoint).describe("Endpoints that do not do well now, the worst first; ten at most."),
  refusals: z
    .array(refusal)
    .describe("What it refused in the last 24 hours, over all orgs, the most frequent first; 20 at most."),
});

export const HEALTH_OF = {
  cell: z.string().describe("The gateway that answers: health is as it sees it, but for the error rate."),
  analytics: z.boolean().describe("False: refusals could not be read in time, and are empty."),
};

export const operatorProviderDetail = operatorProvider.omit({ troubled: true }).extend({
  ...HEALTH_OF,
  all_endpoints: z
    .array(endpoint)
    .describe("Its endpoints, the worst first, those that cannot be reached last; 500 at most."),
});

export type EndpointWire = z.input<typeof endpoint>;
export type KeyWire = z.input<typeof key>;
export type RefusalWire = z.input<typeof refusal>;
export type OperatorProvider = z.input<typeof operatorProvider>;
