/**
 * Exports of providers as lines of one shape. JSON is as OpenAI's `GET /v1/organization/usage/completions` and `…/costs`, and
 * Anthropic's `GET /v1/organizations/usage_report/messages` and `…/cost_report` document it. The columns of the CSV files that
 * their consoles offer are documented nowhere; those here are from memory, and may need another name in the tables.
 */
import { countOf, dayOf, microOf, nameOf, type Place, wrong } from "./values.ts";

export const BILL_FORMATS = ["plain", "openai", "anthropic"] as const;
export type BillFormat = (typeof BILL_FORMATS)[number];

const FIGURES = [
  "requests",
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "costMicroUsd",
] as const;
/** Null: it is not stated. `inputTokens` is the whole prompt, cached parts included. */
export type Figures = Readonly<Record<(typeof FIGURES)[number], number | null>>;

export const figuresOf = (of: (name: keyof Figures) => number | null): Figures =>
  Object.fromEntries(FIGURES.map((name) => [name, of(name)])) as Figures;

export const NOTHING = figuresOf(() => null);

export interface BillLine extends Figures {
  /** In UTC. */
  readonly day: string;
  /** Our id of the endpoint; empty where the line names the model. */
  readonly endpoint: string;
  /** As the provider names it; empty where the line is of no model. */
  readonly model: string;
}

type Field =
  | Exclude<keyof BillLine, "inputTokens">
  /** `whole`: cached parts included. `fresh`: without them. `ignored`: known, and not needed. */
  | "inputWhole"
  | "inputFresh"
  | "costCents"
  | "ignored";

/** Names of columns. */
const COLUMNS: Readonly<Record<BillFormat, Readonly<Record<string, Field>>>> = {
  plain: {
    day: "day",
    endpoint: "endpoint",
    model: "model",
    requests: "requests",
    input_tokens: "inputWhole",
    output_tokens: "outputTokens",
    cache_read_tokens: "cacheReadTokens",
    cache_write_tokens: "cacheWriteTokens",
    cost_usd: "costMicroUsd",
    upstream_id: "ignored",
  },
  openai: {
    start_time: "day",
    start_time_iso: "ignored",
    model: "model",
    line_item: "model",
    num_model_requests: "requests",
    input_tokens: "inputWhole",
    output_tokens: "outputTokens",
    input_cached_tokens: "cacheReadTokens",
    amount_value: "costMicroUsd",
  },
  anthropic: {
    usage_date_utc: "day",
    model: "model",
    model_version: "model",
    cost_usd: "costMicroUsd",
    usage_input_tokens_no_cache: "inputFresh",
    usage_output_tokens: "outputTokens",
    usage_input_tokens_cache_read: "cacheReadTokens",
    usage_input_tokens_cache_write_5m: "cacheWriteTokens",
    usage_input_tokens_cache_write_1h: "cacheWriteTokens",
  },
};

/** A column of a file: what it is, and its name for messages. */
export interface Column {
  readonly field: Field;
  readonly name: string;
}

/** @param names of the first line @throws WeirError 400 that names a column that is unknown, twice, or missing */
export function columnsOf(format: BillFormat, names: readonly string[]): Column[] {
  const known = COLUMNS[format];
  const columns = names.map((given, i) => {
    const name = given.trim().toLowerCase();
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    const place = { line: 1, column: String(i + 1) };
    // Consoles add columns; in a file of our own shape an unknown one is a mistake.
    if (field === undefined && format === "plain") {
      throw wrong(place, `unknown column; there are ${Object.keys(known).join(", ")}`, given);
    }
    if (names.findIndex((other) => other.trim().toLowerCase() === name) !== i)
      throw wrong(place, "this column is there twice", given);
    return { field: field ?? "ignored", name: name.slice(0, 60) } satisfies Column;
  });
  const has = (...fields: Field[]) => columns.some(({ field }) => fields.includes(field));
  const dayName = Object.entries(known).find(([, field]) => field === "day")?.[0] ?? "";
  if (!has("day")) throw wrong({ line: 1, column: dayName }, "this column is missing");
  if (!has("model", "endpoint")) throw wrong({ line: 1, column: "model" }, "this column is missing");
  if (!has("inputWhole", "inputFresh", "outputTokens", "costMicroUsd"))
    throw wrong({ line: 1, column: "cost_usd" }, "there is no column of tokens or cost");
  return columns;
}

