/**
 * Numbers in a request that providers hold to its output limit: budgets of thinking, which count towards the limit, and least answers. They
 * are in members of any format or dialect, and in options for one provider.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { LEAST_BUDGET, MOST_SHARE } from "../claude.ts";
import { laxName } from "../extras/tables.ts";
import type { ClientRequest } from "../format.ts";
import { generationOf } from "../gemini/models.ts";
import { type Member, memberOf, membersOf, utf8Of } from "../json/json.ts";

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
export const BUDGET_PATHS: readonly Path[] = [
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
  paths.flatMap((row) => inBody(request, row));

/** The budgets in a request's body. */
export const budgetsIn = (request: ClientRequest, endpoint: Endpoint): readonly Budget[] =>
  BUDGET_PATHS.flatMap((row) => inBody(request, row).map((stated) => budgetOf(row, stated, endpoint)));

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
  paths.flatMap((row) => inOptions(json, row));

/** The budgets in options for a provider, in any spelling. @param json latin1 */
export const optionBudgets = (json: string, endpoint: Endpoint): readonly Budget[] =>
  BUDGET_PATHS.flatMap((row) => inOptions(json, row).map((stated) => budgetOf(row, stated, endpoint)));

const budgetOf = (row: Path, stated: Stated, endpoint: Endpoint): Budget => ({
  ...stated,
  holder: holderOf(row, stated.path),
  leastTokens: leastOf(row, endpoint),
});

function inBody({ bytes, members }: ClientRequest, path: Path): readonly Stated[] {
  const [first, ...inner] = path;
  const member = memberOf(members, first);
  if (member === undefined || member.valueEnd - member.valueStart > MOST_BYTES) return [];
  const json = bytes.toString("latin1", member.valueStart, member.valueEnd);
  return below(json, member.valueStart, inner, [first], (key, name) => key === name);
}

/** Providers take members in several spellings, such as Google's with underscores. */
const inOptions = (json: string, path: Path): readonly Stated[] =>
  below(json, 0, path, [], (key, name) => laxName(key) === laxName(name));

/**
 * @param json of a value, latin1
 * @param from its offset
 * @param inner the way down from it
 * @param path the way to it
 */
function below(
  json: string,
  from: number,
  inner: readonly string[],
  path: readonly string[],
  isSame: (key: string, name: string) => boolean,
): readonly Stated[] {
  const [name, ...rest] = inner;
  if (name === undefined) {
    const tokens = Number(json);
    const isNumber = Number.isSafeInteger(tokens) && /^\d/.test(json);
    return isNumber ? [{ path: path as unknown as Path, tokens, start: from, end: from + json.length }] : [];
  }
  const under = ({ key, valueStart, valueEnd }: Member) =>
    below(json.slice(valueStart, valueEnd), from + valueStart, rest, [...path, utf8Of(key)], isSame);
  return (membersOf(json) ?? []).filter(({ key }) => isSame(key, name)).flatMap(under);
}
