/**
 * The thirty days before a demo: rows of `requests` made inside ClickHouse, through the same views as real ones. They are of the keys,
 * models and prices that the installation has, follow working days and hours, grow from week to week and have one bad afternoon.
 * Same seed, world and times, same rows. They are records alone: no ledger entry, budget or payload is behind them.
 */
import { DAY_MS, HOUR_MS } from "../../src/base/time.ts";
import { AGENTS, APPS, TEAMS } from "./cast.ts";
import type { DemoKey } from "./world.ts";

export const HISTORY_DAYS = 30;
/** One statement inserts so many. */
const SLICE_ROWS = 500_000;
/** Days before the end on which a provider was ill for some hours. */
const ILL_DAYS_AGO = 9;
const ILL_PROVIDER = "anthropic";

export interface HistoryModel {
  readonly id: string;
  readonly isEmbedding: boolean;
  /** The endpoint that serves it, and the one that is tried when that one fails: it may be the same. */
  readonly endpoints: readonly [HistoryEndpoint, HistoryEndpoint];
}

export interface HistoryEndpoint {
  readonly id: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly region: string;
  /** USD per million tokens. */
  readonly price: { readonly input: number; readonly output: number; readonly cacheRead: number };
}

export interface HistoryPlan {
  readonly rows: number;
  readonly seed: number;
  readonly orgId: string;
  readonly keys: readonly DemoKey[];
  readonly models: readonly HistoryModel[];
  /** The end: the rows are of the days before it. */
  readonly toMs: number;
}

const text = (value: string): string => `'${value.replace(/[\\']/g, "\\$&")}'`;
const texts = (values: readonly string[]): string => `[${values.map(text).join(", ")}]`;
const numbers = (values: readonly number[]): string => `[${values.join(", ")}]`;

/** Share of the calls in the hours up to each one, the last one 1: busy from nine to six in India, quiet at weekends. */
export function hourShares(fromMs: number, hours: number): number[] {
  const weights = Array.from({ length: hours }, (_, at) => {
    const local = new Date(fromMs + at * HOUR_MS + 5.5 * HOUR_MS);
    const hour = local.getUTCHours();
    const byHour = 0.15 + Math.exp(-((hour - 11) ** 2) / 18) + 0.8 * Math.exp(-((hour - 16) ** 2) / 10);
    const isWeekend = [0, 6].includes(local.getUTCDay());
    return byHour * (isWeekend ? 0.3 : 1) * (0.7 + (0.6 * at) / hours);
  });
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let so = 0;
  return weights.map((weight) => {
    so += weight / sum;
    return Math.round(so * 1e6) / 1e6;
  });
}