/** @throws WeirError 400 */
export function lineOf(columns: readonly Column[], cells: readonly unknown[], line: number): BillLine {
  const made: { -readonly [K in keyof BillLine]: BillLine[K] } = {
    day: "",
    endpoint: "",
    model: "",
    ...NOTHING,
  };
  let isFresh = false;
  columns.forEach(({ field, name }, i) => {
    const cell = cells[i];
    const place: Place = { line, column: name };
    if (field === "day") made.day = dayOf(cell, place);
    if (field === "ignored" || field === "day" || cell === "" || cell === undefined || cell === null) return;
    if (field === "model" || field === "endpoint") made[field] = nameOf(cell, place);
    else if (field === "costMicroUsd") made.costMicroUsd = microOf(cell, place);
    else if (field === "costCents") made.costMicroUsd = microOf(cell, place, 10_000);
    else {
      isFresh ||= field === "inputFresh";
      const to = field === "inputFresh" || field === "inputWhole" ? "inputTokens" : field;
      made[to] = (made[to] ?? 0) + countOf(cell, place);
    }
  });
  if (isFresh)
    made.inputTokens = (made.inputTokens ?? 0) + (made.cacheReadTokens ?? 0) + (made.cacheWriteTokens ?? 0);
  return made;
}

const isUsd = (currency: unknown): boolean =>
  typeof currency === "string" && currency.toLowerCase() === "usd";

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Members of one result of a JSON export, as columns and cells. */
type Reading = (bucket: Json, result: Json) => readonly (readonly [Field, string, unknown])[];

const readOpenAi: Reading = (bucket, result) => {
  const amount = isObject(result.amount) ? result.amount : undefined;
  // "gpt-5.4-mini-2026-03-01, input" where costs are grouped by line item.
  const item = typeof result.line_item === "string" ? result.line_item.split(", ")[0] : undefined;
  return [
    ["day", "start_time", bucket.start_time],
    ["model", "model", result.model ?? item],
    ["requests", "num_model_requests", result.num_model_requests],
    ["inputWhole", "input_tokens", result.input_tokens],
    ["outputTokens", "output_tokens", result.output_tokens],
    ["cacheReadTokens", "input_cached_tokens", result.input_cached_tokens],
    ["costMicroUsd", "amount.value", amount?.value],
  ];
};

const readAnthropic: Reading = (bucket, result) => {
  const written = isObject(result.cache_creation) ? result.cache_creation : {};
  return [
    ["day", "starting_at", bucket.starting_at],
    ["model", "model", result.model],
    ["inputFresh", "uncached_input_tokens", result.uncached_input_tokens],
    ["outputTokens", "output_tokens", result.output_tokens],
    ["cacheReadTokens", "cache_read_input_tokens", result.cache_read_input_tokens],
    ["cacheWriteTokens", "cache_creation.ephemeral_5m_input_tokens", written.ephemeral_5m_input_tokens],
    ["cacheWriteTokens", "cache_creation.ephemeral_1h_input_tokens", written.ephemeral_1h_input_tokens],
    ["costCents", "amount", result.amount],
  ];
};

const readPlain: Reading = (_, result) =>
  Object.entries(COLUMNS.plain).map(([name, field]) => [field, name, result[name]] as const);

const READINGS: Readonly<Record<BillFormat, Reading>> = {
  plain: readPlain,
  openai: readOpenAi,
  anthropic: readAnthropic,
};

/** Results of a JSON export one by one: `{data: [{…, results: […]}]}`, or in our own shape a list of lines. @throws WeirError 400 */
export function* jsonLines(format: BillFormat, value: unknown): Generator<BillLine> {
  const buckets = isObject(value) ? value.data : value;
  if (!Array.isArray(buckets)) throw wrong({ line: 1, column: "data" }, "a list is missing");
  if (isObject(value) && value.has_more === true)
    throw wrong(
      { line: 1, column: "has_more" },
      "this is one page of several: join them, or send them one by one",
    );
  let line = 0;
  for (const bucket of buckets) {
    if (!isObject(bucket)) throw wrong({ line: line + 1, column: "data" }, "this is not an object");
    const results = format === "plain" ? [bucket] : bucket.results;
    if (!Array.isArray(results)) throw wrong({ line: line + 1, column: "results" }, "a list is missing");
    for (const result of results) {
      line++;
      if (!isObject(result)) throw wrong({ line, column: "results" }, "this is not an object");
      const unknown =
        format === "plain"
          ? Object.keys(result).find((name) => !Object.hasOwn(COLUMNS.plain, name))
          : undefined;
      if (unknown !== undefined) throw wrong({ line, column: unknown.slice(0, 60) }, "unknown member");
      const currency = isObject(result.amount) ? result.amount.currency : result.currency;
      if (currency !== undefined && !isUsd(currency))
        throw wrong({ line, column: "currency" }, "only USD is compared", currency);
      const members = READINGS[format](bucket, result);
      const columns = members.map(([field, name]) => ({ field, name }));
      yield lineOf(
        columns,
        members.map(([, , cell]) => cell),
        line,
      );
    }
  }
}
