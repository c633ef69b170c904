/**
 * Numbers in a request that providers hold to its output limit: budgets of thinking, which count towards the limit, and least answers. They
 * are in members of any format or dialect, and in options for one provider.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { LEAST_BUDGET, MOST_SHARE } from "../claude.ts";
import { laxName } from "../extras/tables.ts";
import type { ClientRequest } from "../format.ts";
import { generationOf } from "../gemini/models.ts";
import { type Member, membersOf, utf8Of } from "../json/json.ts";

/** The way from a body down to a value. */
export type Path = readonly [string, ...string[]];

/** The least answer, in tokens: servers of open models take it, and above the output limit refuse it. */
export const LEAST_PATHS: readonly Path[] = [["min_tokens"]];

/** Budgets that Anthropic takes, in an object that is refused without one. */
const CLAUDES: readonly Path[] = [
  ["thinking", "budget_tokens"],
  ["additionalModelRequestFields", "thinking", "budget_tokens"],
  ["additionalModelRequestFields", "reasoning_config", "budget_tokens"],
];

/** Budgets that Google takes, also from clients that speak chat (https://ai.google.dev/gemini-api/docs/openai#thinking). */
const GEMINIS: readonly Path[] = [
  ["generationConfig", "thinkingConfig", "thinkingBudget"],
  ["extra_body", "google", "thinking_config", "thinking_budget"],
];

/**
 * Members that may hold a budget of thinking, down to the number. The last are those of vLLM (vllm-project/vllm#46727) and llama.cpp
 * (ggml-org/llama.cpp#23673).
 */
const BUDGET_PATHS: readonly Path[] = [
  ...CLAUDES,
  ...GEMINIS,
  ["reasoning", "max_tokens"],
  ["reasoning", "budget_tokens"],
  ["generation", "reasoning", "budget_tokens"],
  ["thinking_budget"],
  ["thinking_token_budget"],
  ["thinking_budget_tokens"],
];

/**
 * Tokens of thinking, at most, within an output limit that was lowered: what the request left for its answer was a part of a longer limit.
 * The share is that of budgets which are made of an effort.
 */
export const mostThinkingIn = (limit: number): number => Math.floor(limit * MOST_SHARE);

/** A number that a request states. */
export interface Stated {
  /** As it is spelled there. */
  readonly path: Path;
  readonly tokens: number;
  /** Offsets of the number. */
  readonly start: number;
  readonly end: number;
}

/** A budget. */
export interface Budget extends Stated {
  /** The object that goes where the budget cannot be told. */
  readonly holder: Path;
  /** No smaller one is taken. */
  readonly leastTokens: number;
}

/** The path without the object that needs a budget: what is left out with it. */
const holderOf = (row: Path, path: Path): Path =>
  CLAUDES.includes(row) ? (path.slice(0, -1) as unknown as Path) : path;

function leastOf(row: Path, { upstreamModel }: Pick<Endpoint, "upstreamModel">): number {
  if (CLAUDES.includes(row)) return LEAST_BUDGET;
  return GEMINIS.includes(row) ? generationOf(upstreamModel).leastBudget : 0;
}

/** A larger member is not looked through for a number of a few bytes. */
export const MOST_BYTES = 64 * 1024;

/** The numbers at these paths of a request's body. */
export const numbersIn = (request: ClientRequest, paths: readonly Path[]): readonly Stated[] =>
  inBody(request, paths).map(({ stated }) => stated);

/** The budgets in a request's body. */
export const budgetsIn = (request: ClientRequest, endpoint: Endpoint): readonly Budget[] =>
  inBody(request, BUDGET_PATHS).map((found) => budgetOf(found, endpoint));

/** A request's options for an endpoint's provider, as latin1; empty where there are none. */
export function optionsText(
  { svc: { providerOptions } }: ClientRequest,
  { provider }: Pick<Endpoint, "provider">,
): string {
  if (!Object.hasOwn(providerOptions, provider.id)) return "";
  return Buffer.from(providerOptions[provider.id] as string).toString("latin1");
}

/** The numbers at these paths of options for a provider, in any spelling. @param json latin1 */
export const optionNumbers = (json: string, paths: readonly Path[]): readonly Stated[] =>
  inOptions(json, paths).map(({ stated }) => stated);

/** The budgets in options for a provider, in any spelling. @param json latin1 */
export const optionBudgets = (json: string, endpoint: Endpoint): readonly Budget[] =>
  inOptions(json, BUDGET_PATHS).map((found) => budgetOf(found, endpoint));

/** A number, and the row of the paths that it was found by. */
interface Found {
  readonly row: Path;
  readonly stated: Stated;
}

const budgetOf = ({ row, stated }: Found, endpoint: Endpoint): Budget => ({
  ...stated,
  holder: holderOf(row, stated.path),
  leastTokens: leastOf(row, endpoint),
});

/** How names are compared. */
type NameOf = (name: string) => string;

const exactly: NameOf = (name) => name;

function inBody({ bytes, members }: ClientRequest, paths: readonly Path[]): readonly Found[] {
  const ways = paths.map((row) => ({ row, inner: row }));
  const textOf = ({ valueStart, valueEnd }: Member) => bytes.toString("latin1", valueStart, valueEnd);
  const small = members.filter(({ valueStart, valueEnd }) => valueEnd - valueStart <= MOST_BYTES);
  return within(small, textOf, 0, ways, [], exactly);
}

/** Providers take members in several spellings, such as Google's with underscores. */
function inOptions(json: string, paths: readonly Path[]): readonly Found[] {
  const ways = paths.map((row) => ({ row, inner: row }));
  return below(json, 0, ways, [], laxName);
}

/** A row of paths, and what of it is left to go. */
interface Way {
  readonly row: Path;
  readonly inner: readonly string[];
}

/**
 * Each text is gone through once, whatever the number of paths.
 * @param json of a value, latin1
 * @param from its offset
 * @param path the way to it
 */
function below(
  json: string,
  from: number,
  ways: readonly Way[],
  path: readonly string[],
  nameOf: NameOf,
): readonly Found[] {
  const ended = ways.find(({ inner }) => inner.length === 0);
  const found = ended === undefined ? [] : numberAt(json, from, ended.row, path);
  const further = ways.filter(({ inner }) => inner.length > 0);
  if (further.length === 0) return found;
  const textOf = ({ valueStart, valueEnd }: Member) => json.slice(valueStart, valueEnd);
  return [...found, ...within(membersOf(json) ?? [], textOf, from, further, path, nameOf)];
}

/** @param ways none of which has ended */
function within(
  members: readonly Member[],
  textOf: (member: Member) => string,
  from: number,
  ways: readonly Way[],
  path: readonly string[],
  nameOf: NameOf,
): readonly Found[] {
  const byName = Map.groupBy(ways, ({ inner }) => nameOf(inner[0] as string));
  return members.flatMap((member) => {
    const next = byName.get(nameOf(member.key));
    if (next === undefined) return [];
    const rest = next.map(({ row, inner }) => ({ row, inner: inner.slice(1) }));
    return below(textOf(member), from + member.valueStart, rest, [...path, utf8Of(member.key)], nameOf);
  });
}

function numberAt(json: string, from: number, row: Path, path: readonly string[]): readonly Found[] {
  const tokens = Number(json);
  if (!Number.isSafeInteger(tokens) || !/^\d/.test(json)) return [];
  return [{ row, stated: { path: path as unknown as Path, tokens, start: from, end: from + json.length } }];
}
