/**
 * The filters of lists of requests, each as a condition on `requests` and as a test of one item: the feed and its exports ask
 * ClickHouse, the tail asks each call as it is settled, and all mean the same (a test compares them).
 */
import { z } from "zod";
import type { requestSchema } from "./wire.ts";

export const instant = z.iso.datetime({ offset: true });
export const flag = z
  .enum(["true", "false", "1", "0"])
  .transform((value) => value === "true" || value === "1");

/** What a record's ids and names may be compared with: none of them is longer, and the engine takes no longer ones. */
export const word = z.string().max(256);

/** Members of a query. */
export const FILTERS = {
  since: instant.optional().describe("From this instant on."),
  until: instant.optional().describe("Before this instant."),
  project_id: word.optional().describe("Only calls of this project."),
  key_id: word.optional().describe("Only calls with this key."),
  app_id: word
    .optional()
    .describe("Only calls of this app, as `app_id` of a call names it; empty: of no app."),
  model: word.optional().describe("Only calls of this model, `<vendor>/<model>`."),
  provider: word.optional().describe("Only calls to this provider."),
  status: z.enum(["ok", "error", "cancelled", "rejected"]).optional().describe("Only calls that ended so."),
  errors_only: flag.optional().describe("Only `error` and `rejected`."),
  fallbacks_only: flag.optional().describe("Only calls that took more than one attempt."),
  min_cost_micro: z.coerce.number().int().optional().describe("Calls that cost so much at least, micro-USD."),
  max_cost_micro: z.coerce.number().int().optional().describe("Calls that cost so much at most, micro-USD."),
  q: z.string().max(26).optional().describe("Prefix of the request id."),
};

const filters = z.object(FILTERS);
export type RequestFilters = z.output<typeof filters>;
type Item = z.input<typeof requestSchema>;

interface Filter<V> {
  /** Its value is bound as a parameter of the filter's name, never written into the statement. */
  readonly sql: string;
  /** Default: the value itself. */
  readonly bound?: (value: V) => unknown;
  readonly test: (item: Item, value: V) => boolean;
}

const same = (
  name: "project_id" | "key_id" | "app_id" | "model" | "provider" | "status",
): Filter<string> => ({
  sql: `${name} = {${name}:String}`,
  test: (item, value) => item[name] === value,
});
/** `ts` of an item has no zone. */
const msOf = ({ ts }: Item): number => Date.parse(`${ts.replace(" ", "T")}Z`);

const MEANING: { readonly [K in keyof RequestFilters]-?: Filter<NonNullable<RequestFilters[K]>> } = {
  since: {
    sql: "ts >= fromUnixTimestamp64Milli({since:Int64})",
    bound: (value) => Date.parse(value),
    test: (item, value) => msOf(item) >= Date.parse(value),
  },
  until: {
    sql: "ts < fromUnixTimestamp64Milli({until:Int64})",
    bound: (value) => Date.parse(value),
    test: (item, value) => msOf(item) < Date.parse(value),
  },
  project_id: same("project_id"),
  key_id: same("key_id"),
  app_id: same("app_id"),
  model: same("model"),
  provider: same("provider"),
  status: same("status"),
  errors_only: {
    sql: "(NOT {errors_only:Bool} OR status IN ('error', 'rejected'))",
    test: ({ status }, value) => !value || status === "error" || status === "rejected",
  },
  fallbacks_only: {
    sql: "(NOT {fallbacks_only:Bool} OR attempts > 1)",
    test: ({ attempts }, value) => !value || attempts > 1,
  },
  min_cost_micro: {
    sql: "cost_micro >= {min_cost_micro:Int64}",
    test: ({ cost_micro }, value) => cost_micro >= value,
  },
  max_cost_micro: {
    sql: "cost_micro <= {max_cost_micro:Int64}",
    test: ({ cost_micro }, value) => cost_micro <= value,
  },
  q: {
    sql: "startsWith(request_id, {q:String})",
    bound: (value) => value.toUpperCase(),
    test: ({ request_id }, value) => request_id.startsWith(value.toUpperCase()),
  },
};

type AnyFilter = Filter<unknown>;
const NAMES = Object.keys(MEANING) as (keyof RequestFilters)[];

/** Those that are set. */
const set = (given: RequestFilters): [name: string, filter: AnyFilter, value: unknown][] =>
  NAMES.flatMap((name) =>
    given[name] === undefined ? [] : [[name, MEANING[name] as AnyFilter, given[name]]],
  );

/** Conditions, each to be joined by AND, and their parameters. */
export function sqlOf(given: RequestFilters): { conditions: string[]; params: Record<string, unknown> } {
  const conditions: string[] = [];
  const params: Record<string, unknown> = {};
  for (const [name, { sql, bound }, value] of set(given)) {
    conditions.push(sql);
    params[name] = bound === undefined ? value : bound(value);
  }
  return { conditions, params };
}

/** A test of items. */
export function testOf(given: RequestFilters): (item: Item) => boolean {
  const tests = set(given);
  return (item) => tests.every(([, { test }, value]) => test(item, value));
}
