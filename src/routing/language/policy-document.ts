/**
 * The grammar of routing policies, version 1. A valid document may name providers and endpoints that do not exist:
 * catalogs change, and a policy outlives them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ON_DISCONNECT } from "../../base/call/on-disconnect.ts";
import { AFFINITIES, MAX_ATTEMPTS, SORTS } from "../../base/route.ts";

export const MAX_LISTED = 64;
export const MAX_RULES = 200;

const id = z.string().min(1).max(200);
const ids = z.array(id).max(MAX_LISTED);
const tokens = z.int().min(0).max(1_000_000_000);
const percent = z.number().min(0).max(100);
const weight = z.number().min(0).max(1_000_000);
const usd = z.number().min(0).max(1_000_000);

const sort = z.enum(SORTS).describe("How endpoints are ordered; balanced unless given.");

const require = z
  .strictObject({
    zdr: z.boolean().optional().describe("Only endpoints that promise zero data retention."),
    no_train: z
      .boolean()
      .optional()
      .describe("Only endpoints whose provider does not train on what is sent."),
    regions: ids.min(1).optional().describe("Only endpoints in one of these regions."),
    max_price: z
      .strictObject({
        input: usd.optional().describe("USD per million prompt tokens."),
        output: usd.optional().describe("USD per million tokens of the answer."),
      })
      .optional()
      .describe("Only endpoints that charge at most so many USD per million tokens."),
  })
  .describe("What an endpoint must promise. A request can only tighten it.");

const canary = z
  .strictObject({
    endpoint: id.describe("Endpoint id."),
    percent: percent.describe("Share of the calls that go there first, 0 to 100."),
    max_error_rate: z
      .number()
      .min(0)
      .max(1)
      .describe("The canary turns red once it is surely above, 0 to 1."),
    min_samples: z.int().min(1).max(1_000_000).describe("Calls before it is judged."),
  })
  .describe("An endpoint on trial.");

const shadow = z
  .strictObject({
    endpoint: id.describe("Endpoint id."),
    percent: percent.describe("Share of the calls that are copied there, 0 to 100."),
    bill: z.enum(["platform", "org"]).default("platform").describe("Who pays for the copies."),
  })
  .describe("An endpoint that is sent copies of calls; nobody waits for its answers.");

const experiment = z
  .strictObject({
    name: z.string().min(1).max(100).describe("Names it in reports; a new name divides callers anew."),
    arms: z
      .array(
        z.strictObject({
          arm: z.string().min(1).max(100).describe("Names it in reports."),
          endpoint: id.describe("Endpoint id."),
          weight: weight.default(1).describe("Relative to the other arms."),
        }),
      )
      .min(2)
      .max(16),
  })
  .describe("Divides callers among endpoints; each stays in its arm.");

const LIFT = z.literal(false).describe("Lifts what the defaults say.");

const block = z.strictObject({
  sort: sort.optional(),
  order: ids.optional().describe("Providers or endpoint ids that are tried first, in this order."),
  only: ids.optional().describe("No other providers or endpoint ids are tried."),
  ignore: ids.optional().describe("Providers or endpoint ids that are not tried."),
  fallbacks: z.boolean().optional().describe("Whether another endpoint may answer where the first fails."),
  max_attempts: z
    .int()
    .min(1)
    .max(MAX_ATTEMPTS)
    .optional()
    .describe("Attempts that one call may take; another key of a pool is one, too."),
  timeout_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .optional()
    .describe("For all attempts together, until the first content."),
  affinity: z.enum(AFFINITIES).optional().describe("Who stays at the endpoint where it was."),
  require: require.optional(),
  weights: z
    .record(id, weight)
    .optional()
    .describe(
      "Endpoint id → its part of the first attempts; the others follow by the sort. {} lifts the defaults'.",
    ),
  hedge_after_ms: z
    .int()
    .min(0)
    .max(600_000)
    .optional()
    .describe("After so much silence the next endpoint is asked too; 0: never."),
  on_disconnect: z
    .enum(ON_DISCONNECT)
    .optional()
    .describe("What becomes of a call whose client leaves, unless its request says so; else its key says."),
  deny: z
    .union([z.strictObject({ message: z.string().min(1).max(500) }), LIFT])
    .optional()
    .describe("Calls are refused with this message."),
  canary: z.union([canary, LIFT]).optional(),
  shadow: z.union([shadow, LIFT]).optional(),
  experiment: z.union([experiment, LIFT]).optional(),
});

/** One name, or several of which any may match. */
const names = z.union([id, ids.min(1)]);

const match = z
  .strictObject({
    model: names.optional().describe("Model ids; * stands for any text, ? for one character."),
    project: names.optional().describe("Ids or slugs of projects."),
    key: names.optional().describe("Ids of keys."),
    app: names.optional().describe("svc.metadata.app, else the host of HTTP-Referer, else X-Title"),
    tag: z
      .union([id, ids.min(1), z.record(id, z.string().max(256))])
      .optional()
      .describe(
        "`name` or `name=value`, any of them; or a mapping of names to values, all of which must hold.",
      ),
    stream: z.boolean().optional().describe("Whether the answer is asked for as a stream."),
    tools: z.boolean().optional().describe("Whether the request offers tools."),
    images: z.boolean().optional().describe("Whether the request holds images."),
    min_input_tokens: tokens.optional().describe("The prompt's estimate is at least this."),
    max_input_tokens: tokens.optional().describe("The prompt's estimate is at most this."),
  })
  .describe("All of it must fit; a rule without it fits every call.");

const rule = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("Stands in traces and reports; rule-<n> unless given."),
  match: match.optional(),
  // biome-ignore lint/suspicious/noThenProperty: the word of the grammar; nobody awaits a rule
  then: block.optional().describe("Replaces the defaults key by key."),
});

export const POLICY_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const policySchema = z
  .strictObject({
    version: z.literal(1).describe("Version of this grammar."),
    policy: z
      .string()
      .regex(POLICY_NAME, "must be lower-case letters, digits, - and _, at most 64")
      .optional()
      .describe("The policy's name."),
    sort: sort.optional(),
    defaults: block.optional().describe("What holds where no rule says otherwise."),
    rules: z.array(rule).max(MAX_RULES).optional().describe("The first rule that fits a call applies."),
  })
  .describe("A routing policy of Weir.");

export type PolicyDocument = z.output<typeof policySchema>;
export type PolicyBlock = z.output<typeof block>;
export type PolicyMatch = z.output<typeof match>;

/** JSON Schema of policy documents, for editors: the text of a file that is made from the grammar above. */
export const readPolicyJsonSchema = (): string =>
  readFileSync(join(import.meta.dirname, "policy.schema.json"), "utf8");
