/**
 * What of a request is lowered where an endpoint cannot give as long an answer as is asked for: the output limit, and the numbers that
 * providers hold to it. A budget of thinking must be below the limit (Anthropic API reference, "Create a Message", `thinking`), and a least
 * answer (vLLM's `min_tokens`) not above it.
 */
import { pointerTo } from "../../base/document/document.ts";
import type { ClientRequest, FormatName } from "../format.ts";
import { type Edit, type Member, memberOf, membersOf } from "../json/json.ts";
import type { NeutralRequest } from "../neutral/neutral.ts";
import { BUDGET_PATHS, LEAST_PATHS, limitEdits, MOST_BYTES, type Path } from "./output-limit.ts";

/** Members of each format's body that hold its limit. */
const LIMIT_PATHS: Readonly<Partial<Record<FormatName, readonly Path[]>>> = {
  chat: [["max_tokens"], ["max_completion_tokens"]],
  completions: [["max_tokens"]],
  responses: [["max_output_tokens"]],
  messages: [["max_tokens"]],
  generate: [["generation", "max_tokens"]],
};

/** The share of a lowered limit that is left for the answer where a budget of thinking would take all. */
const LEAST_ANSWER_SHARE = 0.2;

/** JSON pointer to the member that holds the request's limit, the largest if there are several. */
export function limitPointer(format: FormatName, request: ClientRequest): string {
  const stated = numbersIn(request, LIMIT_PATHS[format] ?? []).toSorted((a, b) => b.tokens - a.tokens);
  return pointerTo(stated[0]?.path ?? ["max_tokens"]);
}

/** What a request states above a limit, by JSON pointer, each with the tokens that are told instead. */
function loweredAt(
  format: FormatName,
  request: ClientRequest,
  limit: number,
): readonly { readonly at: string; readonly tokens: number }[] {
  const limits = numbersIn(request, LIMIT_PATHS[format] ?? []).filter(({ tokens }) => tokens > limit);
  const lowered = limits.map(({ path }) => ({ path, tokens: limit }));
  return [...lowered, ...heldTo(request, limit)].map(({ path, tokens }) => ({ at: pointerTo(path), tokens }));
}

/** As warnings name them. @param dropped pointers to members that were left out */
export const limitWarnings = (
  format: FormatName,
  request: ClientRequest,
  limit: number,
  dropped: readonly string[] = [],
): readonly string[] =>
  loweredAt(format, request, limit)
    .filter(({ at }) => !dropped.some((pointer) => at === pointer || at.startsWith(`${pointer}/`)))
    .map(({ at, tokens }) => `lowered: ${at} to ${tokens}`);

/**
 * The edits of a body that passes as bytes, for the gateway's limit and the numbers that are held to it; none where the request has no such
 * limit.
 * @param names as of `limitEdits`
 * @param others that are made in the body: they stay
 */
export function limitedEdits(
  request: ClientRequest,
  names: readonly [string, ...string[]],
  others: readonly Edit[],
): Edit[] {
  const { outputLimit } = request;
  if (outputLimit === undefined) return [];
  const held = heldTo(request, outputLimit)
    .filter(({ start, end }) => !others.some((other) => other.start < end && start < other.end))
    .map(({ start, end, tokens }) => ({ start, end, text: String(tokens) }));
  return [...limitEdits(request, names, others), ...held];
}

/** Whether the gateway's limit leaves Claude's thinking a budget that is smaller than the provider takes. */
export const isThinkingCrowdedOut = (request: ClientRequest, leastTokens: number): boolean =>
  heldTo(request, request.outputLimit ?? Number.POSITIVE_INFINITY).some(
    ({ path: [first], tokens }) => first === "thinking" && tokens < leastTokens,
  );

/** A translated request with the gateway's limit, where it has one. */
export function limited(neutral: NeutralRequest, { outputLimit, facts }: ClientRequest): NeutralRequest {
  if (outputLimit === undefined) return neutral;
  const { maxTokens, reasoning } = neutral.options;
  const { at = "/max_tokens" } = maxTokens ?? {};
  const options = { ...neutral.options, maxTokens: { value: outputLimit, at } };
  const budgetTokens = reasoning?.value.budgetTokens;
  if (reasoning === undefined || budgetTokens === undefined || budgetTokens < outputLimit)
    return { ...neutral, options };
  const value = {
    ...reasoning.value,
    budgetTokens: loweredBudget(budgetTokens, outputLimit, facts.maxTokens),
  };
  return { ...neutral, options: { ...options, reasoning: { ...reasoning, value } } };
}

/** A number of a body. */
interface Stated {
  readonly path: Path;
  readonly tokens: number;
  readonly start: number;
  readonly end: number;
}

/** The numbers that a limit makes lower, as they are told. */
function heldTo(request: ClientRequest, limit: number): readonly Stated[] {
  const { maxTokens } = request.facts;
  const budgets = numbersIn(request, BUDGET_PATHS)
    .filter(({ tokens }) => tokens >= limit)
    .map((stated) => ({ ...stated, tokens: loweredBudget(stated.tokens, limit, maxTokens) }));
  const least = numbersIn(request, LEAST_PATHS).filter(({ tokens }) => tokens > limit);
  return [...budgets, ...least.map((stated) => ({ ...stated, tokens: limit }))];
}

/**
 * As many tokens are left for the answer as the caller left, but no more than a share of the limit, which thinking needs too.
 * @param budget at least the limit
 */
function loweredBudget(budget: number, limit: number, maxTokens: number | undefined): number {
  const left = (maxTokens ?? budget) - budget;
  return limit - Math.max(1, Math.min(left, Math.ceil(limit * LEAST_ANSWER_SHARE)));
}

const numbersIn = (request: ClientRequest, paths: readonly Path[]): Stated[] =>
  paths.flatMap((path) => numberAt(request, path) ?? []);

function numberAt({ bytes, members }: ClientRequest, path: Path): Stated | undefined {
  const [first, ...inner] = path;
  let member = memberOf(members, first);
  if (member === undefined || member.valueEnd - member.valueStart > MOST_BYTES) return undefined;
  let from = 0;
  const text = ({ valueStart, valueEnd }: Member) =>
    bytes.toString("latin1", from + valueStart, from + valueEnd);
  for (const name of inner) {
    const within: Member | undefined = memberOf(membersOf(text(member)) ?? [], name);
    if (within === undefined) return undefined;
    from += member.valueStart;
    member = within;
  }
  const tokens = Number(text(member));
  if (!Number.isSafeInteger(tokens)) return undefined;
  return { path, tokens, start: from + member.valueStart, end: from + member.valueEnd };
}
