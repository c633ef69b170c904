/**
 * The table of refusals: which row an upstream's answer is, and so what it means. It holds for all providers alike, because proxies
 * and routers quote the words of others.
 *
 * Messages may quote the caller. What concerns the caller's own request alone is recognised in any sentence, since a caller who
 * feigns it deceives itself only. What the gateway holds against a key or an endpoint (funds, a credential, saturation) is recognised
 * by code, by status, or where the message begins with the provider's words.
 */
import type { UpstreamError } from "../../../wire/neutral/contract.ts";
import { unwrapped } from "../../../wire/neutral/upstream-errors/wrapped.ts";
import { type Numbers, numbersOf } from "./numbers.ts";
import type { Meaning, Refusal } from "./refusal.ts";
import type { Row } from "./row.ts";
import { ANTHROPIC_ROWS } from "./rows/anthropic.ts";
import { BEDROCK_ROWS } from "./rows/bedrock.ts";
import { FIREWALL_ROWS } from "./rows/firewalls.ts";
import { GOOGLE_ROWS } from "./rows/google.ts";
import { HOST_ROWS } from "./rows/hosts.ts";
import { OPENAI_ROWS } from "./rows/openai.ts";
import { ROUTER_ROWS } from "./rows/routers.ts";
import { SERVED_ROWS } from "./rows/served.ts";
import { STATUS_ROWS } from "./rows/statuses.ts";

/** The status of what came within a stream, or with status 200: any row may be meant. */
export const REPORTED = 0;

/** Meanings in the order in which they are looked for: what is about this request before what is about the load. */
const ORDER: readonly Meaning[] = [
  "firewall",
  "tier",
  "quota",
  "output_limit",
  "context_overflow",
  "content_policy",
  "unknown_model",
  "unsupported_parameter",
  "invalid_value",
  "region",
  "credential",
  "overloaded",
  "rate_limit",
];

/** About the caller's request, and held against nothing else. */
export const OF_REQUEST: ReadonlySet<Meaning> = new Set([
  "context_overflow",
  "output_limit",
  "unknown_model",
  "unsupported_parameter",
  "invalid_value",
  "content_policy",
]);

/** Where a sentence begins, or the message of an error within the message. */
const SENTENCE = "(?:^|[.:;>\\n)\\]}-] ?|(?:message|detail|msg|error)\\\\?[\"']: ?\\\\?[\"'])";

/** OpenAI's words come behind those of servers that quote some of them, and before hosts whose words are a part of them. */
const ROWS: readonly Row[] = [
  ...FIREWALL_ROWS,
  ...ANTHROPIC_ROWS,
  ...GOOGLE_ROWS,
  ...BEDROCK_ROWS,
  ...SERVED_ROWS,
  ...ROUTER_ROWS,
  ...OPENAI_ROWS,
  ...HOST_ROWS,
];

const rowsOf = (meaning: Meaning): readonly Row[] => {
  const rows = ROWS.filter((row) => row.meaning === meaning);
  return [
    ...rows.filter(({ codes }) => codes !== undefined),
    ...rows.filter(({ codes }) => codes === undefined),
  ];
};

/** All rows, in the order in which they are tried: a code goes before words. */
export const TABLE: readonly Row[] = [...ORDER.flatMap(rowsOf), ...STATUS_ROWS];

interface Matcher {
  readonly row: Row;
  readonly codes: ReadonlySet<string> | undefined;
  readonly words: RegExp | undefined;
}

const MATCHERS: readonly Matcher[] = TABLE.map((row) => ({
  row,
  codes: row.codes && new Set(row.codes),
  words:
    row.words === undefined
      ? undefined
      : new RegExp(`${OF_REQUEST.has(row.meaning) ? SENTENCE : "^"}(?:${row.words})`, "i"),
}));

/**
 * The refusal that an upstream's answer is.
 * @param status of its head, or {@link REPORTED}
 * @returns undefined where no row matches
 */
export function refusalOf(status: number, upstream: UpstreamError): Refusal | undefined {
  const own = unwrapped(upstream.message);
  for (const { row, codes, words } of MATCHERS) {
    const { statuses, when } = row;
    const isByStatus = (codes ?? words ?? when) === undefined;
    if (statuses !== undefined && !statuses.includes(isByStatus ? status || statusTold(upstream) : status)) {
      if (status !== REPORTED || isByStatus) continue;
    }
    if (codes !== undefined && !codes.has(upstream.code) && !codes.has(upstream.type)) continue;
    if (when !== undefined && !when(upstream.message)) continue;
    const isOfRequest = OF_REQUEST.has(row.meaning);
    // A message about a member of the request may quote it: only rows about requests look for their words in it.
    if (words !== undefined && codes === undefined && !isOfRequest && upstream.param !== undefined) continue;
    const message = isOfRequest ? upstream.message : own;
    const found = words?.exec(message);
    if (words !== undefined && !found) continue;
    return refusal(row, numbersOf(found?.groups ?? {}, upstream.message, upstream));
  }
  return undefined;
}

/** The status that a body of another status, or an event, says itself (OpenRouter, LiteLLM, Zhipu, NVIDIA); 0 where it says none. */
const statusTold = ({ code, type }: UpstreamError): number =>
  Number([code, type].find((word) => /^[45]\d\d$/.test(word)) ?? REPORTED);

function refusal({ id, meaning, codes }: Row, numbers: Numbers): Refusal {
  const { tokens, maximum, answer } = numbers;
  if (meaning === "output_limit") return { row: id, meaning, maximum, answer };
  if (meaning !== "context_overflow") return { row: id, meaning };
  // An answer that would fill the context by itself: a shorter prompt would not help. A provider's code goes before its numbers.
  if (codes === undefined && answer !== undefined && maximum !== undefined && answer >= maximum) {
    return { row: id, meaning: "output_limit", maximum: Math.max(maximum - (tokens ?? 0), 1), answer };
  }
  return { row: id, meaning, ...numbers };
}
