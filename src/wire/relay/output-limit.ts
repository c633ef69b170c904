/**
 * The output limit that the gateway sends instead of what the body says: the one bound of a caller's that it tightens, where the caller
 * asked for it (`hold: fit`), or the endpoint gives no such long answers.
 */
import type { Dialect, Endpoint } from "../../base/endpoint.ts";
import { jsonIn } from "../../base/json.ts";
import { leastLimitFor, takesEffort } from "../claude.ts";
import { familyOf } from "../converse/models.ts";
import type { ClientRequest } from "../format.ts";
import { generationOf } from "../gemini/models.ts";
import { type Edit, type Member, memberOf } from "../json/json.ts";
import { isEffort, USUAL_EFFORT } from "../neutral/effort.ts";
import type { Effort } from "../neutral/neutral.ts";
import { objectOf } from "../neutral/reader.ts";
import {
  budgetsIn,
  LEAST_PATHS,
  MOST_BYTES,
  numbersIn,
  optionBudgets,
  optionNumbers,
  optionsText,
  type Path,
} from "./budgets.ts";

/** The members of each dialect's body that hold its limit. */
const LIMIT_MEMBERS: Readonly<Partial<Record<Dialect, readonly string[]>>> = {
  chat: ["max_completion_tokens", "max_tokens"],
  messages: ["max_tokens"],
  responses: ["max_output_tokens"],
  gemini: ["generationConfig"],
  converse: ["inferenceConfig"],
  completions: ["max_tokens"],
};

/** Whether an endpoint can be told a limit: a quirk of its provider may take the member out, set it, or give it another name. */
export function takesLimit({ provider }: Endpoint, dialect: Dialect): boolean {
  const members = LIMIT_MEMBERS[dialect];
  if (members === undefined) return false;
  const quirks = provider.quirks.bodies?.[dialect];
  if (quirks === undefined) return true;
  const { rename, unsupported, omit, set } = quirks;
  const touched = [...Object.keys(rename), ...unsupported, ...omit, ...Object.keys(set)];
  return !members.some((name) => touched.includes(name));
}

/**
 * The edits by which a body of the client's own dialect says the request's `outputLimit`; none where it has none.
 * @param names of the members in which the dialect takes it. The first is used where the client set none
 * @param others that are made in the body: where a quirk or an option sets the member, that stays
 */
export function limitEdits(
  { bytes, members, outputLimit }: ClientRequest,
  names: readonly [string, ...string[]],
  others: readonly Edit[],
): Edit[] {
  if (outputLimit === undefined) return [];
  const text = String(outputLimit);
  const given = names.flatMap((name) => memberOf(members, name) ?? []);
  const jsonOf = ({ valueStart, valueEnd }: Member) => bytes.toString("latin1", valueStart, valueEnd);
  const larger = given.filter((member) => Number(jsonOf(member)) > outputLimit);
  const set = given.some((member) => jsonOf(member) !== "null");
  if (set)
    return larger
      .map(({ valueStart, valueEnd }) => ({ start: valueStart, end: valueEnd, text }))
      .filter(({ start }) => !others.some((other) => other.start === start));
  const [name] = names;
  const empty = memberOf(members, name);
  if (empty !== undefined) return [{ start: empty.valueStart, end: empty.valueEnd, text }];
  // At the very front: there it stands beside no comma that a removal may take.
  const { start } = members[0] as Member;
  return [{ start, end: start, text: `"${name}":${text},` }];
}

/**
 * Tokens that a request lets an endpoint think at most, where it says so, in its body or in its options for the provider; else 0.
 * Such tokens count towards the output limit.
 * @param mostThinking that the endpoint is told; absent: as the request says
 */
export function thinkingBudget(
  request: ClientRequest,
  endpoint: Endpoint,
  mostThinking = Number.POSITIVE_INFINITY,
): number {
  const options = optionsText(request, endpoint);
  const budgets = [...budgetsIn(request, endpoint), ...optionBudgets(options, endpoint)];
  // One for which too little is left is not sent.
  const told = budgets.map(({ tokens, leastTokens }) =>
    tokens > mostThinking && mostThinking < leastTokens ? 0 : Math.min(tokens, mostThinking),
  );
  return Math.max(0, ...told);
}

/**
 * The least output limit, in tokens, that an endpoint may be told: it leaves so many for the answer beside thinking, also where the
 * gateway makes a budget of an effort.
 * @param mostThinking as of {@link thinkingBudget}
 */
export function leastLimit(
  request: ClientRequest,
  endpoint: Endpoint,
  { dialect, isSplice }: { readonly dialect: Dialect; readonly isSplice: boolean },
  answerTokens: number,
  mostThinking = Number.POSITIVE_INFINITY,
): number {
  const budget = thinkingBudget(request, endpoint, mostThinking);
  // What speaks the client's dialect is sent the effort itself.
  const effort = budget > 0 || isSplice ? undefined : effortOf(request);
  const least =
    effort === undefined
      ? answerTokens + budget
      : roomFor(effort, endpoint, dialect, answerTokens, mostThinking);
  return Math.max(least, leastAnswer(request, endpoint));
}

/** The least answer that a request asks for, in tokens; 0 where it asks for none. */
function leastAnswer(request: ClientRequest, endpoint: Endpoint): number {
  const options = optionNumbers(optionsText(request, endpoint), LEAST_PATHS);
  const stated = numbersIn(request, LEAST_PATHS).concat(options);
  return stated.reduce((most, { tokens }) => Math.max(most, tokens), 0);
}

function roomFor(
  effort: Exclude<Effort, "none">,
  { upstreamModel, capabilities }: Endpoint,
  dialect: Dialect,
  answerTokens: number,
  mostThinking: number,
): number {
  if (!capabilities.reasoning) return answerTokens;
  if (dialect === "gemini") {
    const amount = generationOf(upstreamModel).efforts[effort];
    return answerTokens + (typeof amount === "number" ? Math.min(amount, mostThinking) : 0);
  }
  const isClaude =
    dialect === "messages" || (dialect === "converse" && familyOf(upstreamModel) === "anthropic");
  return isClaude && !takesEffort(upstreamModel) ? leastLimitFor(effort, answerTokens) : answerTokens;
}

/** Members that hold the effort of thinking, in any format of clients. */
const EFFORT_PATHS: readonly Path[] = [
  ["reasoning", "effort"],
  ["reasoning_effort"],
  ["output_config", "effort"],
  ["generation", "reasoning", "effort"],
];

/** Undefined where it asks for no thinking, or says nothing of it. */
function effortOf(request: ClientRequest): Exclude<Effort, "none"> | undefined {
  const body = effortMembers(request);
  const isSwitchedOn = valueAt(body, ["reasoning", "enabled"]);
  const effort = EFFORT_PATHS.map((path) => valueAt(body, path)).find(isEffort);
  if (effort === "none" || isSwitchedOn === false) return undefined;
  return effort ?? (isSwitchedOn === true ? USUAL_EFFORT : undefined);
}

/** The members of a request's body that may hold an effort. */
function effortMembers({ bytes, members }: ClientRequest): object {
  const isSeen = (key: string) => EFFORT_PATHS.some(([first]) => first === key);
  return Object.fromEntries(
    members
      .filter(({ key, valueStart, valueEnd }) => isSeen(key) && valueEnd - valueStart <= MOST_BYTES)
      .map(({ key, valueStart, valueEnd }) => [key, jsonIn(bytes.toString("latin1", valueStart, valueEnd))]),
  );
}

function valueAt(body: object, path: readonly string[]): unknown {
  let at: unknown = body;
  for (const name of path) at = objectOf(at)[name];
  return at;
}
