/**
 * What of a request is lowered where an endpoint cannot give as long an answer as is asked for: the output limit, and the numbers that
 * providers hold to it. A budget of thinking must be below the limit (Anthropic API reference, "Create a Message", `thinking`), and a least
 * answer (vLLM's `min_tokens`) not above it.
 */
import { pointerTo } from "../../base/document/document.ts";
import type { Endpoint } from "../../base/endpoint.ts";
import type { ClientRequest } from "../format.ts";
import { append } from "../json/append.ts";
import { applyEdits, type Edit, memberOf, membersOf, moved, removeMembers, utf8Of } from "../json/json.ts";
import type { NeutralRequest } from "../neutral/neutral.ts";
import {
  type Budget,
  budgetsIn,
  LEAST_PATHS,
  mostThinkingIn,
  numbersIn,
  optionBudgets,
  optionNumbers,
  optionsText,
  type Path,
  type Stated,
} from "./budgets.ts";
import { limitEdits } from "./output-limit.ts";
import type { RequestSplice } from "./splice.ts";

/** What an endpoint is told instead of what the request says. */
export interface Told {
  /** The output limit, in tokens. */
  readonly outputLimit: number;
  /** Tokens of thinking at most; absent: as the request says. */
  readonly mostThinking?: number | undefined;
}

/**
 * @param outputLimit that the endpoint is told
 * @param longest the longest answer that it gives, where more is asked for. A limit below that leaves room for the budget by itself
 */
export const toldWithin = (outputLimit: number, longest: number | undefined): Told => ({
  outputLimit,
  mostThinking: longest === undefined ? undefined : mostThinkingIn(longest),
});

/** A number as it is told. */
interface Lowered {
  readonly stated: Stated;
  readonly tokens: number;
}

/** What of a body or of options is told in another way. */
interface Changes {
  readonly lowered: readonly Lowered[];
  /** Paths to what is left out, since no budget is left that the provider takes. */
  readonly gone: readonly Path[];
}

function changesOf(budgets: readonly Budget[], least: readonly Stated[], told: Told): Changes {
  const { outputLimit, mostThinking = Number.POSITIVE_INFINITY } = told;
  const above = budgets.filter(({ tokens }) => tokens > mostThinking);
  const isTaken = ({ leastTokens }: Budget) => mostThinking >= leastTokens;
  return {
    lowered: [
      ...above.filter(isTaken).map((stated) => ({ stated, tokens: mostThinking })),
      ...least
        .filter(({ tokens }) => tokens > outputLimit)
        .map((stated) => ({ stated, tokens: outputLimit })),
    ],
    gone: above.filter((budget) => !isTaken(budget)).map(({ holder }) => holder),
  };
}

/** What is told in another way of a request's body. */
export const bodyChanges = (request: ClientRequest, endpoint: Endpoint, told: Told): Changes =>
  changesOf(budgetsIn(request, endpoint), numbersIn(request, LEAST_PATHS), told);

/** What is told in another way of options for a provider. @param json latin1 */
export const optionChanges = (json: string, endpoint: Endpoint, told: Told): Changes =>
  changesOf(optionBudgets(json, endpoint), optionNumbers(json, LEAST_PATHS), told);

/** The request as the endpoint is told it. The writers of bodies make the rest of it. */
export function lowered(request: ClientRequest, endpoint: Endpoint, told: Told): ClientRequest {
  const options = optionsText(request, endpoint);
  if (options === "") return { ...request, ...told };
  const { svc } = request;
  const text = utf8Of(changed(options, optionChanges(options, endpoint, told)));
  const providerOptions = { ...svc.providerOptions, [endpoint.provider.id]: text };
  return { ...request, ...told, svc: { ...svc, providerOptions } };
}

const changed = (json: string, { lowered, gone }: Changes): string =>
  applyEdits(json, [...lowered.map(edited), ...removals(json, gone)]);

const edited = ({ stated: { start, end }, tokens }: Lowered): Edit => ({ start, end, text: String(tokens) });

/**
 * The edits that take members out of an object, by their paths. All that are in one object go at once: a client may write one name in many
 * ways.
 */
function removals(json: string, paths: readonly (readonly string[])[]): readonly Edit[] {
  if (paths.length === 0) return [];
  const members = membersOf(json) ?? [];
  const inner = Map.groupBy(paths, ([name]) => name);
  const gone: string[] = [];
  const edits: Edit[] = [];
  for (const { key, valueStart, valueEnd } of members) {
    const within = inner.get(utf8Of(key))?.map((path) => path.slice(1)) ?? [];
    if (within.some((path) => path.length === 0)) gone.push(key);
    else append(edits, moved(removals(json.slice(valueStart, valueEnd), within), valueStart));
  }
  return [...edits, ...removeMembers(members, gone)];
}

/**
 * Makes a splice say the gateway's limit, where the request has one, and the numbers that are held to it.
 * @param names as of `limitEdits`
 */
export function limitSplice(
  request: ClientRequest,
  endpoint: Endpoint,
  names: readonly [string, ...string[]],
  splice: RequestSplice,
): void {
  const { outputLimit, mostThinking } = request;
  if (outputLimit === undefined) return;
  const { edits, remove, dropped } = splice;
  const { lowered, gone } = bodyChanges(request, endpoint, { outputLimit, mostThinking });
  // What an option or a quirk says in a member stays.
  const isFree = ({ start, end }: Edit) => !edits.some((other) => other.start < end && start < other.end);
  const held = lowered.map(edited).filter(isFree);
  const left = gone.filter(([name]) => !isReplacedWhole(request, name, edits));
  append(edits, [...limitEdits(request, names, edits), ...held]);
  for (const [name, paths] of Map.groupBy(left, ([first]) => first)) {
    const inner = paths.map((path) => path.slice(1));
    if (inner.some(({ length }) => length === 0)) remove.push(name);
    else append(edits, removalsIn(request, name, inner));
  }
  append(dropped, left.map(pointerTo));
}

/** The same within a member of a body. */
function removalsIn(
  { bytes, members }: ClientRequest,
  name: string,
  paths: readonly (readonly string[])[],
): Edit[] {
  const member = memberOf(members, name);
  if (member === undefined) return [];
  const { valueStart, valueEnd } = member;
  return moved(removals(bytes.toString("latin1", valueStart, valueEnd), paths), valueStart);
}

const isReplacedWhole = ({ members }: ClientRequest, name: string, edits: readonly Edit[]): boolean =>
  members.some(
    ({ key, valueStart, valueEnd }) =>
      key === name && edits.some(({ start, end }) => start === valueStart && end === valueEnd),
  );

/** A translated request with the gateway's limit, where it has one. */
export function limited(
  neutral: NeutralRequest,
  { outputLimit, mostThinking }: ClientRequest,
): NeutralRequest {
  if (outputLimit === undefined) return neutral;
  const { maxTokens, reasoning } = neutral.options;
  const { at = "/max_tokens" } = maxTokens ?? {};
  const options = { ...neutral.options, maxTokens: { value: outputLimit, at } };
  if (reasoning === undefined || mostThinking === undefined) return { ...neutral, options };
  const { budgetTokens } = reasoning.value;
  const value = {
    ...reasoning.value,
    mostTokens: mostThinking,
    ...(budgetTokens !== undefined && { budgetTokens: Math.min(budgetTokens, mostThinking) }),
  };
  return { ...neutral, options: { ...options, reasoning: { ...reasoning, value } } };
}