/** Names of what the columns are made of, each from those before it. */
function parts({ seed, keys, models, toMs }: HistoryPlan): readonly (readonly [string, string])[] {
  const uniform = (name: string) => `(cityHash64(number, '${name}', ${seed}) % 1000003 / 1000003.)`;
  const skewed = (name: string, count: number, power: number) =>
    `toUInt32(floor(${count} * pow(${uniform(name)}, ${power})))`;
  const hours = HISTORY_DAYS * 24;
  const shares = hourShares(toMs - HISTORY_DAYS * DAY_MS, hours);
  const endpoint = (name: string, of: (endpoint: HistoryEndpoint) => string | number, at: 0 | 1) => {
    const values = models.map(({ endpoints }) => of(endpoints[at]));
    const list = typeof values[0] === "number" ? numbers(values as number[]) : texts(values as string[]);
    return [name, `${list}[model_n]`] as const;
  };
  return [
    ["key_n", `1 + ${skewed("key", keys.length, 1.8)}`],
    [
      "model_n",
      `1 + if(${uniform("usual")} < 0.75, (key_n * 5 + ${skewed("own model", 3, 2)}) % 16, ${skewed("model", models.length, 1.5)})`,
    ],
    ["is_embedding", `${numbers(models.map(({ isEmbedding }) => Number(isEmbedding)))}[model_n] = 1`],
    [
      "hour_n",
      `arrayFirstIndex(share -> share >= ${uniform("hour")}, ${numbers([...shares.slice(0, -1), 1])}) - 1`,
    ],
    ["at_ms", `{from_ms:UInt64} + hour_n * ${HOUR_MS} + toInt64(${uniform("minute")} * ${HOUR_MS})`],
    endpoint("first_provider", ({ provider }) => provider, 0),
    [
      "is_ill",
      `first_provider = ${text(ILL_PROVIDER)} AND at_ms BETWEEN {ill_ms:UInt64} AND {ill_ms:UInt64} + ${3 * HOUR_MS}`,
    ],
    ["luck", uniform("luck")],
    [
      "ending",
      "multiIf(is_ill AND luck < 0.5, 'error', luck < 0.006, 'error', luck < 0.016, 'cancelled', luck < 0.03, 'rejected', 'ok')",
    ],
    ["tries", `multiIf(ending = 'rejected', 0, is_ill OR ${uniform("fallback")} < 0.03, 2, 1)`],
    ["tokens_in", `toUInt32(40 + 9000 * pow(${uniform("in")}, 3))`],
    [
      "tokens_out",
      `if(ending IN ('ok', 'cancelled') AND NOT is_embedding, toUInt32(8 + 1400 * pow(${uniform("out")}, 2.5)), 0)`,
    ],
    [
      "cached",
      `if(${uniform("cache")} < 0.45 AND NOT is_embedding, toUInt32(tokens_in * 0.8 * ${uniform("cached")}), 0)`,
    ],
    ["is_paid", "ending IN ('ok', 'cancelled')"],
    endpoint("price_in", ({ price }) => price.input, 1),
    endpoint("price_out", ({ price }) => price.output, 1),
    endpoint("price_cached", ({ price }) => price.cacheRead, 1),
    ["cost_in", "toInt64(ceil((tokens_in - cached) * price_in))"],
    ["cost_cached", "toInt64(ceil(cached * price_cached))"],
    ["cost_out", "toInt64(ceil(tokens_out * price_out))"],
    ["is_live", `${numbers(keys.map(({ environment }) => Number(environment === "live")))}[key_n] = 1`],
    ["is_stream", `NOT is_embedding AND ${uniform("stream")} < 0.65`],
    [
      "first_ms",
      `if(is_paid, toUInt32((90 + 900 * pow(${uniform("ttft")}, 3) + 40 * (model_n % 7)) * if(is_ill, 4, 1)), 0)`,
    ],
    ["whole_ms", "first_ms + tokens_out * (5 + model_n % 11) + 15"],
    endpoint("first_endpoint", ({ id }) => id, 0),
    endpoint("last_provider", ({ provider }) => provider, 1),
    endpoint("last_endpoint", ({ id }) => id, 1),
    endpoint("upstream", ({ upstreamModel }) => upstreamModel, 1),
    endpoint("last_region", ({ region }) => region, 1),
    // Without a second endpoint, the first one is tried once.
    ["tried", "if(first_endpoint = last_endpoint, least(tries, 1), tries)"],
    ["provider_now", "if(tried = 2, last_provider, first_provider)"],
    ["endpoint_now", "if(tried = 2, last_endpoint, first_endpoint)"],
    ["id_random", `substring(hex(sipHash128(number, ${seed})), 1, 16)`],
    ["project_name", `${texts(keys.map(({ project }) => project))}[key_n]`],
  ];
}

const each = (expression: string): string => `arrayMap(i -> ${expression}, range(1, 1 + tried))`;
const ifPaid = (list: string): string => `if(is_paid, ${list}, [])`;

