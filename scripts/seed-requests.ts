/**
 * Rows of `requests` made inside ClickHouse, through the same views as real ones: skewed over orgs, keys, models and hours, with
 * tags, apps, errors and several attempts. Same numbers and times, same rows.
 */

export interface SeedPlan {
  readonly rows: number;
  readonly orgs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** One statement inserts so many: about a gigabyte of memory. */
const SLICE_ROWS = 500_000;

export interface Slice {
  readonly sql: string;
  readonly rows: number;
}

/** The id of the org of this number; 0 has about a seventh of all rows of 300 orgs. */
export const seededOrg = (number: number): string => `org_01J5EED${String(number).padStart(19, "0")}`;

/** A uniform number in [0, 1) of a row, another for each name. */
const uniform = (name: string): string => `(cityHash64(number, '${name}') % 1000003 / 1000003.)`;
/** A whole number below `count`; a larger power makes small ones more frequent. */
const skewed = (name: string, count: number, power: number): string =>
  `toUInt32(floor(${count} * pow(${uniform(name)}, ${power})))`;
const hashed = (name: string, characters: number): string =>
  `lower(leftPad(hex(cityHash64(number, '${name}')), ${characters}, '0'))`;
const oneOf = (name: string, values: readonly string[], power = 1): string =>
  `[${values.map((value) => `'${value}'`).join(", ")}][1 + ${skewed(name, values.length, power)}]`;

/** What the columns are made of, each from those before it. */
const PARTS: readonly (readonly [name: string, expression: string])[] = [
  ["org_n", skewed("org", 0, 3)],
  ["key_n", skewed("key", 40, 2)],
  // A key is used by one app, for few models.
  ["model_n", `(org_n * 13 + key_n * 7 + ${skewed("model", 4, 3)}) % 60`],
  ["provider_n", `(model_n + if(${uniform("other")} < 0.2, ${skewed("provider", 3, 1)}, 0)) % 12`],
  // Nine hours of each day have twice the calls of the others.
  [
    "at_days",
    `({from_ms:UInt64} + (number - {first:UInt64} + ${uniform("at")}) * {step_ms:Float64}) / 86400000`,
  ],
  ["at_ms", "toInt64((at_days + 0.1 * sin(2 * pi() * at_days)) * 86400000)"],
  ["luck", uniform("luck")],
  ["ending", "multiIf(luck < 0.93, 'ok', luck < 0.97, 'error', luck < 0.98, 'cancelled', 'rejected')"],
  ["tries", "multiIf(ending = 'rejected', 0, luck < 0.86, 1, luck < 0.9, 2, luck < 0.93, 3, 1)"],
  ["tokens_in", `toUInt32(20 + 6000 * pow(${uniform("in")}, 3))`],
  ["tokens_out", `if(ending = 'ok', toUInt32(5 + 1500 * pow(${uniform("out")}, 2)), 0)`],
  ["cached", `if(${uniform("cache")} < 0.3, intDiv(tokens_in, 2), 0)`],
  ["cost_in", "toInt64(intDiv((tokens_in - cached) * (1 + model_n), 20))"],
  ["cost_out", "toInt64(intDiv(tokens_out * (1 + model_n), 5))"],
  ["is_live", `${uniform("live")} < 0.97`],
  ["is_stream", `${uniform("stream")} < 0.5`],
  ["first_ms", `if(ending = 'ok', toUInt32(80 + 900 * pow(${uniform("ttft")}, 2)), 0)`],
  ["whole_ms", "first_ms + tokens_out * 12 + 20"],
  ["endpoint", "concat('ep_provider-', toString(provider_n), '_model-', toString(model_n))"],
  ["id_random", "substring(hex(sipHash128(number, 'id')), 1, 16)"],
];

const each = (expression: string): string => `arrayMap(i -> ${expression}, range(1, 1 + tries))`;

const COLUMNS: Readonly<Record<string, string>> = {
  request_id: `concat(arrayStringConcat(arrayMap(
    i -> substring('0123456789ABCDEFGHJKMNPQRSTVWXYZ', bitAnd(bitShiftRight(at_ms, 45 - 5 * i), 31) + 1, 1), range(10))), id_random)`,
  ts: "fromUnixTimestamp64Milli(at_ms, 'UTC')",
  org_id: "concat('org_01J5EED', leftPad(toString(org_n), 19, '0'))",
  project_id: "concat('prj_', toString(org_n), '_', toString(key_n % 8))",
  key_id: "concat('key_', toString(org_n), '_', toString(key_n))",
  environment: "if(is_live, 'live', 'test')",
  cell: "'cell-1'",
  dialect_in: oneOf("dialect", ["chat", "messages", "responses", "native"], 2),
  model: "concat('vendor-', toString(model_n % 9), '/model-', toString(model_n))",
  provider: "if(tries = 0, '', concat('provider-', toString(provider_n)))",
  endpoint_id: "if(tries = 0, '', endpoint)",
  upstream_model: "concat('model-', toString(model_n))",
  region: oneOf("region", ["eu", "us", "ap"]),
  status: "ending",
  http_status: "multiIf(ending = 'ok', 200, ending = 'rejected', 429, ending = 'cancelled', 499, 502)",
  error_code: `multiIf(ending = 'rejected', ${oneOf("refused", ["rpm", "tpm", "concurrency"])}, ending = 'error', 'upstream_error', '')`,
  stop_reason: "if(ending = 'ok', 'stop', '')",
  attempts: "tries",
  input_tokens: "if(tries = 0, 0, tokens_in)",
  output_tokens: "tokens_out",
  cache_read_tokens: "if(tries = 0, 0, cached)",
  reasoning_tokens: `if(${uniform("thinks")} < 0.2, intDiv(tokens_out, 3), 0)`,
  usage_source: "if(ending = 'ok', 'provider', 'none')",
  cost_micro: "if(ending = 'ok', cost_in + cost_out, 0)",
  charged: "ending = 'ok' AND is_live",
  price_version_id: "concat('pv_', toString(model_n))",
  "cost_lines.kind": "if(ending = 'ok', ['input', 'output'], [])",
  "cost_lines.units": "if(ending = 'ok', [toUInt64(tokens_in - cached), tokens_out], [])",
  "cost_lines.unit_price_nano": "if(ending = 'ok', [toUInt64((1 + model_n) * 50), (1 + model_n) * 200], [])",
  "cost_lines.micro_usd": "if(ending = 'ok', [cost_in, cost_out], [])",
  ttft_ms: "first_ms",
  upstream_ttft_ms: "if(first_ms > 3, first_ms - 3, 0)",
  duration_ms: "whole_ms",
  settled_at: `fromUnixTimestamp64Micro((at_ms + whole_ms) * 1000 + toInt64(cityHash64(number) % 1000), 'UTC')`,
  gw_overhead_ms: `0.3 + ${uniform("overhead")}`,
  bytes_in: "toUInt64(tokens_in) * 4",
  bytes_out: "toUInt64(tokens_out) * 5",
  stream: "is_stream",
  byok: `${uniform("byok")} < 0.1`,
  has_tools: `${uniform("tools")} < 0.3`,
  policy: "if(key_n % 3 = 0, 'house', '')",
  policy_version: "if(key_n % 3 = 0, 3, 0)",
  max_tokens: "1024",
  session_hash: `if(${uniform("session")} < 0.4, ${hashed("session of", 16)}, '')`,
  app_id: "if(key_n % 5 < 2, '', concat('app-', toString(key_n % 7)))",
  user_hash: `if(${uniform("user")} < 0.6, lower(leftPad(hex(cityHash64(org_n, ${skewed("which user", 20_000, 2)})), 16, '0')), '')`,
  tags: `CAST(arrayFilter(pair -> pair.2 != '', [
    ('team', if(luck * 7 % 1 < 0.6, concat('team-', toString(${skewed("team", 8, 1)})), '')),
    ('feature', if(luck * 11 % 1 < 0.6, concat('feature-', toString(${skewed("feature", 40, 2)})), '')),
    ('customer', if(luck * 13 % 1 < 0.3, concat('customer-', toString(${skewed("customer", 5000, 3)})), ''))
  ]), 'Map(LowCardinality(String), String)')`,
  user_agent: oneOf(
    "agent",
    ["OpenAI/JS 7.55.0", "OpenAI/Python 3.1.0", "anthropic-sdk/1.11.0", "curl/8.9"],
    2,
  ),
  client_ip_prefix: `concat('10.', toString(org_n % 256), '.', toString(${skewed("ip", 200, 2)}), '.0/24')`,
  route_trace: "if(tries = 0, '', concat(endpoint, ' > ep_provider-1_model-1: price'))",
  payload_state: "'off'",
  retention_days: "30",
  spool_run: "'seed'",
  spool_batch: "{slice:UInt64}",
  "attempt_rows.attempt": each("toUInt8(i)"),
  "attempt_rows.ts": each("fromUnixTimestamp64Milli(at_ms + 2 * i, 'UTC')"),
  "attempt_rows.provider": each("concat('provider-', toString((provider_n + tries - i) % 12))"),
  "attempt_rows.endpoint_id": each("if(i = tries, endpoint, concat(endpoint, '-', toString(tries - i)))"),
  "attempt_rows.pool_id": each("'default'"),
  "attempt_rows.key_hint": each("'ab12'"),
  "attempt_rows.outcome": each("if(i = tries AND ending = 'ok', 'ok', 'http_error')"),
  "attempt_rows.http_status": each("if(i = tries AND ending = 'ok', 200, 503)"),
  "attempt_rows.error_class": each("if(i = tries AND ending = 'ok', '', 'server')"),
  "attempt_rows.upstream_code": each("if(i = tries AND ending = 'ok', '', 'overloaded')"),
  "attempt_rows.upstream_message": each("if(i = tries AND ending = 'ok', '', 'The model is overloaded')"),
  "attempt_rows.ttft_ms": each("if(i = tries, first_ms, 0)"),
  "attempt_rows.duration_ms": each("if(i = tries, whole_ms, 30)"),
  "attempt_rows.output_tokens": each("if(i = tries, tokens_out, 0)"),
};

/** Statements that insert the rows, oldest first; each with what it binds. */
export function* slices({
  rows,
  orgs,
  fromMs,
  toMs,
}: SeedPlan): Generator<Slice & { params: Record<string, number> }> {
  const parts = PARTS.map(([name, expression]) =>
    name === "org_n" ? [name, skewed("org", orgs, 3)] : [name, expression],
  );
  const sql = `INSERT INTO requests (${Object.keys(COLUMNS)
    .map((name) => `\`${name}\``)
    .join(", ")}) SETTINGS max_threads = 2, parallel_view_processing = 1, max_memory_usage = 6000000000
    WITH ${parts.map(([name, expression]) => `${expression} AS ${name}`).join(",\n ")}
    SELECT ${Object.values(COLUMNS).join(",\n ")}
    FROM numbers({first:UInt64}, {rows:UInt64})`;
  const count = Math.ceil(rows / SLICE_ROWS);
  for (let slice = 0; slice < count; slice++) {
    const first = slice * SLICE_ROWS;
    const size = Math.min(SLICE_ROWS, rows - first);
    const stepMs = (toMs - fromMs) / rows;
    const params = {
      slice: slice + 1,
      first,
      rows: size,
      from_ms: Math.floor(fromMs + first * stepMs),
      step_ms: stepMs,
    };
    yield { sql, rows: size, params };
  }
}