function columns({ seed, orgId, keys, models }: HistoryPlan): Readonly<Record<string, string>> {
  const uniform = (name: string) => `(cityHash64(number, '${name}', ${seed}) % 1000003 / 1000003.)`;
  const oneOf = (name: string, values: readonly string[], power = 1) =>
    `${texts(values)}[1 + toUInt32(floor(${values.length} * pow(${uniform(name)}, ${power})))]`;
  return {
    request_id: `concat(arrayStringConcat(arrayMap(
      i -> substring('0123456789ABCDEFGHJKMNPQRSTVWXYZ', bitAnd(bitShiftRight(at_ms, 45 - 5 * i), 31) + 1, 1), range(10))), id_random)`,
    ts: "fromUnixTimestamp64Milli(toInt64(at_ms), 'UTC')",
    org_id: text(orgId),
    project_id: `${texts(keys.map(({ projectId }) => projectId))}[key_n]`,
    key_id: `${texts(keys.map(({ id }) => id))}[key_n]`,
    environment: "if(is_live, 'live', 'test')",
    cell: "'local'",
    dialect_in: `if(is_embedding, 'embeddings', ${oneOf("dialect", ["chat", "messages", "responses"], 2)})`,
    model: `${texts(models.map(({ id }) => id))}[model_n]`,
    provider: "if(tried = 0, '', provider_now)",
    endpoint_id: "if(tried = 0, '', endpoint_now)",
    upstream_model: "if(tried = 0, '', upstream)",
    region: "if(tried = 0, '', last_region)",
    status: "ending",
    http_status:
      "multiIf(ending = 'ok', 200, ending = 'rejected', if(luck < 0.025, 429, 400), ending = 'cancelled', 499, 502)",
    error_code:
      "multiIf(ending = 'rejected', if(luck < 0.025, 'rpm', 'invalid_value'), ending = 'error', 'upstream_error', '')",
    stop_reason: `multiIf(ending != 'ok' OR is_embedding, '', ${uniform("stop")} < 0.08, 'tool_calls', ${uniform("stop")} < 0.12, 'length', 'stop')`,
    attempts: "tried",
    input_tokens: "if(tried = 0, 0, tokens_in)",
    output_tokens: "tokens_out",
    cache_read_tokens: "if(tried = 0, 0, cached)",
    reasoning_tokens: `if(model_n % 4 = 1, intDiv(tokens_out, 3), 0)`,
    usage_source: "if(is_paid, 'provider', 'none')",
    cost_micro: "if(is_paid, cost_in + cost_cached + cost_out, 0)",
    charged: "is_paid AND is_live",
    "cost_lines.kind": ifPaid("['input', 'cache_read', 'output']"),
    "cost_lines.units": ifPaid("[toUInt64(tokens_in - cached), toUInt64(cached), toUInt64(tokens_out)]"),
    "cost_lines.unit_price_nano": ifPaid(
      "arrayMap(price -> toUInt64(round(price * 1000)), [price_in, price_cached, price_out])",
    ),
    "cost_lines.micro_usd": ifPaid("[cost_in, cost_cached, cost_out]"),
    "cost_lines.tool": ifPaid("['', '', '']"),
    "cost_lines.tier": ifPaid("['', '', '']"),
    ttft_ms: "if(is_paid, if(is_stream, first_ms, whole_ms), 0)",
    upstream_ttft_ms: "if(first_ms > 3, first_ms - 3, 0)",
    duration_ms: "whole_ms",
    settled_at:
      "fromUnixTimestamp64Micro(toInt64((at_ms + whole_ms) * 1000 + cityHash64(number) % 1000), 'UTC')",
    gw_overhead_ms: `0.3 + ${uniform("overhead")}`,
    bytes_in: "toUInt64(tokens_in) * 4",
    bytes_out: "toUInt64(tokens_out) * 5",
    stream: "is_stream",
    tool_calls: `if(ending = 'ok' AND ${uniform("stop")} < 0.08, 1, 0)`,
    has_tools: `${uniform("tools")} < 0.3`,
    has_images: `${uniform("images")} < 0.05`,
    policy: "if(project_name = 'checkout', 'north-cloud-trial', 'economy')",
    policy_version: "if(project_name = 'checkout', 1, 3)",
    max_tokens: "2048",
    session_hash: `if(${uniform("session")} < 0.5, lower(leftPad(hex(cityHash64(key_n, toUInt32(${uniform("which session")} * 900))), 16, '0')), '')`,
    app_id: `if(key_n % 5 < 2, '', ${texts(APPS.map(({ slug }) => slug))}[1 + key_n % ${APPS.length}])`,
    user_hash: `if(${uniform("user")} < 0.6, lower(leftPad(hex(cityHash64(toUInt32(3000 * pow(${uniform("which user")}, 2)))), 16, '0')), '')`,
    tags: `CAST(arrayFilter(pair -> pair.2 != '', [
      ('team', ${texts(TEAMS)}[1 + key_n % ${TEAMS.length}]),
      ('feature', ${texts(keys.map(({ name }) => name.split("/")[1] ?? ""))}[key_n])
    ]), 'Map(LowCardinality(String), String)')`,
    user_agent: oneOf("agent", AGENTS, 2),
    client_ip_prefix: `concat('10.', toString(key_n), '.', toString(toUInt32(30 * ${uniform("ip")})), '.0/24')`,
    route_trace:
      "if(tried = 0, '', if(tried = 2, concat(first_endpoint, ' failed, ', last_endpoint), endpoint_now))",
    payload_state: "'off'",
    retention_days: "30",
    spool_run: "'demo'",
    spool_batch: "{slice:UInt64}",
    "attempt_rows.attempt": each("toUInt8(i)"),
    "attempt_rows.ts": each("fromUnixTimestamp64Milli(toInt64(at_ms + 2 * i), 'UTC')"),
    "attempt_rows.provider": each("if(i = tried, provider_now, first_provider)"),
    "attempt_rows.endpoint_id": each("if(i = tried, endpoint_now, first_endpoint)"),
    "attempt_rows.pool_id": each("'default'"),
    "attempt_rows.key_hint": each("''"),
    "attempt_rows.outcome": each(
      "if(i = tried AND is_paid, if(ending = 'ok', 'ok', 'cancelled'), 'http_error')",
    ),
    "attempt_rows.http_status": each("if(i = tried AND is_paid, 200, 503)"),
    "attempt_rows.error_class": each("if(i = tried AND is_paid, '', 'server')"),
    "attempt_rows.upstream_code": each("if(i = tried AND is_paid, '', 'overloaded')"),
    "attempt_rows.upstream_message": each("if(i = tried AND is_paid, '', 'The model is overloaded')"),
    "attempt_rows.refusal": each("''"),
    "attempt_rows.ttft_ms": each("if(i = tried, first_ms, 0)"),
    "attempt_rows.duration_ms": each("if(i = tried, whole_ms, 30)"),
    "attempt_rows.output_tokens": each("if(i = tried, tokens_out, 0)"),
  };
}

export interface HistorySlice {
  readonly sql: string;
  readonly params: Readonly<Record<string, number>>;
  readonly rows: number;
}

/** Statements that insert the rows. */
export function* historySlices(plan: HistoryPlan): Generator<HistorySlice> {
  const made = columns(plan);
  const sql = `INSERT INTO requests (${Object.keys(made)
    .map((name) => `\`${name}\``)
    .join(", ")})
    WITH ${parts(plan)
      .map(([name, expression]) => `${expression} AS ${name}`)
      .join(",\n ")}
    SELECT ${Object.values(made).join(",\n ")}
    FROM numbers({first:UInt64}, {rows:UInt64})`;
  const fromMs = plan.toMs - HISTORY_DAYS * DAY_MS;
  const ill_ms = Math.floor((plan.toMs - ILL_DAYS_AGO * DAY_MS) / DAY_MS) * DAY_MS + 6 * HOUR_MS;
  for (let first = 0, slice = 1; first < plan.rows; first += SLICE_ROWS, slice++) {
    const rows = Math.min(SLICE_ROWS, plan.rows - first);
    yield { sql, rows, params: { first, rows, slice, from_ms: fromMs, ill_ms } };
  }
}
